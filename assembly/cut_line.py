"""The line in a rendered text below which a context would not tell it."""

import re
from collections.abc import Iterator

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from config.http.cpu_budget import TooCostly, check_cpu, cpu_budget
from teams.markdown import MOST_SECONDS, as_written, formatted

_PRIVATE = [chr(code) for code in range(0xE000, 0xF8FF)]  # Unicode's private use: they mean nothing in any text
_WITHIN_A_TAG = re.compile(r"<[^>]*[\ue000-\uf8fe][^>]*>")


def rendered_with_cut(text: str, kept: int) -> SafeString:
    """The text as HTML with a line where its first `kept` characters end.

    Where that is amid markup, as in the address of a link, the line stands at the next earlier place that is not; where
    to find one would take too long, above the text.
    """
    plain = formatted(text)
    if plain is None:
        return as_written(text[:kept], text[kept:], between=_line())
    try:
        with cpu_budget(MOST_SECONDS / 2):  # a page may compare the text as well
            return _with_line(text, kept, plain)
    except TooCostly:
        check_cpu()  # the request's own budget may be what is used up
        return _line() + plain


def _with_line(text: str, kept: int, plain: SafeString) -> SafeString:
    mark = next((character for character in _PRIVATE if character not in text), _PRIVATE[0])
    for place in _places(text, kept):
        marked = formatted(text[:place] + mark + text[place:]) or ""
        if marked.replace(mark, "") == plain and marked.count(mark) == 1 and not _WITHIN_A_TAG.search(marked):
            return mark_safe(marked.replace(mark, _line()))  # noqa: S308 - what was cleaned, and our own line
    return _line() + plain


def _places(text: str, kept: int) -> Iterator[int]:
    """Where the line may stand, the best place first: where the text is cut, else after a word, a line, a paragraph."""
    yield kept
    for separator in (" ", "\n", "\n\n"):
        place = text.rfind(separator, 0, kept)
        if place > 0:
            yield place


def _line() -> SafeString:
    words = _("Agents are told the text up to here. What follows would be cut.")
    return format_html('<span class="cut-line"><span>{}</span></span>', words)
