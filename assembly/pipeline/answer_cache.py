"""The cache of assemblies: whoever asks the same again within half a minute, with nothing changed, gets the same.

Why an answer from here is never stale. An answer is kept with the counts of changes of the agent, its team and the
organisation, read before anything else was read for it, or in the same snapshot. Counts only grow, and they grow in the
very commit that changes something. So where a later question finds the same counts, nothing was committed between the
two readings: what it would gather now is what was gathered then. If something was committed after the counts were read
and before the sources were, the answer is newer than its counts say; then every later question has higher ones and does
not get it. What was read before the counts, the rows of the agent and the team, is in the key by value. What an answer
saw in a transaction that was rolled back is not found either: its record is gone with it, and recording it again
(`assembly.pipeline.services`) finds nothing to repeat.

Who asks is not in the key, because no source knows it: what a context holds depends on the agent, the team and the
wishes alone, and whether somebody may ask for this agent in this team is decided before this is.
"""

import datetime
import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

import orjson
from cachetools import TTLCache
from django.db import models
from django.utils import timezone

from agents.models import Agent
from assembly.engine.types import Decision
from assembly.models import Assembly
from teams.models import Team

CounterValues = tuple[int, ...]
"""How often what an answer is made of has changed: see `assembly.pipeline.read_plan`."""

LIFETIME_SECONDS = 30
MAX_BYTES = 24_000_000
DECISION_BYTES = 2_500
"""Memory of one decision beside the content, with what the record says of it, where a ranker gave its shares."""


@dataclass(frozen=True, slots=True)
class CacheKey:
    """What is asked for. `now` is the moment to assemble for."""

    key: bytes
    now: datetime.datetime


@dataclass(frozen=True, slots=True)
class AssemblyResult:
    """What was assembled, and the record of it: the response without a look at the decisions' rows."""

    assembly: Assembly
    content: str
    decisions: tuple[Decision, ...]

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes."""
        return sys.getsizeof(self.content) + DECISION_BYTES * len(self.decisions)


def cache_key(
    *,
    agent: Agent,
    team: Team | None,
    now: datetime.datetime | None,
    asked: Mapping[str, Any],
) -> CacheKey:
    """The question as the cache knows it; `asked` is all that was asked for besides."""
    moment = now or timezone.now()
    facts = {
        "asked": asked,
        "now": now,
        "today": agent.today(moment),
        "agent": _row_values(agent),
        "team": _row_values(team) if team else None,
    }
    return CacheKey(hashlib.sha256(_canonical_json(facts)).digest(), moment)


def _canonical_json(facts: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(facts, option=orjson.OPT_SORT_KEYS, default=str)
    except TypeError:  # of whole numbers beyond 64 bits, and of halves of a character
        # Not Django's encoder, which drops the microseconds of a moment.
        return json.dumps(facts, sort_keys=True, separators=(",", ":"), default=str).encode()


def _row_values(row: models.Model) -> dict[str, Any]:
    return {column.attname: getattr(row, column.attname) for column in row._meta.concrete_fields}  # noqa: SLF001


class Cacheable(Protocol):
    """What can be kept here."""

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes."""


Given = TypeVar("Given", bound=Cacheable)


@dataclass(frozen=True, slots=True)
class _CacheEntry(Generic[Given]):
    """An answer, and the counts of changes that it holds for."""

    changes: CounterValues
    answer: Given


class AssemblyCache(Generic[Given]):
    """The answers that this process gave within 30 seconds, by their questions, for all its threads.

    Those that were not repeated for longest make room for new ones.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, timer: Callable[[], float] = monotonic) -> None:
        self._entries: TTLCache[bytes, _CacheEntry[Given]] = TTLCache(
            max_bytes, LIFETIME_SECONDS, timer, lambda entry: entry.answer.size_bytes
        )
        self._lock = Lock()

    def knows(self, question: CacheKey) -> bool:
        """Whether it is worth while to read the counts of changes."""
        with self._lock:
            return question.key in self._entries

    def recall(self, question: CacheKey, changes: CounterValues) -> Given | None:
        """The answer that was given to this question within the last 30 seconds, if nothing has changed since."""
        with self._lock:
            entry = self._entries.get(question.key)
        return entry.answer if entry and entry.changes == changes else None

    def remember(self, question: CacheKey, changes: CounterValues, answer: Given) -> None:
        """Store the answer for those who ask the same. One that is larger than the whole cache is not stored."""
        if answer.size_bytes <= self._entries.maxsize:
            with self._lock:
                self._entries[question.key] = _CacheEntry(changes, answer)


assembly_cache = AssemblyCache[AssemblyResult]()
