"""A worker reads what is expected next, while the machine is idle, and shares it with all web processes.

What it reads are the sources of a context: rows, known conflicts, what searches found. They get into the cache that
processes share (`assembly.pipeline.shared_readings`), where a request finds them for five minutes, as long as no change
counter has moved: never a whole answer, because an answer is made for a moment. Nothing is recorded, and no external
source or summariser is asked, until somebody asks for the context.

How much is done is bounded: at most three questions per agent on an occasion, and of the same agent at most every two
seconds, unless it has asked again; what is known already is not read again; after each reading, the worker rests for
three times as long; what it shares within five minutes takes at most a quarter of the shared cache. Whether the machine
is idle is checked before each question. Of several workers, one reads ahead.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from cachetools import LRUCache
from django.conf import settings
from django.utils import timezone
from uuid_utils.compat import uuid7

from assembly.pipeline.gather import GatherRun
from assembly.pipeline.prepare import prepare
from assembly.pipeline.read_plan import counter_owners
from assembly.pipeline.shared_answers import shared_answers
from assembly.pipeline.shared_readings import LIFETIME_SECONDS, readings_clearances, share_readings
from assembly.pipeline.telemetry import PREASSEMBLIES
from assembly.preassembly.expected import ExpectedRequest, expected_requests
from assembly.preassembly.idle_time import IdleTime
from assembly.preassembly.occasions import Occasion, watched_agents
from assembly.preassembly.predictors import expected_after, records_at_this_time
from assembly.records.change_counters import load_change_counts
from assembly.sources.readings import Readings
from assembly.sources.time_budget import TimeBudget
from config.http.errors import DossierError
from memories.jobs.periodic import periodic
from teams.sensitivity import reading_as

ROUND_SECONDS = 0.5
AT_THIS_TIME_EVERY_SECONDS = 60.0
AGENT_PAUSE_SECONDS = 2.0
REST_FACTOR, MOST_REST_SECONDS = 3, 2.0
SHARE_OF_CACHE = 1 / 4
REMEMBERED = 1_000
"""The last agents, and the last readings, that are remembered."""
LEASE_KEY, LEASE_SECONDS = b"dossier preassembly lease".ljust(32), 10.0
"""The entry of the shared cache that names the worker which reads ahead, and for how long after its last round."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was the case when an agent's expected requests were read for, and when that was."""

    occasion: Occasion
    at: float


class Preassembly:
    """What a worker does in each of its rounds, and what it has done already."""

    def __init__(
        self,
        idle: Callable[[], bool] | None = None,
        timer: Callable[[], float] = time.monotonic,
        rest: Callable[[float], None] = time.sleep,
    ) -> None:
        self._idle, self._timer, self._rest = idle or IdleTime().is_now, timer, rest
        self._name = str(uuid7()).encode()
        self._seen = LRUCache[UUID, _Seen](REMEMBERED)
        self._made = LRUCache[bytes, tuple[tuple[int, ...], float]](REMEMBERED)
        self._shared: deque[tuple[float, int]] = deque()
        self._looked_at = -AT_THIS_TIME_EVERY_SECONDS

    def round(self) -> int:
        """Read what is expected now, as long as the machine is idle; return how many requests were read for."""
        if not shared_answers().max_bytes or not self._idle() or not self._has_lease():
            return 0
        count = 0
        for occasion in watched_agents():
            if not self._is_new(occasion):
                continue
            for expected in expected_after(occasion.last):
                if not self._idle():
                    return count
                count += self._read_for(expected)
            self._seen[occasion.agent] = _Seen(occasion, self._timer())
        if self._timer() - self._looked_at >= AT_THIS_TIME_EVERY_SECONDS:
            for expected in expected_requests(records_at_this_time()):
                if not self._idle():
                    return count
                count += self._read_for(expected)
            self._looked_at = self._timer()
        return count

    def _is_new(self, occasion: Occasion) -> bool:
        seen = self._seen.get(occasion.agent)
        if seen is None or seen.occasion.last != occasion.last:
            return True
        return seen.occasion != occasion and self._timer() - seen.at >= AGENT_PAUSE_SECONDS

    def _has_lease(self) -> bool:
        """Return whether this worker is the one that reads ahead; if no other is, it is from now on."""
        held = shared_answers().get(LEASE_KEY)
        if held and held.value != self._name:
            return False
        if held is None or held.seconds < LEASE_SECONDS / 2:
            shared_answers().put(LEASE_KEY, self._name, LEASE_SECONDS)
        return True

    def _read_for(self, expected: ExpectedRequest) -> bool:
        """Read and share what the request needs, unless that is shared already; return whether it was done."""
        key, begun = expected.key, self._timer()
        changes, until = self._made.get(key, ((), 0.0))
        owners = counter_owners(expected.owners.agent, expected.owners.team)
        if begun < until and changes == load_change_counts(*owners):
            return False
        if self._shared_bytes(begun) > SHARE_OF_CACHE * shared_answers().max_bytes:
            return False
        readings = read_ahead(expected)
        size = share_readings(key, readings) if readings else 0
        now = self._timer()
        if readings and size:
            self._made[key] = readings.changes, now + LIFETIME_SECONDS / 2
            self._shared.append((now + LIFETIME_SECONDS, size))
            PREASSEMBLIES.inc()
        self._rest(min(REST_FACTOR * (now - begun), MOST_REST_SECONDS))
        return size > 0

    def _shared_bytes(self, now: float) -> int:
        while self._shared and self._shared[0][0] <= now:
            self._shared.popleft()
        return sum(size for _, size in self._shared)


def read_ahead(expected: ExpectedRequest) -> Readings | None:
    """Return what the sources say to the request, up to internal; None if it cannot be asked, or if a source failed."""
    agent, team = expected.owners.agent, expected.owners.team
    readings = Readings()
    try:
        prepared = prepare(agent, team, expected.asked, timezone.now(), clearances=readings_clearances(agent))
    except DossierError:  # its profile, tokenizer or session does not exist any more
        return None
    profile, context, time = prepared.profile, prepared.gather_context, TimeBudget.starting_now()
    with reading_as(context.clearances):
        is_whole = _RunAhead(profile, context, time, readings=readings, is_ahead=True).read_all()
    return readings if is_whole and readings.rows else None


class _RunAhead(GatherRun):
    """The state of a reading for a request that is only expected: what is read is kept in its readings."""

    def read_all(self) -> bool:
        """Read the sources, except external ones, and return whether none failed. No cache of this process is used."""
        self._embed_topic()
        if self.topic_embedding.report:
            return False
        self._read()
        return not any(report.code for report in self.reports.values())


@cache
def preassembly() -> Preassembly:
    """Return what this worker has done ahead."""
    return Preassembly()


@periodic(ROUND_SECONDS, "preassembly")
def preassemble() -> None:
    """Do one round, unless PREASSEMBLY is off."""
    if settings.PREASSEMBLY:
        preassembly().round()
