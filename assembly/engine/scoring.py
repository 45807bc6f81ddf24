"""Each source scores its candidates by the formulas of the seed "Context Assembly Specification".

Times are passed as ages, because the engine reads no clock.
"""

import datetime as dt
import math
import re
from collections.abc import Sequence

from assembly.engine.query_signals import QuerySignals

DECAY_HOURS = 24
BOOST_PER_KEYWORD = 0.1
RECENT_BOOST = 1.2
RECENT_AGE = dt.timedelta(hours=24)
MENTIONED_FACTOR = 2

DEFAULT_SALIENCE = 0.5
"""The salience of items that have none of their own (seed: "Default for events")."""
DEFAULT_CREDIBILITY = 0.5
"""The credibility of items that nobody has rated, which is that of a new memory."""

_HOUR = dt.timedelta(hours=1)
_NO_AGE = dt.timedelta(0)


def recency_score(age: dt.timedelta) -> float:
    """Return 1 for an age of zero or a future time, falling to 1/e after a day (seed: calculateRecencyScore)."""
    return math.exp(-(max(age, _NO_AGE) / _HOUR) / DECAY_HOURS)


def keyword_matches(text: str, keywords: Sequence[str]) -> int:
    """Return how many of the keywords, given in lower case, occur anywhere in the text (seed: calculateBoosts)."""
    lower = text.lower()
    return sum(keyword in lower for keyword in keywords)


def keyword_boost(matches: int) -> float:
    """Return 1 plus a tenth per keyword found (seed: calculateBoosts)."""
    return 1 + matches * BOOST_PER_KEYWORD


def chunk_boost(matches: int, age: dt.timedelta) -> float:
    """Return the factor for a chunk's similarity, by keywords found and by age under a day (seed: calculateBoosts)."""
    return keyword_boost(matches) * (RECENT_BOOST if age < RECENT_AGE else 1.0)


def entity_score(salience: float, *, mentioned: bool) -> float:
    """Return the salience, doubled for an entity that the query mentions (seed: queryEntities)."""
    return salience * (MENTIONED_FACTOR if mentioned else 1)


def success_rate(successes: int, applications: int) -> float:
    """Return the share of successes, 0 to 1; 0 if never applied (the seed's queryPatterns would divide by zero)."""
    return successes / applications if applications else 0.0


def keyword_share(text: str, keywords: Sequence[str]) -> float:
    """Return the share, 0 to 1, of the keywords that occur in the text; 0 without keywords."""
    return keyword_matches(text, keywords) / len(keywords) if keywords else 0.0


def event_relevance(text: str, event_type: str, signals: QuerySignals) -> float:
    """Return the mean, 0 to 1, of the share of keywords found and of whether the event's type helps with the intent.

    Returns 0 without keywords. The seed names calculateRelevance and leaves it open.
    """
    if not signals.keywords:
        return 0.0
    return (keyword_share(text, signals.keywords) + (event_type in signals.event_types)) / 2


def candidate_measures(
    *,
    recency: float,
    relevance: float,
    salience: float = DEFAULT_SALIENCE,
    credibility: float = DEFAULT_CREDIBILITY,
    **explaining: float,
) -> dict[str, float]:
    """Return the measures that a profile weights, with relevance limited to 0 to 1, and those in `explaining`."""
    weighed = {
        "recency": recency,
        "relevance": min(1.0, max(0.0, relevance)),
        "salience": salience,
        "credibility": credibility,
    }
    return weighed | {name: float(value) for name, value in explaining.items()}


MIN_LETTERS = 4
_WORD = re.compile(rf"\w{{{MIN_LETTERS},}}")
_BETWEEN_WORDS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}
"""The ASCII characters that are not part of a word, each replaced by a blank."""


def words_of(text: str) -> frozenset[str]:
    """Return the distinct words of four letters and more, in lower case."""
    lowered = text.lower()
    if lowered.isascii():  # for most texts, the same in half of the time
        words = lowered.translate(_BETWEEN_WORDS).split()
        return frozenset([word for word in words if len(word) >= MIN_LETTERS])
    return frozenset(_WORD.findall(lowered))
