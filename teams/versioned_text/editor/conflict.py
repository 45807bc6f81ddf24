"""Two texts that were made from the same one: both are shown, and a proposal that brings them together."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from teams.forms import DraftForm, normalise_line_endings
from teams.templatetags.words import by
from teams.versioned_text.drafts import StaleDraft
from teams.versioned_text.editor.editor_session import EditorSession
from teams.versioned_text.editor.writing import render_editor
from teams.versioned_text.merging import ConflictMarkers, TooLongToMerge, format_merged, merge_texts
from teams.versioned_text.versioned_file import VersionedFile


@dataclass(frozen=True, slots=True)
class TextConflict:
    """The person's own text, the other one, and both brought together. `conflict_count`: places where both changed it.

    `is_merged` is False for texts that are too long to be brought together: then the proposal is the person's own.
    """

    yours: str
    theirs: str
    proposal: str
    conflict_count: int
    is_merged: bool = True

    @classmethod
    def of(cls, base: str, yours: str, theirs: str, name: str) -> "TextConflict":
        """From the text that both were made from; `name` is whose the other text is."""
        base, yours, theirs = map(normalise_line_endings, (base, yours, theirs))
        try:
            pieces = merge_texts(base, yours, theirs)
        except TooLongToMerge:
            return cls(yours, theirs, yours, 0, is_merged=False)
        marks = ConflictMarkers(
            yours=_("[Here both texts changed. Yours says:]"),
            theirs=_("[%(name)s says:]") % {"name": name},
            end=_("[Keep what is right, and take out these lines in brackets.]"),
        )
        return cls(yours, theirs, format_merged(pieces, marks), sum(piece.has_conflict for piece in pieces))


def show_conflict(editor: EditorSession, *, newest: VersionedFile | None = None, status: int = 200) -> HttpResponse:
    """The draft beside the version that somebody published meanwhile. Without a draft, or with none that is older
    than what is published, there is nothing to bring together."""
    draft, newest = editor.draft(), newest or editor.document.file
    if draft is None or draft.based_on == newest.version:
        return redirect(editor.address)
    conflict = TextConflict.of(_version_content(editor, draft.based_on), draft.content, newest.content, by(newest))
    return render_editor(
        editor,
        template="teams/versioned_text/editor/conflict.html",
        conflict=conflict,
        newest=newest,
        text=conflict.proposal,
        based_on=newest.version,
        revision=draft.revision,
        status=status,
    )


def show_draft_conflict(editor: EditorSession, form: DraftForm, stale: StaleDraft) -> HttpResponse:
    """The text that was sent beside the draft as the person left it in another window."""
    sent, current = form.cleaned_data, stale.current
    other = current.content if current else editor.document.file.content
    conflict = TextConflict.of(
        _version_content(editor, sent["version"]), sent["content"], other, _("Your other window")
    )
    return render_editor(
        editor,
        template="teams/versioned_text/editor/conflict.html",
        conflict=conflict,
        other_window=True,
        text=conflict.proposal,
        # Of two drafts that were made from different versions, the newer version is in both.
        based_on=max(sent["version"], current.based_on if current else editor.published),
        revision=current.revision if current else 0,
        keeping=True,
        status=stale.status,
    )


def _version_content(editor: EditorSession, number: int) -> str:
    """What a version says; nothing where there was none yet."""
    if not number or not editor.document.exists:
        return ""
    found = editor.document.file.versions.filter(version=number).values_list("content", flat=True).first()
    return found or ""
