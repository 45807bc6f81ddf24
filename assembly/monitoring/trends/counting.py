"""Contexts are counted by day in the transaction that takes them from the queue.

Durations are counted in buckets, so percentiles are exact to 10 %.
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
from assembly.engine.quality import ContextQuality
from assembly.engine.refs import Ref, without_version
from assembly.engine.types import field_values
from assembly.models import Assembly, FileLoss
from assembly.monitoring.trends.file_losses import file_losses_of, file_losses_store, lost_files
from assembly.records.reader import StoredAssembly
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
"""The upper bounds of the buckets in milliseconds: a duration is counted in the first bucket that contains it, or in
the last.
"""


def bound_of(ms: int) -> int:
    """Return the upper bound, in milliseconds, of the bucket of a duration."""
    return BOUNDS[min(bisect_left(BOUNDS, ms), len(BOUNDS) - 1)]


def percentile(counts: Mapping[int, int], share: float) -> int | None:
    """Return the milliseconds within which a share (above 0 to 1) of the durations is; None without durations."""
    if not counts:
        return None
    bounds = sorted(counts)
    reached = list(accumulate(counts[bound] for bound in bounds))
    return bounds[bisect_left(reached, share * reached[-1])]


MAPS = (
    *("layers", "cut", "left_out", "late", "failed", "warnings", "durations"),
    *("quality_sums", "quality_counts"),
)
THOUSANDTHS = 1_000


class CountKey(NamedTuple):
    """A UTC day, an agent, and a team or None."""

    day: datetime.date
    agent_id: UUID
    team_id: UUID | None


@dataclass(slots=True)
class Tally:
    """Sums over the contexts of a day, agent and team, by the column names of `DayCount`."""

    contexts: int = 0
    repeats: int = 0
    contexts_with_file_loss: int = 0
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
    quality_sums: Counter[str] = field(default_factory=Counter)
    quality_counts: Counter[str] = field(default_factory=Counter)

    def mean_quality(self, measure: str) -> float | None:
        """Return the mean of a measure of `ContextQuality`, 0 to 1; None if it is known of no context."""
        known = self.quality_counts[measure]
        return self.quality_sums[measure] / THOUSANDTHS / known if known else None

    def add(self, assembly: Assembly, told: StoredAssembly, quality: ContextQuality | None) -> None:
        """Add a context with its quality; `told` is its record, or that of the context that it repeats."""
        self.contexts += 1
        self.repeats += assembly.decided_in is not None
        self.tokens += assembly.tokens
        self.budget += assembly.budget
        self.assembly_ms += assembly.assembly_ms
        self.durations[str(bound_of(assembly.assembly_ms))] += 1
        self.warnings.update(assembly.warnings)
        self._add_sections(told)
        self._add_decisions(told)
        self._add_file_losses(told)
        self._add_quality(quality)
        if assembly.decided_in is None:
            self._add_sources(assembly)

    def _add_sections(self, told: StoredAssembly) -> None:
        for section in told.sections:
            if section.tokens:
                self.layers[section.layer] += section.tokens

    def _add_decisions(self, told: StoredAssembly) -> None:
        """Count the decisions. An empty text could not have been included, so it does not count as excluded."""
        for code, count in Counter([decision.code for decision in told.decisions]).items():
            if code is Code.EMPTY:
                continue
            self.considered += count
            if not code.included:
                self.left_out[code.value] += count

    def _add_file_losses(self, told: StoredAssembly) -> None:
        lost = {without_version(decision.ref) for decision in lost_files(told)}
        self.contexts_with_file_loss += bool(lost)
        self.cut.update(lost)

    def _add_quality(self, quality: ContextQuality | None) -> None:
        for name, measure in (field_values(quality) if quality else {}).items():
            if measure is not None:
                self.quality_sums[name] += round(measure * THOUSANDTHS)
                self.quality_counts[name] += 1

    def _add_sources(self, assembly: Assembly) -> None:
        """Count the sources that were read: a context that repeats another one read none."""
        for report in assembly.sources:
            if report.get("code") == SourceCode.SOURCE_TIMEOUT:
                self.late[report["name"]] += 1
            elif report.get("code") == SourceCode.SOURCE_FAILED:
                self.failed[report["name"]] += 1


def count_key(assembly: Assembly) -> CountKey:
    """Return the day, agent and team under which a context is counted."""
    return CountKey(assembly.created.astimezone(datetime.UTC).date(), assembly.agent_id, assembly.team_id)


COUNTING_LOCK = 7_152_001
"""The lock that counting holds shared, and recounting a day holds exclusively."""

MEMORY_REF_PREFIX = "memory:"
SUMS = ("contexts", "repeats", "contexts_with_file_loss", "tokens", "budget", "assembly_ms", "considered")
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
    """The counts of a batch of contexts, which are written together at the end."""

    def __init__(self) -> None:
        self._tallies: dict[CountKey, Tally] = {}
        self._told_on: dict[str, datetime.date] = {}
        self._losses: list[FileLoss] = []

    def add(self, assembly: Assembly, told: StoredAssembly, quality: ContextQuality | None) -> None:
        """Add a context with its record and its quality."""
        key = count_key(assembly)
        for counted in (key, CountKey(key.day, ORGANISATION, None)):
            self._tallies.setdefault(counted, Tally()).add(assembly, told, quality)
        self._losses += file_losses_of(assembly, told)
        for decision in told.decisions:
            if decision.included and decision.ref.startswith(MEMORY_REF_PREFIX):
                id_ = Ref.parse(decision.ref).id
                self._told_on[id_] = max(key.day, self._told_on.get(id_, key.day))

    def write(self) -> None:
        """Write the counts with three statements, however many contexts there were."""
        file_losses_store(self._losses)
        _write(ADD, [_row(key, tally) for key, tally in self._tallies.items()])
        _write(MEMORY_USE_UPSERT_SQL, [{"memory_id": id_, "told_on": str(day)} for id_, day in self._told_on.items()])


def counting_begin() -> CountBatch:
    """Return a batch for contexts from the queue, after waiting for a running recount."""
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
