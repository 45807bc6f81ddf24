"""The editor saves, discards and restores drafts."""

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from teams.forms import DraftForm
from teams.versioned_text.drafts import (
    Draft,
    StaleDraft,
    discarded_text_delete,
    draft_delete,
    draft_discard,
    draft_restore,
)
from teams.versioned_text.editor.conflict import show_draft_conflict
from teams.versioned_text.editor.editor_session import EditorSession
from teams.versioned_text.editor.writing import editor_updates, show_errors
from teams.views.confirmation import Confirmation, confirmation_page


def save_draft(editor: EditorSession) -> HttpResponse:
    """Save the text as the person's draft; a text that equals the published one is not stored."""
    form = editor.form()
    if not form.is_valid():
        return _refuse(editor, form)
    try:
        draft = _save(editor, form)
    except StaleDraft as stale:
        return _refuse_stale(editor, form, stale)
    if editor.expects_json:
        return JsonResponse(
            {"revision": draft.revision if draft else 0, "kept": draft is not None, **editor_updates(editor)}
        )
    if draft:
        messages.success(editor.request, _("Draft saved. Only you can see it."))
    else:
        messages.info(editor.request, _("No changes, so there is no draft."))
    return redirect(editor.address)


def discard_draft(editor: EditorSession) -> HttpResponse:
    """Discard the draft; its text is offered for restoring beside the editor."""
    form = editor.form()
    written = form.cleaned_data["content"] if form.is_valid() else ""
    draft_discard(person_id=editor.person, about=editor.about, content=written)
    messages.success(editor.request, _("Draft discarded. You can restore it below."))
    return redirect(editor.address)


def restore_draft(editor: EditorSession) -> HttpResponse:
    """Make the discarded text the draft again; an existing draft becomes the discarded text."""
    if draft_restore(person_id=editor.person, about=editor.about):
        messages.success(editor.request, _("Your text is restored as your draft."))
    return redirect(editor.address)


def confirm_delete(editor: EditorSession) -> HttpResponse:
    """Ask for confirmation before the discarded text is deleted."""
    confirmation = Confirmation(
        question=_("Delete the discarded draft?"),
        consequences=[_("Your current draft and the published text are not changed.")],
        button=_("Delete permanently"),
        back=f"{editor.address}#aside",
        crumbs=editor.document.crumbs,
        hidden={"deed": "forget"},
        address=editor.address,
    )
    return confirmation_page(editor.request, confirmation)


def delete_discarded(editor: EditorSession) -> HttpResponse:
    """Delete the discarded text."""
    discarded_text_delete(person_id=editor.person, about=editor.about)
    messages.success(editor.request, _("Draft deleted."))
    return redirect(editor.address)


def _save(editor: EditorSession, form: DraftForm) -> Draft | None:
    if not editor.matches_published(form):
        return editor.stored(form)
    draft_delete(person_id=editor.person, about=editor.about, expected_revision=form.cleaned_data["revision"])
    return None


def _refuse(editor: EditorSession, form: DraftForm) -> HttpResponse:
    if not editor.expects_json:
        return show_errors(editor, form)
    code = "other_person" if form.has_error("person") else "invalid"
    reasons = [str(reason) for errors in form.errors.values() for reason in errors]
    return JsonResponse({"code": code, "detail": " ".join(reasons)}, status=422)


def _refuse_stale(editor: EditorSession, form: DraftForm, stale: StaleDraft) -> HttpResponse:
    if not editor.expects_json:
        return show_draft_conflict(editor, form, stale)
    current = stale.current
    # Without a draft, the last word is what is published: the other window published or discarded it.
    text, based_on = (
        (current.content, current.based_on) if current else (editor.document.file.content, editor.published)
    )
    revision = current.revision if current else 0
    told = {"code": stale.code, "revision": revision, "content": text, "based_on": based_on}
    return JsonResponse({**told, **editor_updates(editor)}, status=stale.status)
