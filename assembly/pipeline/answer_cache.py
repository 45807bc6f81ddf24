"""This cache answers the same request again within 30 seconds, as long as nothing has changed.

Why an answer from the cache is never stale. An answer is cached with the change counters of the agent, its team and the
organisation, read before any other data of the answer, or in the same snapshot. Counters only grow, and they grow in
the very commit that changes something. So where a later request finds the same counters, nothing was committed between
the two readings: its sources would return what they returned then. If something was committed after the counters were
read and before the sources were, the answer is newer than its counters say; then every later request has higher
counters and misses the cache. The rows of the agent and the team are read before the counters, so they are in the key
by value. An answer whose transaction was rolled back is not returned either: its record does not exist, so that
recording the repetition (`assembly.pipeline.services`) finds nothing to repeat.

The caller is not in the key, because no source knows the caller: a context depends only on the agent, the team, the
request and the levels up to which its sources read, which are in the key; the permission to request a context is
checked before.
"""

import datetime
import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

import orjson
from django.db import models
from django.utils import timezone

from agents.models import Agent
from assembly.engine.types import Candidate, Decision
from assembly.models import Assembly
from config.caching.process_cache import ProcessCache
from teams.models import Team
from teams.sensitivity import Clearances

CounterValues = tuple[int, ...]
"""Change counters of the owners of an answer: see `assembly.pipeline.read_plan`."""

LIFETIME_SECONDS = 30
MAX_BYTES = 24_000_000
DECISION_BYTES = 2_500
"""Bytes of memory of one decision without the content, with its part of the record and a ranker's shares."""


@dataclass(frozen=True, slots=True)
class CacheKey:
    """A request as the cache identifies it: a hash, and the moment to assemble for (`now`)."""

    key: bytes
    now: datetime.datetime


@dataclass(frozen=True, slots=True)
class AssemblyResult:
    """The answer to a request: the assembly's record, its text and the decisions, without reading them back."""

    assembly: Assembly
    content: str
    decisions: tuple[Decision, ...]
    candidates: Sequence[Candidate] | None = field(default=None, compare=False, repr=False)
    """The candidates of a new assembly; None for one from the cache, whose record has them."""

    @property
    def size_bytes(self) -> int:
        """Approximate bytes of memory of the answer."""
        return sys.getsizeof(self.content) + DECISION_BYTES * len(self.decisions)


def cache_key(
    *,
    agent: Agent,
    team: Team | None,
    now: datetime.datetime | None,
    asked: Mapping[str, Any],
    clearances: Clearances,
) -> CacheKey:
    """Return the key of a request; `asked` holds all of the request except agent, team, moment and clearances."""
    moment = now or timezone.now()
    facts = {
        "asked": asked,
        "now": now,
        "today": agent.today(moment),
        "agent": _row_values(agent),
        "team": _row_values(team) if team else None,
        "clearances": [clearances.agent, clearances.team, clearances.organisation],
    }
    return CacheKey(hashlib.sha256(canonical_json(facts)).digest(), moment)


def canonical_json(facts: Mapping[str, Any]) -> bytes:
    """Return JSON that is equal for equal facts, whatever the order of their keys."""
    try:
        return orjson.dumps(facts, option=orjson.OPT_SORT_KEYS, default=str)
    except TypeError:  # orjson refuses integers beyond 64 bits and lone surrogates
        # Not Django's encoder, which drops the microseconds of a moment.
        return json.dumps(facts, sort_keys=True, separators=(",", ":"), default=str).encode()


def _row_values(row: models.Model) -> dict[str, Any]:
    return {column.attname: getattr(row, column.attname) for column in row._meta.concrete_fields}  # noqa: SLF001


class Cacheable(Protocol):
    """An answer that can be cached: it knows its size."""

    @property
    def size_bytes(self) -> int:
        """Approximate bytes of memory of the answer."""


Given = TypeVar("Given", bound=Cacheable)


@dataclass(frozen=True, slots=True)
class _CacheEntry(Generic[Given]):
    """A cached answer, the change counters for which it is valid, and the seconds for which it is returned."""

    changes: CounterValues
    answer: Given
    seconds: float


class AssemblyCache(Generic[Given]):
    """The answers of this process from the last 30 seconds, by request, shared by its threads.

    The least recently used answers are dropped to make space for new ones.
    """

    def __init__(
        self, max_bytes: int = MAX_BYTES, timer: Callable[[], float] = monotonic, name: str = "answers"
    ) -> None:
        self._entries = ProcessCache[bytes, _CacheEntry[Given]](
            name, max_bytes, lambda entry: entry.answer.size_bytes, lifetime=lambda entry: entry.seconds, timer=timer
        )

    def knows(self, question: CacheKey) -> bool:
        """Return whether an answer to the request is cached, so that reading the change counters pays."""
        return question.key in self._entries

    def recall(self, question: CacheKey, changes: CounterValues) -> Given | None:
        """Return the cached answer to the request if the change counters are unchanged; otherwise None."""
        entry = self._entries.get(question.key, lambda entry: entry.changes == changes)
        return entry.answer if entry else None

    def remember(
        self, question: CacheKey, changes: CounterValues, answer: Given, seconds: float = LIFETIME_SECONDS
    ) -> None:
        """Cache the answer to a request, for so many seconds. An answer larger than the whole cache is not stored."""
        self._entries.put(question.key, _CacheEntry(changes, answer, seconds))


assembly_cache = AssemblyCache[AssemblyResult]()
