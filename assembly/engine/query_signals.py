"""Query signals are the keywords, the intent and the possible names that a query contains.

Source: "Query Parsing" of the seed "Context Assembly Specification", which leaves extractKeywords and
getRelevantEventTypes open.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Intent = Literal["question", "action", "fix", "explain", "other"]

MIN_KEYWORD_CHARACTERS = 2
MIN_PART_CHARACTERS = 3
"""The least characters of a part of an identifier; shorter parts, like the id of user_id, occur in too many words."""
MAX_NAME_WORDS = 5
MAX_NAMES = 2_000

EVENT_TYPES: dict[Intent, tuple[str, ...]] = {
    "fix": ("error", "shell_exec", "tool_result", "file_write"),
    "explain": ("file_read", "message"),
    "question": ("message", "file_read", "tool_result"),
    "action": ("file_write", "shell_exec", "tool_result"),
    "other": (),
}
"""The types of events that help with each intent (seed: getRelevantEventTypes)."""

_STOP_WORD_LIST = """
a about after again all also am an and any are as at be because been before being between but by can could did do
does doing done don't for from get got had has have having he her here hers him his how i i'd i'm i've if in into is
isn't it it's its just let let's me more most my no not now of off on once only or other our ours out over own
please same she should so some such than that that's the their theirs them then there these they this those through
to too under until up us very was we were what what's when where which while who whom whose why will with without
won't would you your yours
"""
STOP_WORDS = frozenset(_STOP_WORD_LIST.split())

_SEPARATORS = re.compile(r"[\s,;!?()\[\]{}<>\"“”„«»…|=*`。、，？！：；（）「」]+")  # noqa: RUF001 - of Chinese and Japanese
_EDGE_CHARACTERS = " .,;:!?'’‘\"“”„«»…()[]{}<>*`/\\-。、，？！"  # noqa: RUF001 - of Chinese and Japanese
_POSSESSIVES = ("'s", "’s")  # noqa: RUF001 - as word processors write it
_IDENTIFIER_BREAKS = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class QuerySignals:
    """The keywords and intent of a query, and the types of events that help with its intent; empty by default."""

    keywords: tuple[str, ...] = ()
    intent: Intent = "other"
    event_types: tuple[str, ...] = ()


NO_SIGNALS = QuerySignals()
"""The signals of a request without a topic."""


def parse_signals(query: str) -> QuerySignals:
    """Return the signals of a query (seed: parseQuerySignals, without its searches)."""
    intent = detect_intent(query)
    return QuerySignals(tuple(_keywords(query)), intent, EVENT_TYPES[intent])


def detect_intent(query: str) -> Intent:
    """Return the intent by the first rule that the query matches (seed: detectIntent); `other` for an empty query."""
    lower = query.lower()
    if not lower.strip():
        return "other"
    if any(word in lower for word in ("fix", "error", "bug")):
        return "fix"
    if any(word in lower for word in ("explain", "how does", "what is")):
        return "explain"
    return "question" if "?" in lower else "action"


def possible_names(query: str) -> list[str]:
    """Return possible names in the query: runs of 1 to 5 words in lower case, shorter runs first, at most 2,000.

    Each run is returned unchanged, without surrounding punctuation, and without a possessive s.
    """
    words = query.lower().split()
    names: dict[str, None] = {}
    for size in range(1, MAX_NAME_WORDS + 1):
        for start in range(len(words) - size + 1):
            names |= dict.fromkeys(name_forms(" ".join(words[start : start + size])))
            if len(names) >= MAX_NAMES:
                return list(names)[:MAX_NAMES]
    return list(names)


def name_forms(run: str) -> Iterator[str]:
    """Yield a run of words unchanged, without surrounding punctuation, and without a possessive s."""
    trimmed = run.strip(_EDGE_CHARACTERS)
    yield run
    if trimmed:
        yield trimmed
        yield from (trimmed.removesuffix(ending) for ending in _POSSESSIVES if trimmed.endswith(ending))


def _keywords(query: str) -> dict[str, None]:
    """Return the query's meaningful words as keys, in order; an identifier is followed by its parts.

    AuthService gives authservice, auth and service; config.yaml gives config.yaml, config and yaml.
    """
    found: dict[str, None] = {}
    for word in (word.strip(_EDGE_CHARACTERS) for word in _SEPARATORS.split(query)):
        keyword = _without_possessive(word.lower())
        if len(keyword) < MIN_KEYWORD_CHARACTERS or keyword in STOP_WORDS:
            continue
        found[keyword] = None
        parts = [part.lower() for part in _IDENTIFIER_BREAKS.split(word)]
        telling = [part for part in parts if len(part) >= MIN_PART_CHARACTERS and part not in STOP_WORDS]
        found |= dict.fromkeys(telling)
    return found


def _without_possessive(word: str) -> str:
    for ending in _POSSESSIVES:
        word = word.removesuffix(ending)
    return word
