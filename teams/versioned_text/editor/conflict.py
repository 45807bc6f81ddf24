"""Two texts made from the same version are merged: a person chooses, place by place, what the merged text says."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, groupby

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from teams.forms import DraftForm, MergeForm, match_line_endings, normalise_line_endings
from teams.templatetags.words import by
from teams.text_diff.difference import DiffRun, diff_runs
from teams.versioned_text.drafts import StaleDraft, draft_discard, draft_save
from teams.versioned_text.editor.editor_session import EditorSession
from teams.versioned_text.editor.writing import show_errors
from teams.versioned_text.merging import Lines, MergeChunk, TooLongToMerge, join_chunks, merge_texts
from teams.versioned_text.versioned_file import StaleVersion

FOLDED_LINES = 8
"""Merged lines between two conflicts are folded away if there are more of them than this."""

MAX_COMPARED_CHARACTERS = 100_000
"""The maximum length of both texts of a conflict together, beyond which differing words are not marked."""


@dataclass(frozen=True, slots=True)
class ConflictPlace:
    """A place that both texts changed differently; `number` counts from 1."""

    number: int
    yours: Sequence[DiffRun]
    theirs: Sequence[DiffRun]
    both: str
    choice: str = ""
    own_text: str = ""


@dataclass(frozen=True, slots=True)
class MergedStretch:
    """Lines that are merged already, and are folded away if they are many."""

    text: str
    line_count: int

    @property
    def is_folded(self) -> bool:
        return self.line_count > FOLDED_LINES


@dataclass(frozen=True, slots=True)
class TextConflict:
    """A person's text and another one, which were both made from version `base`; `newest` is published.

    Texts with too many lines to be merged are one conflict from beginning to end. `other_window`: the other text is the
    same person's draft, as another window saved it.
    """

    base: int
    newest: int
    revision: int
    yours: str
    theirs: str
    their_name: str
    chunks: tuple[MergeChunk, ...]
    other_window: bool = False

    @property
    def conflict_count(self) -> int:
        return sum(chunk.has_conflict for chunk in self.chunks)

    def parts(self, form: MergeForm | None = None) -> list[ConflictPlace | MergedStretch]:
        """Return what the page shows in order, with the choices of the form that was sent."""
        numbers, parts = count(1), list[ConflictPlace | MergedStretch]()
        for has_conflict, chunks in groupby(self.chunks, key=lambda chunk: chunk.has_conflict):
            if has_conflict:
                parts += [_conflict_place(next(numbers), chunk.lines, chunk.theirs or (), form) for chunk in chunks]
            else:
                lines = [line for chunk in chunks for line in chunk.lines]
                parts.append(MergedStretch("\n".join(lines), len(lines)))
        return parts


def _conflict_place(number: int, yours: Lines, theirs: Lines, form: MergeForm | None) -> ConflictPlace:
    mine, other = "\n".join(yours), "\n".join(theirs)
    choice, own_text = form.sent_choice(number) if form else ("", "")
    return ConflictPlace(number, _new_side(other, mine), _new_side(mine, other), f"{mine}\n{other}", choice, own_text)


def _new_side(old: str, new: str) -> list[DiffRun]:
    """Return the new text as runs, in which the words that the old text lacks are marked as added.

    Very long texts are one run without marks.
    """
    if len(old) + len(new) > MAX_COMPARED_CHARACTERS:
        return [DiffRun("equal", new)]
    return [run for run in diff_runs(old, new) if run.kind != "removed"]


def show_conflict(editor: EditorSession, *, status: int = 200) -> HttpResponse:
    """Show the draft and the version that somebody else published since. Other drafts have no conflict to show."""
    draft = editor.draft()
    if draft is None or draft.based_on == editor.published:
        return redirect(editor.address)
    return _render_conflict(editor, _published_conflict(editor, draft.content, draft.based_on, draft.revision), status)


def show_draft_conflict(editor: EditorSession, form: DraftForm, stale: StaleDraft) -> HttpResponse:
    """Show the text that was sent and the draft as the person saved it in another window."""
    conflict = _window_conflict(editor, form.cleaned_data["content"], form.cleaned_data["version"], stale)
    return _render_conflict(editor, conflict, stale.status)


def save_merged(editor: EditorSession) -> HttpResponse:
    """Make the person's draft of the merged text; what the draft said before can be restored for seven days."""
    form = MergeForm(editor.request.POST, stored=editor.document.file, person=editor.person)
    if not form.is_valid():
        return show_errors(editor, form)
    conflict = _current_conflict(editor, form)
    if not conflict.chunks or form.is_outdated(conflict.newest, conflict.revision):
        return _render_conflict(editor, conflict, StaleVersion.status)
    chosen = form.chosen_lines(conflict.chunks)
    if chosen is None:
        return _render_conflict(editor, conflict, 422, form)
    merged = match_line_endings(join_chunks(conflict.chunks, chosen), editor.document.file.content)
    if merged == editor.document.file.content:
        draft_discard(person_id=editor.person, about=editor.about, content=conflict.yours)
        messages.success(editor.request, _("The published text is not changed. Your draft can be restored below."))
        return redirect(editor.address)
    try:
        draft_save(
            person_id=editor.person,
            about=editor.about,
            content=merged,
            based_on=conflict.newest,
            expected_revision=conflict.revision,
            keeping=True,
        )
    except StaleDraft as stale:
        return show_draft_conflict(editor, form, stale)
    messages.success(editor.request, _("Both texts are merged in your draft. Review it, then publish."))
    return redirect(editor.address)


