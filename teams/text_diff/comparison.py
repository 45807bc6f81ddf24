"""A difference of two texts as a page shows it: its summary, and either formatted text or source lines."""

from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from config.http.cpu_budget import TooCostly, check_cpu, cpu_budget
from teams.text_diff.difference import TextDiff, diff_texts
from teams.text_diff.html_diff import HtmlDiff, html_diff
from teams.text_diff.rows import DiffHunk, diff_hunks

MAX_CHARACTERS = 200_000
MAX_LINES = 30_000
"""The maximum number of lines of both texts together that are compared formatted.

Parsing longer Markdown takes too long.
"""
MAX_SECONDS = 0.5
"""CPU seconds for comparing formatted texts. More complex texts are shown as source."""


@dataclass(frozen=True, slots=True)
class DiffPresentation:
    """A difference as pages show it: `html` is the formatted view, `places` the source view; one of the two is empty.

    `changes` is the number of changes in the shown view, with the ids change-1 and so on. `is_coarse`: so much changed
    that some parts were compared by lines only.
    """

    summary: str
    is_same: bool
    is_readable: bool
    html: SafeString
    places: list[DiffHunk]
    changes: int
    hidden_change_count: int = 0
    is_coarse: bool = False

    @property
    def numbers(self) -> range:
        """The numbers of the changes, for the links to them."""
        return range(1, self.changes + 1)


def compare_texts(old: str, new: str, *, source: bool = False) -> DiffPresentation:
    """Return how two Markdown texts differ, formatted or as source.

    Texts that are very long, or too complex to be rendered within MAX_SECONDS, are shown as source.
    """
    found = diff_texts(old, new)
    is_readable = len(old) + len(new) <= MAX_CHARACTERS and old.count("\n") + new.count("\n") <= MAX_LINES
    read = _render(old, new) if is_readable and not source else None
    if read:
        return DiffPresentation(diff_summary(found, read.changes), old == new, True, read.html, [], read.changes)
    places = diff_hunks(found)
    shown = max((place.number for place in places), default=0)
    return DiffPresentation(
        summary=diff_summary(found),
        is_same=old == new,
        is_readable=is_readable and source,
        html=SafeString(""),
        places=places,
        changes=shown,
        hidden_change_count=len(found.changes) - shown,
        is_coarse=found.is_coarse,
    )


def _render(old: str, new: str) -> HtmlDiff | None:
    try:
        with cpu_budget(MAX_SECONDS):
            return html_diff(old, new)
    except TooCostly:
        check_cpu()  # ends the request where its own budget is spent, too
        return None


def diff_summary(found: TextDiff, places_shown: int = 0) -> str:
    """Return a sentence on what changed. `places_shown` is the number of changes of a view whose
    changes are not lines.
    """
    if not found.changes:
        return _("No differences")
    if found.is_white_space_only:
        return _("Only white space changed.")
    count = places_shown or len(found.changes)
    places = ngettext("%(count)s change", "%(count)s changes", count) % {"count": f"{count:,}"}
    added, removed = found.words_added, found.words_removed
    if not added and not removed:
        return _("%(places)s, but no words: only punctuation or formatting.") % {"places": places}
    words = [_words_added(added)] if added else []
    words += [_words_removed(removed)] if removed else []
    return _("%(places)s: %(words)s.") % {"places": places, "words": ", ".join(words)}


def _words_added(count: int) -> str:
    return ngettext("%(count)s word added", "%(count)s words added", count) % {"count": f"{count:,}"}


def _words_removed(count: int) -> str:
    return ngettext("%(count)s word removed", "%(count)s words removed", count) % {"count": f"{count:,}"}
