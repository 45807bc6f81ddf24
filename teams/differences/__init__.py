"""How two texts differ, as they are written and as people read them."""

from django.utils.safestring import SafeString

from teams.differences.rendering import rendered_comparison
from teams.differences.texts import Difference, Part, difference
from teams.differences.words import Run

__all__ = ["Difference", "Part", "Run", "difference", "rendered_difference"]


def rendered_difference(old: str, new: str) -> SafeString:
    """The new Markdown text as safe HTML, with what was added in `ins` and what was removed in `del`."""
    return rendered_comparison(old, new).html
