"""Contexts are counted by day as they are recorded, in the transaction that takes them off the queue.

Durations are counted in buckets, so that percentiles are right to a tenth of themselves.
"""

import datetime
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from assembly.engine.codes import Code, SourceCode
from assembly.engine.refs import Ref, without_version
from assembly.engine.types import field_values
from assembly.models import Assembly
from assembly.records.reader import StoredAssembly
from assembly.sources.kinds import FILES
from config.db.migration_helpers import ORGANISATION
from config.db.statements import execute_sql, lock_until_commit

GROWTH = 1.1
MOST_MS = 3_600_000


def _bounds() -> tuple[int, ...]:
    found = [1]
    while found[-1] < MOST_MS:
        found.append(max(found[-1] + 1, round(found[-1] * GROWTH)))
    return tuple(found)


BOUNDS = _bounds()
"""Milliseconds: a duration counts under the first of these that it does not exceed, one beyond all under the last."""


def bound_of(ms: int) -> int:
    """The milliseconds under which a duration is counted."""
    return BOUNDS[min(bisect_left(BOUNDS, ms), len(BOUNDS) - 1)]


def percentile(counts: Mapping[int, int], share: float) -> int | None:
    """Milliseconds that a share of the durations, above 0 to 1, did not exceed; None where there are none."""
    if not counts:
        return None
    bounds = sorted(counts)
    reached = list(accumulate(counts[bound] for bound in bounds))
    return bounds[bisect_left(reached, share * reached[-1])]


FILE_PREFIXES = tuple(f"{name}:" for name in sorted(FILES))
"""How the refs of files begin."""
MAPS = ("layers", "cut", "left_out", "late", "failed", "warnings", "durations")


class CountKey(NamedTuple):
    """A day by UTC, an agent, and a team or none."""

    day: datetime.date
    agent_id: UUID
    team_id: UUID | None


@dataclass(slots=True)
class Tally:
    """Sums over contexts of one day, agent and team, by the names of the columns of `DayCount`."""

    contexts: int = 0
    repeats: int = 0
    tokens: int = 0
    budget: int = 0
    assembly_ms: int = 0
    considered: int = 0
    layers: Counter[str] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    durations: Counter[str] = field(default_factory=Counter)

    def add(self, assembly: Assembly, told: StoredAssembly) -> None:
        """One more context; `told` is what it holds, or what the one holds that it repeats."""
        self.contexts += 1
        self.repeats += assembly.decided_in is not None
        self.tokens += assembly.tokens
        self.budget += assembly.budget
        self.assembly_ms += assembly.assembly_ms
        self.durations[str(bound_of(assembly.assembly_ms))] += 1
        self.warnings.update(assembly.warnings)
        self._add_sections(told)
        self._add_decisions(told)
        if assembly.decided_in is None:
            self._add_sources(assembly)

    def _add_sections(self, told: StoredAssembly) -> None:
        for section in told.sections:
            if section.tokens:
                self.layers[section.layer] += section.tokens

    def _add_decisions(self, told: StoredAssembly) -> None:
        """An empty text is nothing that could have been told, so it is not counted as left out."""
        for decision in told.decisions:
            if decision.code == Code.EMPTY:
                continue
            self.considered += 1
            if not decision.included:
                self.left_out[decision.code.value] += 1
            elif decision.code == Code.TRUNCATED and decision.ref.startswith(FILE_PREFIXES):
                self.cut[without_version(decision.ref)] += 1

    def _add_sources(self, assembly: Assembly) -> None:
        """Those of the sources that were asked: a context that repeats another one asked none."""
        for report in assembly.sources:
            if report.get("code") == SourceCode.SOURCE_TIMEOUT:
                self.late[report["name"]] += 1
            elif report.get("code") == SourceCode.SOURCE_FAILED:
                self.failed[report["name"]] += 1


def count_key(assembly: Assembly) -> CountKey:
    """Under which day, agent and team a context counts."""
    return CountKey(assembly.created.astimezone(datetime.UTC).date(), assembly.agent_id, assembly.team_id)


COUNTING_LOCK = 7_152_001
"""Shared by those who count contexts as they come, held alone by who counts a day anew."""

MEMORY_REF_PREFIX = "memory:"
SUMS = ("contexts", "repeats", "tokens", "budget", "assembly_ms", "considered")
_ADDED = [f"{name} = context_counts.{name} + excluded.{name}" for name in SUMS]
_ADDED += [f"{name} = counts_added(context_counts.{name}, excluded.{name})" for name in MAPS]
_TYPES = [f"{name} bigint" for name in SUMS] + [f"{name} jsonb" for name in MAPS]
_NAMES = ", ".join(("day", "agent_id", "team_id", *SUMS, *MAPS))
_ROW = f"day date, agent_id uuid, team_id uuid, {', '.join(_TYPES)}"

# In one order for everybody, so that two who count at once cannot wait for each other in a circle.
ADD = f"""
INSERT INTO context_counts ({_NAMES})
SELECT {_NAMES} FROM jsonb_to_recordset(%(rows)s::jsonb) AS row ({_ROW}) ORDER BY day, agent_id, team_id
ON CONFLICT (day, agent_id, team_id) DO UPDATE SET {", ".join(_ADDED)}
"""  # noqa: S608 - only the constant names above are put in

MEMORY_USE_UPSERT_SQL = """
INSERT INTO memory_tellings (memory_id, told_on)
SELECT memory_id, told_on FROM jsonb_to_recordset(%(rows)s::jsonb) AS row (memory_id uuid, told_on date)
ORDER BY memory_id
ON CONFLICT (memory_id) DO UPDATE SET told_on = excluded.told_on WHERE memory_tellings.told_on < excluded.told_on
"""


class CountBatch:
    """What a batch of contexts adds to the counts. They are written at once, when all are in."""

    def __init__(self) -> None:
        self._tallies: dict[CountKey, Tally] = {}
        self._told_on: dict[str, datetime.date] = {}

    def add(self, assembly: Assembly, told: StoredAssembly) -> None:
        """One more context, with what it holds."""
        key = count_key(assembly)
        for counted in (key, CountKey(key.day, ORGANISATION, None)):
            self._tallies.setdefault(counted, Tally()).add(assembly, told)
        for decision in told.decisions:
            if decision.included and decision.ref.startswith(MEMORY_REF_PREFIX):
                id_ = Ref.parse(decision.ref).id
                self._told_on[id_] = max(key.day, self._told_on.get(id_, key.day))

    def write(self) -> None:
        """Two statements, however many contexts there were."""
        _write(ADD, [_row(key, tally) for key, tally in self._tallies.items()])
        _write(MEMORY_USE_UPSERT_SQL, [{"memory_id": id_, "told_on": str(day)} for id_, day in self._told_on.items()])


def counting_begin() -> CountBatch:
    """For contexts that come off the queue: who counts a whole day anew is waited for."""
    lock_until_commit(COUNTING_LOCK, shared=True)
    return CountBatch()


def _row(key: CountKey, tally: Tally) -> dict[str, Any]:
    return {
        "day": str(key.day),
        "agent_id": str(key.agent_id),
        "team_id": str(key.team_id) if key.team_id else None,
        **field_values(tally),
    }


def _write(statement: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        execute_sql(statement, {"rows": orjson.dumps(rows).decode()})
