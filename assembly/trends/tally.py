"""What one context adds to the counts of its day. Pure: of values alone."""

import datetime
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from assembly.engine.codes import Code, SourceCode
from assembly.models import Assembly
from assembly.recorded import Recorded
from assembly.trends.durations import bound_of

FILES = ("agent_file:", "team_file:")
"""How the refs of files begin."""
MAPS = ("layers", "cut", "left_out", "late", "failed", "warnings", "durations")


class Key(NamedTuple):
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

    def add(self, assembly: Assembly, told: Recorded) -> None:
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

    def _add_sections(self, told: Recorded) -> None:
        for section in told.sections:
            if section.tokens:
                self.layers[section.layer] += section.tokens

    def _add_decisions(self, told: Recorded) -> None:
        """An empty text is nothing that could have been told, so it is not counted as left out."""
        for decision in told.decisions:
            if decision.code == Code.EMPTY:
                continue
            self.considered += 1
            if not decision.included:
                self.left_out[decision.code.value] += 1
            elif decision.code == Code.TRUNCATED and decision.ref.startswith(FILES):
                self.cut[named(decision.ref)] += 1

    def _add_sources(self, assembly: Assembly) -> None:
        """Those of the sources that were asked: a context that repeats another one asked none."""
        for report in assembly.sources:
            if report.get("code") == SourceCode.SOURCE_TIMEOUT:
                self.late[report["name"]] += 1
            elif report.get("code") == SourceCode.SOURCE_FAILED:
                self.failed[report["name"]] += 1


def named(ref: str) -> str:
    """The ref without its version: what it names, whichever version it is of."""
    return ref.rpartition("@")[0] or ref


def key_of(assembly: Assembly) -> Key:
    """Under which day, agent and team a context counts."""
    return Key(assembly.created.astimezone(datetime.UTC).date(), assembly.agent_id, assembly.team_id)
