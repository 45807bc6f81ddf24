"""How a text that is being written would fare in a context: its tokens, and where it would be cut.

Nothing is computed here that the engine does not compute itself: the text goes through the selection of its section.
"""

import datetime
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from cachetools import LRUCache, cached

from assembly.engine.codes import Code
from assembly.engine.profile import Section
from assembly.engine.rendering import opening, render
from assembly.engine.scoring import Ranked
from assembly.engine.selection import fill
from assembly.engine.tokens import Ledger
from assembly.engine.types import Candidate
from assembly.profiles import CONVERSATION
from config.tokens import DEFAULT_TOKENIZER, get_tokenizer

_BEFORE = "## Identity\nSomebody."  # no text but Identity stands first, and the line breaks between count, too
MEASURES = 256
"""Results that are remembered; a result has a few numbers and no text."""
_SOME_DAY = datetime.date(2026, 1, 1)


@dataclass(frozen=True, slots=True)
class Measure:
    """A text measured against its section in the profile `conversation`; tokens count its heading."""

    section: Section
    words: int
    tokens: int
    room: int
    """Most tokens that the section may have; of one without a cap, a whole context."""
    kept_characters: int | None = None
    """Where it would be cut; None: it gets in whole."""
    lost_paragraphs: int = 0
    """Those of which something would be missing."""


def _by_digest(text: str, key: str) -> tuple[bytes, str]:
    return sha256(text.encode(errors="surrogatepass")).digest(), key


# A page asks several times for the same text, of which to count a million letters alone takes a second.
@cached(LRUCache[tuple[bytes, str], Measure](MEASURES), key=_by_digest, lock=Lock())
def measure(text: str, key: str) -> Measure:
    """The text measured against the section of that key, as GOALS. Raises StopIteration where there is none."""
    section = next(section for section in CONVERSATION.sections if section.key.upper() == key)
    before = Ledger(get_tokenizer(DEFAULT_TOKENIZER)).append(_BEFORE)
    candidate = Candidate(ref="draft", section=section.key, text=text, date=_SOME_DAY)
    words, room = len(text.split()), section.cap or CONVERSATION.budget
    if not words:
        return Measure(section, words, 0, room)
    _, (decision,) = fill(section, [Ranked(candidate)], before, before.tokens + CONVERSATION.budget)
    opened = opening(section, first_section=False, first_item=True)
    tokens = before.tokens_with(opened + render(section, candidate).text) - before.tokens
    if decision.code is not Code.TRUNCATED:
        return Measure(section, words, tokens, room)
    cut = decision.detail
    # The context shows an edited text, with shifted headings, say: the line stands in the one that is being written.
    kept = render(section, candidate).edited.original_length(cut["kept_chars"])
    return Measure(section, words, tokens, room, kept, cut["of_paragraphs"] - cut["kept_paragraphs"])
