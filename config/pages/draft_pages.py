"""The pages of a person's drafts: all of them, one to read and copy, and forgetting it."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from config.pages.drafts import kept_drafts, places_of
from teams.drafts import Draft, draft_discard, drafts_of
from teams.views.asking import asking


def draft_list(request: HttpRequest) -> HttpResponse:
    """All drafts of the person."""
    principal = asking(request)
    return render(request, "pages/draft_list.html", {"drafts": kept_drafts(principal, drafts_of(principal.id))})


def draft_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """One draft as it was written, whatever became of its text."""
    draft = _own(request, id_)
    place = places_of(asking(request), [draft.about]).get(draft.about)
    return render(request, "pages/draft.html", {"draft": draft, "place": place})


@require_POST
def draft_forget(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Forget a draft, unless its author went on writing since the page was shown."""
    draft = _own(request, id_)
    if request.POST.get("revision") != str(draft.revision):
        messages.warning(
            request, _("You went on writing since. This is the draft as it is now; nothing was forgotten.")
        )
        return redirect("draft_page", id_=id_)
    draft_discard(person_id=draft.person_id, about=draft.about)
    messages.success(request, _("The draft is forgotten. What was published stays as it is."))
    return redirect("home")


def _own(request: HttpRequest, id_: UUID) -> Draft:
    return get_object_or_404(Draft, pk=id_, person_id=asking(request).id)
