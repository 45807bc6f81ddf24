"""A difference as a page shows it (templates/teams/text_diff/_difference.html): its summary, and one of its two
views.
"""

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
"""Of both texts together: beyond these they are shown as they are written, because Markdown of this size takes long."""
MAX_SECONDS = 0.5
"""CPU time for comparing them as people read them. Texts that are more intricate are shown as they are written."""


@dataclass(frozen=True, slots=True)
class DiffPresentation:
    """`html` is the rendered view, `places` the one as it is written: one of them is empty.

    `changes` counts the places in this view that can be gone to: change-1 and so on. `is_coarse`: so much changed that
    some of it was compared by lines alone.
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
    """How two Markdown texts differ, rendered or as they are written.

    The latter always, where they are very long, or too intricate to be rendered within MOST_SECONDS.
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
    """What changed, in one sentence. A view that shows other places than the lines that changed says how many."""
    if not found.changes:
        return _("Both are the same, to the letter.")
    if found.is_white_space_only:
        return _("Nothing but white space changed.")
    count = places_shown or len(found.changes)
    places = ngettext("%(count)s place changed", "%(count)s places changed", count) % {"count": f"{count:,}"}
    added, removed = found.words_added, found.words_removed
    if not added and not removed:
        return _("%(places)s, but no words: signs or formatting alone.") % {"places": places}
    words = [_words_added(added)] if added else []
    words += [_words_removed(removed)] if removed else []
    return _("%(places)s: %(words)s.") % {"places": places, "words": ", ".join(words)}


def _words_added(count: int) -> str:
    return ngettext("%(count)s word added", "%(count)s words added", count) % {"count": f"{count:,}"}


def _words_removed(count: int) -> str:
    return ngettext("%(count)s word removed", "%(count)s words removed", count) % {"count": f"{count:,}"}
