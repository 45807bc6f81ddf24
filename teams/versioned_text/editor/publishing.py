"""From a draft to a version: first the changes are looked at, then they are published with a note."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from teams.forms import PublishForm
from teams.text_diff.comparison import compare_texts
from teams.versioned_text.drafts import StaleDraft, draft_delete, draft_publish
from teams.versioned_text.editor import conflict
from teams.versioned_text.editor.editor_session import EditorSession
from teams.versioned_text.editor.writing import show_errors
from teams.versioned_text.versioned_file import StaleVersion


def review_changes(desk: EditorSession) -> HttpResponse:
    """On the way to publishing: the text is kept as the draft, then its changes are shown."""
    form = desk.form()
    if not form.is_valid():
        return show_errors(desk, form)
    try:
        if desk.says_what_is_published(form):
            return _nothing_to_publish(desk, form.cleaned_data["revision"])
        desk.stored(form)
    except StaleDraft as stale:
        return conflict.show_draft_conflict(desk, form, stale)
    if form.cleaned_data["version"] != desk.published:
        return conflict.show_conflict(desk, status=StaleVersion.status)
    return redirect(f"{desk.address}?step=publish")


def show_changes(desk: EditorSession, form: PublishForm | None = None) -> HttpResponse:
    """What publishing the draft would change, with a field for the note."""
    draft = desk.draft()
    if draft is None:
        return redirect(desk.address)
    if draft.based_on != desk.published:
        return conflict.show_conflict(desk)
    facts = {
        "document": desk.document,
        "draft": draft,
        "form": form or PublishForm(),
        "published": desk.published,
        "comparison": compare_texts(desk.document.file.content, draft.content),
    }
    return render(desk.request, "teams/editor_publish.html", facts, status=422 if form else 200)


def publish_draft(desk: EditorSession) -> HttpResponse:
    """Make a version of the draft that was looked at."""
    form = PublishForm(desk.request.POST)
    if form.has_error("revision"):
        return redirect(f"{desk.address}?step=publish")
    if not form.is_valid():
        return show_changes(desk, form)
    try:
        saved, based_on = draft_publish(
            person_id=desk.person,
            about=desk.about,
            expected_revision=form.cleaned_data["revision"],
            save=lambda content, expected: desk.publish(content, expected, form.cleaned_data["note"]),
        )
    except StaleDraft:
        messages.warning(desk.request, _("The draft has changed since you looked at it. Nothing was published yet."))
        return redirect(f"{desk.address}?step=publish")
    except StaleVersion as stale:
        return conflict.show_conflict(desk, newest=stale.current, status=stale.status)
    _add_message(desk, saved.version, based_on)
    return redirect(desk.address)


def _nothing_to_publish(desk: EditorSession, revision: int) -> HttpResponse:
    draft_delete(person_id=desk.person, about=desk.about, expected_revision=revision)
    messages.info(desk.request, _("Nothing had changed, so there is no new version."))
    return redirect(desk.address)


def _add_message(desk: EditorSession, version: int, based_on: int) -> None:
    if version == based_on:
        messages.info(desk.request, _("Nothing had changed, so there is no new version."))
        return
    words = _("Published as version %(version)s. Agents read it from now on.")
    messages.success(desk.request, words % {"version": version})
