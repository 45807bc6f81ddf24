"""The score formulas of the seed "Context Assembly Specification", by which each source scores what it found.

Times are handed over as ages: the engine reads no clock.
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
"""Of what has no salience of its own (seed: "Default for events")."""
DEFAULT_CREDIBILITY = 0.5
"""Of what nobody has judged: that of a new memory."""

_HOUR = dt.timedelta(hours=1)
_NO_AGE = dt.timedelta(0)


def recency_score(age: dt.timedelta) -> float:
    """1 for what is new or still to come, 1/e after a day (seed: calculateRecencyScore)."""
    return math.exp(-(max(age, _NO_AGE) / _HOUR) / DECAY_HOURS)


def keyword_matches(text: str, keywords: Sequence[str]) -> int:
    """How many of the keywords, which are lower case, stand anywhere in the text (seed: calculateBoosts)."""
    lower = text.lower()
    return sum(keyword in lower for keyword in keywords)


def keyword_boost(matches: int) -> float:
    """1 and a tenth per keyword found (seed: calculateBoosts)."""
    return 1 + matches * BOOST_PER_KEYWORD


def chunk_boost(matches: int, age: dt.timedelta) -> float:
    """What a chunk's similarity is multiplied by: its keywords, and its age under a day (seed: calculateBoosts)."""
    return keyword_boost(matches) * (RECENT_BOOST if age < RECENT_AGE else 1.0)


def entity_score(salience: float, *, mentioned: bool) -> float:
    """The salience, twice that for what the query mentions (seed: queryEntities)."""
    return salience * (MENTIONED_FACTOR if mentioned else 1)


def success_rate(successes: int, applications: int) -> float:
    """0 to 1; 0 for what was never applied, where the seed's queryPatterns would divide by nothing."""
    return successes / applications if applications else 0.0


def keyword_share(text: str, keywords: Sequence[str]) -> float:
    """How much of the query the text speaks of: the share of its keywords found, 0 to 1; 0 without keywords."""
    return keyword_matches(text, keywords) / len(keywords) if keywords else 0.0


def event_relevance(text: str, event_type: str, signals: QuerySignals) -> float:
    """0 to 1: the mean of the keywords' share and of whether such events help with the intent; 0 without keywords.

    The seed names calculateRelevance and leaves it open.
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
    """The scores of a candidate that a profile weighs, relevance held within 0 and 1, and those that explain them."""
    weighed = {
        "recency": recency,
        "relevance": min(1.0, max(0.0, relevance)),
        "salience": salience,
        "credibility": credibility,
    }
    return weighed | {name: float(value) for name, value in explaining.items()}


_WORD = re.compile(r"\w{4,}")


def words_of(text: str) -> frozenset[str]:
    """The distinct words of four letters and more, in lower case."""
    return frozenset(_WORD.findall(text.lower()))
