"""Drafts in the editor: kept while they are written, discarded, and brought back."""

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
    """Keep the text as the person's draft; one that says what is published anyway is none."""
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
        messages.success(editor.request, _("Draft saved. Nobody else sees it yet."))
    else:
        messages.info(editor.request, _("Nothing differs from what is published, so there is no draft."))
    return redirect(editor.address)


def discard_draft(editor: EditorSession) -> HttpResponse:
    """Forget the draft; what it said is offered back beside the editor."""
    form = editor.form()
    written = form.cleaned_data["content"] if form.is_valid() else ""
    draft_discard(person_id=editor.person, about=editor.about, content=written)
    messages.success(editor.request, _("The draft is discarded. You can bring it back below."))
    return redirect(editor.address)


def restore_draft(editor: EditorSession) -> HttpResponse:
    """Make a draft of the text that was set aside; the draft there is takes its place."""
    if draft_restore(person_id=editor.person, about=editor.about):
        messages.success(editor.request, _("Your text is back as your draft."))
    return redirect(editor.address)


def confirm_delete(editor: EditorSession) -> HttpResponse:
    """Ask before the text that was set aside is thrown away."""
    confirmation = Confirmation(
        question=_("Throw away the text that was set aside?"),
        consequences=[_("Your draft, if you have one, and what is published stay as they are.")],
        button=_("Throw it away"),
        back=f"{editor.address}#aside",
        crumbs=editor.document.crumbs,
        hidden={"deed": "forget"},
        address=editor.address,
    )
    return confirmation_page(editor.request, confirmation)


def delete_discarded(editor: EditorSession) -> HttpResponse:
    """Throw away the text that was set aside."""
    discarded_text_delete(person_id=editor.person, about=editor.about)
    messages.success(editor.request, _("The text is thrown away."))
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
