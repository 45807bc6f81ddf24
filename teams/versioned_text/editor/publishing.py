"""A draft is published in two steps: the person reviews its changes, then publishes them with a note."""

from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.http.errors import Invalid
from teams.forms import PublishForm
from teams.text_diff.comparison import compare_texts
from teams.versioned_text.drafts import StaleDraft, draft_delete, draft_publish
from teams.versioned_text.editor import conflict
from teams.versioned_text.editor.editor_session import EditorSession
from teams.versioned_text.editor.writing import show_errors
from teams.versioned_text.merging import has_conflict_markers
from teams.versioned_text.presentation import add_save_message, add_unchanged_message
from teams.versioned_text.publication import PublicationRefused
from teams.versioned_text.versioned_file import StaleVersion

UNRESOLVED = gettext_lazy("The text contains conflict markers. Remove them before you publish.")


def review_changes(editor: EditorSession) -> HttpResponse:
    """Save the text as the draft and redirect to the page that shows its changes."""
    form = editor.form()
    if not form.is_valid():
        return show_errors(editor, form)
    if has_conflict_markers(form.cleaned_data["content"]):
        form.add_error("content", UNRESOLVED)
        return show_errors(editor, form)
    try:
        if editor.matches_published(form):
            return _nothing_to_publish(editor, form.cleaned_data["revision"])
        editor.stored(form)
    except StaleDraft as stale:
        return conflict.show_draft_conflict(editor, form, stale)
    if form.cleaned_data["version"] != editor.published:
        return conflict.show_conflict(editor, status=StaleVersion.status)
    return redirect(f"{editor.address}?step=publish")


def show_changes(
    editor: EditorSession, form: PublishForm | None = None, refused: PublicationRefused | Invalid | None = None
) -> HttpResponse:
    """Show what publishing the draft would change, with a field for the note, and why a check refused it."""
    draft = editor.draft()
    if draft is None:
        return redirect(editor.address)
    if draft.based_on != editor.published:
        return conflict.show_conflict(editor)
    facts = {
        "document": editor.document,
        "draft": draft,
        "form": form or PublishForm(),
        "published": editor.published,
        "comparison": compare_texts(editor.document.file.content, draft.content),
        "refused": refused,
    }
    status = refused.status if refused else 422 if form else 200
    return render(editor.request, "teams/versioned_text/editor/publish.html", facts, status=status)


def publish_draft(editor: EditorSession) -> HttpResponse:
    """Publish the draft as it was reviewed."""
    form = PublishForm(editor.request.POST)
    if form.has_error("revision"):
        return redirect(f"{editor.address}?step=publish")
    if not form.is_valid():
        return show_changes(editor, form)
    draft = editor.draft()
    if draft and has_conflict_markers(draft.content):
        messages.error(editor.request, UNRESOLVED)
        return redirect(editor.address)
    try:
        saved, based_on = draft_publish(
            person_id=editor.person,
            about=editor.about,
            expected_revision=form.cleaned_data["revision"],
            save=lambda content, expected: editor.publish(content, expected, form.cleaned_data["note"]),
        )
    except StaleDraft:
        messages.warning(editor.request, _("The draft has changed since you viewed it. Nothing was published yet."))
        return redirect(f"{editor.address}?step=publish")
    except (PublicationRefused, Invalid) as refused:
        return show_changes(editor, form, refused)
    except StaleVersion as stale:
        newer = replace(editor, document=replace(editor.document, file=stale.current))
        return conflict.show_conflict(newer, status=stale.status)
    published = _("Published version %(version)s.")
    add_save_message(editor.request, saved.version, based_on, published)
    return redirect(editor.address)


def _nothing_to_publish(editor: EditorSession, revision: int) -> HttpResponse:
    draft_delete(person_id=editor.person, about=editor.about, expected_revision=revision)
    add_unchanged_message(editor.request)
    return redirect(editor.address)
