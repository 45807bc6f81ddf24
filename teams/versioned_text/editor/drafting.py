"""Drafts in the editor: kept while they are written, discarded, and brought back."""

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from teams.forms import DraftForm
from teams.versioned_text.drafts import (
    Draft,
    StaleDraft,
    draft_bring_back,
    draft_discard,
    draft_drop,
    text_aside_forget,
)
from teams.versioned_text.editor.conflict import two_windows
from teams.versioned_text.editor.editor_session import Desk
from teams.versioned_text.editor.writing import news, refused
from teams.views.confirmation import Confirmation, confirmation_page


def keep(desk: Desk) -> HttpResponse:
    """Keep the text as the person's draft; one that says what is published anyway is none."""
    form = desk.form()
    if not form.is_valid():
        return _not_kept(desk, form)
    try:
        draft = _kept(desk, form)
    except StaleDraft as stale:
        return _gone_on(desk, form, stale)
    if desk.by_script:
        return JsonResponse({"revision": draft.revision if draft else 0, "kept": draft is not None, **news(desk)})
    if draft:
        messages.success(desk.request, _("Draft saved. Nobody else sees it yet."))
    else:
        messages.info(desk.request, _("Nothing differs from what is published, so there is no draft."))
    return redirect(desk.address)


def discard(desk: Desk) -> HttpResponse:
    """Forget the draft; what it said is offered back beside the editor."""
    form = desk.form()
    written = form.cleaned_data["content"] if form.is_valid() else ""
    draft_discard(person_id=desk.person, about=desk.about, content=written)
    messages.success(desk.request, _("The draft is discarded. You can bring it back below."))
    return redirect(desk.address)


def bring_back(desk: Desk) -> HttpResponse:
    """Make a draft of the text that was set aside; the draft there is takes its place."""
    if draft_bring_back(person_id=desk.person, about=desk.about):
        messages.success(desk.request, _("Your text is back as your draft."))
    return redirect(desk.address)


def ask_forget(desk: Desk) -> HttpResponse:
    """Ask before the text that was set aside is thrown away."""
    confirmation = Confirmation(
        question=_("Throw away the text that was set aside?"),
        consequences=[_("Your draft, if you have one, and what is published stay as they are.")],
        button=_("Throw it away"),
        back=f"{desk.address}#aside",
        crumbs=desk.document.crumbs,
        hidden={"deed": "forget"},
        address=desk.address,
    )
    return confirmation_page(desk.request, confirmation)


def forget(desk: Desk) -> HttpResponse:
    """Throw away the text that was set aside."""
    text_aside_forget(person_id=desk.person, about=desk.about)
    messages.success(desk.request, _("The text is thrown away."))
    return redirect(desk.address)


def _kept(desk: Desk, form: DraftForm) -> Draft | None:
    if not desk.says_what_is_published(form):
        return desk.stored(form)
    draft_drop(person_id=desk.person, about=desk.about, expected_revision=form.cleaned_data["revision"])
    return None


def _not_kept(desk: Desk, form: DraftForm) -> HttpResponse:
    if not desk.by_script:
        return refused(desk, form)
    code = "other_person" if form.has_error("person") else "invalid"
    reasons = [str(reason) for errors in form.errors.values() for reason in errors]
    return JsonResponse({"code": code, "detail": " ".join(reasons)}, status=422)


def _gone_on(desk: Desk, form: DraftForm, stale: StaleDraft) -> HttpResponse:
    if not desk.by_script:
        return two_windows(desk, form, stale)
    current = stale.current
    # Without a draft, the last word is what is published: the other window published or discarded it.
    text, based_on = (current.content, current.based_on) if current else (desk.document.file.content, desk.published)
    revision = current.revision if current else 0
    told = {"code": stale.code, "revision": revision, "content": text, "based_on": based_on}
    return JsonResponse({**told, **news(desk)}, status=stale.status)
