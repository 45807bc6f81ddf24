"""What a search is for, as far as its words tell. English, German and Spanish are read; of others, years, ISO dates."""

import datetime
import re
from dataclasses import dataclass

from memories.directions import Direction
from memories.languages import LANGUAGES, TIME_EXPRESSIONS, languages_by_evidence
from memories.retrieval.dates import Days, days_in

MAX_NAME_WORDS = 4
MAX_NAMES = 400

_ASKS_WHEN = (
    re.compile(
        r"\W*(?:(?:since )?when\b|how (?:long|recently)\b"
        r"|(?:in |on |at |since )?(?:what|which) (?:date|day|week|month|year|time)\b)"
    ),
    *(expressions.asks_when for expressions in TIME_EXPRESSIONS.values()),
)
_WORD = re.compile(r"\w+(?:['’.-]\w+)*")  # noqa: RUF001 - as word processors write it
_POSSESSIVE = re.compile(r"['’]s$")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for. `vector` is its direction: None where the model knows none of its words."""

    text: str
    vector: Direction | None
    names: tuple[str, ...] = ()
    """What in it may name an entity: runs of up to 4 words, lower case."""
    days: tuple[Days, ...] = ()
    """The days that it speaks of."""
    asks_when: bool = False
    """Whether it asks for a time."""
    languages: tuple[str, ...] = LANGUAGES
    """All that are known, those first that it is most likely in."""


def question_read(text: str, vector: Direction | None, today: datetime.date) -> Question:
    """The question, with the days that it speaks of as somebody means them who asks today."""
    languages = languages_by_evidence(text)
    asks_when = any(pattern.match(text.lower()) for pattern in _ASKS_WHEN)
    return Question(text, vector, names_in(text), days_in(text, today, languages[0]), asks_when, languages)


def names_in(text: str) -> tuple[str, ...]:
    """Runs of 1 to 4 words, lower case, without a possessive s; at most 400."""
    words = [_POSSESSIVE.sub("", word) for word in _WORD.findall(text.lower())]
    runs = (
        " ".join(words[start : start + size])
        for size in range(1, MAX_NAME_WORDS + 1)
        for start in range(len(words) - size + 1)
    )
    return tuple(dict.fromkeys(runs))[:MAX_NAMES]
