"""The pages of a person's drafts: all of them, one to read and copy, and forgetting it."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from config.http.errors import NotFound
from config.pages.drafts import kept_drafts, places_of, unreadable_texts
from teams.drafts import Draft, draft_discard
from teams.views.asking import asking
from teams.views.confirmation import Confirmation, confirmation_page
from teams.views.document import Crumb


def draft_list(request: HttpRequest) -> HttpResponse:
    """All drafts of the person."""
    principal = asking(request)
    return render(request, "pages/draft_list.html", {"drafts": kept_drafts(principal)})


def draft_page(request: HttpRequest, id_: UUID) -> HttpResponse:
    """One draft as it was written, also where its text is gone or may not be edited any more."""
    draft = _own(request, id_)
    place = places_of(asking(request), [draft.about]).get(draft.about)
    return render(request, "pages/draft.html", {"draft": draft, "place": place})


@require_http_methods(["GET", "HEAD", "POST"])
def draft_forget(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Ask whether a draft shall go, and forget it, unless its author went on writing since the page was shown."""
    draft = _own(request, id_)
    if request.method != "POST":
        return confirmation_page(
            request,
            Confirmation(
                question=_("Forget this draft?"),
                consequences=[
                    ngettext(
                        "Your %(n)s character goes. What was published stays as it is.",
                        "Your %(n)s characters go. What was published stays as it is.",
                        len(draft.content),
                    )
                    % {"n": f"{len(draft.content):,}"}
                ],
                button=_("Forget the draft"),
                back=reverse("draft_page", args=[id_]),
                crumbs=[Crumb(_("Your drafts"), reverse("draft_list"))],
                hidden={"revision": str(draft.revision)},
            ),
        )
    if request.POST.get("revision") != str(draft.revision):
        messages.warning(
            request, _("You went on writing since. This is the draft as it is now; nothing was forgotten.")
        )
        return redirect("draft_page", id_=id_)
    draft_discard(person_id=draft.person_id, about=draft.about)
    messages.success(request, _("The draft is forgotten. What was published stays as it is."))
    return redirect("home")


def _own(request: HttpRequest, id_: UUID) -> Draft:
    """The person's draft; 404 for one of a text that they may not read any more."""
    principal = asking(request)
    draft = get_object_or_404(Draft, pk=id_, person_id=principal.id)
    if unreadable_texts(principal, [draft.about]):
        raise NotFound("This draft")
    return draft
