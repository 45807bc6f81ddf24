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
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

import orjson
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
    requested_at: float
    """In seconds of the monotonic clock."""


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
    requested_at, moment = monotonic(), now or timezone.now()
    facts = {
        "asked": asked,
        "now": now,
        "today": agent.today(moment),
        "agent": _row_values(agent),
        "team": _row_values(team) if team else None,
    }
    return CacheKey(hashlib.sha256(_canonical_json(facts)).digest(), moment, requested_at)


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
    """An answer, when it was asked for, and the counts of changes that it holds for."""

    requested_at: float
    changes: CounterValues
    answer: Given


class AssemblyCache(Generic[Given]):
    """The last answers of this process by their questions, for all its threads. The oldest make room for new ones."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._answers: OrderedDict[bytes, _CacheEntry[Given]] = OrderedDict()
        self._lock = Lock()

    def knows(self, question: CacheKey) -> bool:
        """Whether it is worth while to read the counts of changes."""
        return self._find_fresh(question) is not None

    def recall(self, question: CacheKey, changes: CounterValues) -> Given | None:
        """The answer that was given to this question within the last 30 seconds, if nothing has changed since."""
        kept = self._find_fresh(question)
        return kept.answer if kept and kept.changes == changes else None

    def _find_fresh(self, question: CacheKey) -> _CacheEntry[Given] | None:
        with self._lock:
            kept = self._answers.get(question.key)
        return kept if kept and question.requested_at - kept.requested_at < LIFETIME_SECONDS else None

    def remember(self, question: CacheKey, changes: CounterValues, answer: Given) -> None:
        """Keep the answer for those who ask the same."""
        with self._lock:
            self._evict(question.key)
            self._answers[question.key] = _CacheEntry(question.requested_at, changes, answer)
            self._bytes += answer.size_bytes
            while self._answers and self._must_evict_oldest(question.requested_at):
                self._evict(next(iter(self._answers)))

    def _must_evict_oldest(self, moment: float) -> bool:
        oldest = next(iter(self._answers.values()))
        return self._bytes > self._max_bytes or moment - oldest.requested_at >= LIFETIME_SECONDS

    def _evict(self, key: bytes) -> None:
        gone = self._answers.pop(key, None)
        self._bytes -= gone.answer.size_bytes if gone else 0


assembly_cache = AssemblyCache[AssemblyResult]()
