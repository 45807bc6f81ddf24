"""The size of a text that is being edited has its tokens, and where a context would truncate it.

The engine's own selection computes both.
"""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from cachetools import LRUCache, cached
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from assembly.engine.codes import Code
from assembly.engine.profile import Profile, Section
from assembly.engine.ranking import RankedCandidate
from assembly.engine.rendering import render_item, separator_before
from assembly.engine.selection import fill_section
from assembly.engine.token_ledger import TokenLedger
from assembly.engine.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
from assembly.engine.types import Candidate
from assembly.profiles.shipped import CONVERSATION
from config.http.cpu_budget import TooCostly, check_cpu, cpu_budget
from teams.sensitivity import Sensitivity
from teams.text_diff.markdown import MAX_SECONDS, format_markdown, render_plain

_BEFORE = "## Identity\nSomebody."  # another section comes first; line breaks count, too
SIZE_CACHE_ENTRIES = 256
"""The number of cached results; a result has a few numbers and no text."""
_SOME_DAY = datetime.date(2026, 1, 1)


@dataclass(frozen=True, slots=True)
class TextSize:
    """The size of a text in its section of a profile; its tokens include the heading."""

    section: Section
    words: int
    tokens: int
    room: int
    """The limit of the section in tokens; for a section without a limit, the budget of the context."""
    included_characters: int | None = None
    """The number of characters before the truncation; None if the whole text is included."""
    cut_paragraphs: int = 0
    """The number of paragraphs that would be truncated."""


@dataclass(frozen=True, slots=True)
class SearchedTextSize:
    """This size is that of a text which is found by meaning, passage by passage."""

    words: int
    tokens: int


def measure_searched_text(text: str) -> SearchedTextSize:
    """Return the size of the text by itself, without a heading."""
    return SearchedTextSize(len(text.split()), get_tokenizer(DEFAULT_TOKENIZER).count(text) if text.strip() else 0)


def section_of(key: str, profile: Profile) -> Section:
    """Return the profile's section for texts that the default profile has in the section with this key.

    A profile without such a section does not use these texts: they are measured against the default profile then.
    Raises StopIteration if the default profile has none either.
    """
    default = next(section for section in CONVERSATION.sections if section.key.upper() == key)
    alike = [section for section in profile.sections if section.source == default.source]
    same = [section for section in alike if section.key == default.key or default.shape == "entries"]
    return same[0] if same else default


def limit_of(section: Section, profile: Profile) -> int:
    """Return the most tokens of the section; for one without a limit, the budget of the profile."""
    limit = section.cap_within(profile.budget)
    return profile.budget if limit is None else limit


def _by_digest(text: str, key: str, profile: Profile = CONVERSATION) -> tuple[bytes, str, str, int]:
    return sha256(text.encode(errors="surrogatepass")).digest(), key, profile.name, profile.version


# A page needs the size of the same text several times, and counting a million characters takes a second.
@cached(LRUCache[tuple[bytes, str, str, int], TextSize](SIZE_CACHE_ENTRIES), key=_by_digest, lock=Lock())
def measure_text(text: str, key: str, profile: Profile = CONVERSATION) -> TextSize:
    """Return the size of the text in the section with this key, such as GOALS.

    Raises StopIteration without such a section.
    """
    section = section_of(key, profile)
    before = TokenLedger(get_tokenizer(DEFAULT_TOKENIZER)).append(_BEFORE)
    # The text may be restricted, so no cache of the engine keeps it; the sizes are cached here.
    level = Sensitivity.RESTRICTED
    candidate = Candidate(ref="draft", section=section.key, text=text, date=_SOME_DAY, sensitivity=level)
    words, room = len(text.split()), limit_of(section, profile)
    if not words:
        return TextSize(section, words, 0, room)
    _, (decision,) = fill_section(section, [RankedCandidate(candidate)], before, before.tokens + profile.budget)
    opened = separator_before(section, first_section=False, first_item=True)
    tokens = before.tokens_with(opened + render_item(section, candidate).text) - before.tokens
    if decision.code is not Code.TRUNCATED:
        return TextSize(section, words, tokens, room)
    cut = decision.detail
    # A context has the text with edits, such as shifted headings; the line belongs in the author's own text.
    kept = render_item(section, candidate).edited.original_length(cut["kept_chars"])
    return TextSize(section, words, tokens, room, kept, cut["of_paragraphs"] - cut["kept_paragraphs"])


_PRIVATE = [chr(code) for code in range(0xE000, 0xF8FF)]  # Unicode's private use area: no meaning in any text
_WITHIN_A_TAG = re.compile(r"<[^>]*[\ue000-\uf8fe][^>]*>")


def rendered_with_cut(text: str, kept: int) -> SafeString:
    """Return the text as HTML with a line after its first `kept` characters.

    If that position is within markup, such as the address of a link, the line is at the next earlier position outside
    of markup; if no position is found in time, above the text.
    """
    plain = format_markdown(text)
    if plain is None:
        return render_plain(text[:kept], text[kept:], between=_cut_line())
    try:
        with cpu_budget(MAX_SECONDS / 2):  # a page may compare the text as well
            return _insert_cut_line(text, kept, plain)
    except TooCostly:
        check_cpu()  # the request's own budget may be what is used up
        return _cut_line() + plain


def _insert_cut_line(text: str, kept: int, plain: SafeString) -> SafeString:
    mark = next((character for character in _PRIVATE if character not in text), _PRIVATE[0])
    for place in _line_positions(text, kept):
        marked = format_markdown(text[:place] + mark + text[place:]) or ""
        if marked.replace(mark, "") == plain and marked.count(mark) == 1 and not _WITHIN_A_TAG.search(marked):
            return mark_safe(marked.replace(mark, _cut_line()))  # noqa: S308 - what was cleaned, and our own line
    return _cut_line() + plain


def _line_positions(text: str, kept: int) -> Iterator[int]:
    """Yield positions for the line, the best first: where the text is truncated, else after a word, a line, a
    paragraph.
    """
    yield kept
    for separator in (" ", "\n", "\n\n"):
        place = text.rfind(separator, 0, kept)
        if place > 0:
            yield place


def _cut_line() -> SafeString:
    words = _("Truncated here: agents don't receive the text below.")
    return format_html('<span class="cut-line"><span>{}</span></span>', words)