def _current_conflict(editor: EditorSession, form: MergeForm) -> TextConflict:
    """Return the conflict of the text that was sent, as the draft and the published text are now."""
    sent, draft = form.cleaned_data, editor.draft()
    revision = draft.revision if draft else 0
    if sent["other_window"] or revision != sent["revision"]:
        return _window_conflict(editor, sent["content"], sent["base"], StaleDraft(draft))
    return _published_conflict(editor, sent["content"], sent["base"], revision)


def _published_conflict(editor: EditorSession, yours: str, base: int, revision: int) -> TextConflict:
    file = editor.document.file
    chunks = _merge(_version_content(editor, base), yours, file.content)
    return TextConflict(base, editor.published, revision, yours, file.content, by(file), chunks)


def _window_conflict(editor: EditorSession, yours: str, base: int, stale: StaleDraft) -> TextConflict:
    draft = stale.current
    theirs = draft.content if draft else editor.document.file.content
    # Of two drafts that were made from different versions, the newer version is in both.
    newest = max(base, draft.based_on if draft else editor.published)
    chunks = _merge(_version_content(editor, base), yours, theirs)
    revision = draft.revision if draft else 0
    return TextConflict(base, newest, revision, yours, theirs, _("Your other window"), chunks, other_window=True)


def _merge(base: str, yours: str, theirs: str) -> tuple[MergeChunk, ...]:
    base, yours, theirs = map(normalise_line_endings, (base, yours, theirs))
    try:
        return merge_texts(base, yours, theirs)
    except TooLongToMerge:
        return (MergeChunk(tuple(yours.split("\n")), tuple(theirs.split("\n"))),)


def _render_conflict(
    editor: EditorSession, conflict: TextConflict, status: int, form: MergeForm | None = None
) -> HttpResponse:
    facts = {"document": editor.document, "conflict": conflict, "parts": conflict.parts(form), "form": form}
    return render(editor.request, "teams/versioned_text/editor/conflict.html", facts, status=status)


def _version_content(editor: EditorSession, number: int) -> str:
    """Return the content of a version; an empty text if there is no such version."""
    if not number or not editor.document.exists:
        return ""
    found = editor.document.file.versions.filter(version=number).values_list("content", flat=True).first()
    return found or ""
