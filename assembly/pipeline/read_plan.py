"""The read plan says what one assembly reads, in which order, and what several sources need first.

The preconditions come first: whether the agent works in the team, and the change counters of all owners. `GatherResult`
holds the outcome: the candidates, and a report on each source.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NoReturn
from uuid import UUID

from django.db import OperationalError
from msgspec import Struct

from agents.models import Agent, AgentFile
from assembly.engine.profile import Section
from assembly.engine.query_signals import MAX_NAMES, name_forms, parse_signals, possible_names
from assembly.engine.types import Candidate
from assembly.pipeline.reconciliations import KnownConflict, conflicts_statement, parse_conflicts
from assembly.pipeline.second_round import FINISHED, SecondRound
from assembly.records.change_counters import NO_OWNERS, ChangeCounts, counts_sql, owner_parameters
from assembly.sources.base import GatherContext, Need, SourceReport
from assembly.sources.entities import find_mentions
from assembly.sources.external.questions import EXTERNAL_SOURCE as EXTERNAL
from assembly.sources.readings import ReadWhen
from assembly.sources.search_reuse import SearchReuse
from assembly.sources.time_budget import ReadCost
from assembly.sources.withheld import counted_together, withheld_by_source, withheld_statement
from config.caching.cached_function import cached_function
from config.db.migration_helpers import ORGANISATION
from config.db.statements import Rows, Statement, run_together
from memories.services.task_stack import task_peek
from teams.models import Team
from teams.sensitivity import Clearances

PRECONDITIONS_SQL = """
SELECT {changes} AS changes,
    EXISTS (SELECT FROM agent_teams WHERE agent_id = %(agent)s AND team_id = %(team)s) AS in_team,
    (SELECT count(*) FROM agent_md_files WHERE agent_id = %(agent)s) AS files
"""


MIN_SECONDS_FOR_RULES = 0.5
"""Seconds that reading the rules may always take: without the rules, no text may be included."""
MAX_SECTIONS_BYTES, SECTION_BYTES = 2_000_000, 1_500
"""Bytes of memory for the cached sections of profiles, and approximately for one of them."""
BATCH_TIME_SHARE = 0.25
"""Share of the sources' time that the batch of statements may take; the rest is for reading them one by one."""


class NewSnapshot(Exception):
    """The present transaction cannot continue after an error; the remaining parts are read in a new one."""


@dataclass(frozen=True, slots=True)
class Preconditions:
    """Facts that must be known before any source is read."""

    changes: tuple[int, ...]
    """Change counter of each owner: see `assembly.records.change_counters`."""
    in_team: bool
    """Whether the agent works in the team."""
    has_files: bool
    """Whether all files of the agent exist."""


def preconditions_statement(agent: Agent, team: Team | None) -> Statement:
    """Return the statement that reads the preconditions; `parse_preconditions` takes its rows."""
    owners = counter_owners(agent, team)
    asked = {"agent": agent.id, "team": team.id if team else None, **owner_parameters(owners)}
    return Statement(PRECONDITIONS_SQL.format(changes=counts_sql(len(owners))), asked)


def counter_owners(agent: Agent, team: Team | None) -> list[UUID]:
    """Return the ids of the owners of the rows of a context: the agent, the team, the organisation."""
    return [agent.id, *([team.id] if team else []), ORGANISATION]


def parse_preconditions(rows: Rows) -> Preconditions:
    """Return the preconditions from the rows of their statement."""
    ((changes, in_team, files),) = rows
    return Preconditions(tuple(changes), in_team, files >= len(AgentFile.Key))


def load_preconditions(agent: Agent, team: Team | None) -> Preconditions:
    """Read the preconditions as they are now."""
    return parse_preconditions(*run_together([preconditions_statement(agent, team)]))


MIN_SECONDS_FOR_REQUIRED = 0.1
"""Seconds that a source of a required section may always take, so that a busy machine does not lose IDENTITY."""


class ReadStep(Struct, frozen=True, eq=False):
    """A read that is not a single statement, with the sources that fail if it fails."""

    sources: tuple[str, ...]
    read: Callable[[], None]
    least: float = 0.0
    """Seconds that the read may take even after the deadline."""


class BatchedQuery(Struct, frozen=True, eq=False):
    """A statement that may be sent together with others, with the sources that fail if it fails.

    `made` turns its rows into an immutable value that follows from rows, statement and profile alone. `take` gets this
    value and the time in ms when the statement was sent. `least` is the seconds that it may always take. `failed` is
    called if a statement without sources fails which a context can do without.
    """

    sources: tuple[str, ...]
    statement: Statement
    made: Callable[[Rows], Any]
    take: Callable[[Any, int], None]
    least: float = 0.0
    failed: Callable[[], None] | None = None

    def read(self, rows: Rows, asked: int) -> None:
        """Pass the value of these rows to `take`."""
        self.take(self.made(rows), asked)


def preconditions_query(agent: Agent, team: Team | None, take: Callable[[Preconditions, int], None]) -> BatchedQuery:
    """Return the query of the preconditions, which is the first one."""
    return BatchedQuery((), preconditions_statement(agent, team), parse_preconditions, take, MIN_SECONDS_FOR_RULES)


def conflicts_query(
    agent: Agent,
    team: Team | None,
    clearances: Clearances,
    take: Callable[[tuple[KnownConflict, ...] | None, int], None],
) -> BatchedQuery:
    """Return the query of the owners' known conflicts; if it fails, `take` gets None."""
    return BatchedQuery(
        (), conflicts_statement(agent, team, clearances), parse_conflicts, take, failed=lambda: take(None, 0)
    )


def withheld_queries(
    agent: Agent, team: Team | None, clearances: Clearances, take: Callable[[Mapping[str, int], int], None]
) -> Iterator[BatchedQuery]:
    """Yield the queries of how many items are above the clearances by source: one, unless tables are distributed.

    If one fails, `take` gets no counts.
    """
    for counted in counted_together():
        statement = withheld_statement(counted, agent, team, clearances)
        yield BatchedQuery((), statement, partial(withheld_by_source, counted), take, failed=lambda: take({}, 0))


def leading_batch(parts: Iterable[ReadStep | BatchedQuery]) -> Iterator[BatchedQuery]:
    """Yield the leading parts that may be sent together."""
    for part in parts:
        if not isinstance(part, BatchedQuery):
            return
        yield part


def raise_timeout() -> NoReturn:
    raise TimeoutError


def read_when(rows: ReadWhen, searches: SearchReuse | None) -> ReadWhen:
    """Return when all was read that takes long: the searches, and the rows, which were read at that time."""
    if searches and searches.made_now:
        return "now"
    return "earlier" if rows == "now" and searches and searches.made_earlier else rows


def first_read_error(error: Exception) -> Exception:
    """Return OperationalError for a timeout while reading the rules, and any other error unchanged."""
    return OperationalError("no time was left for the rules") if isinstance(error, TimeoutError) else error


def min_seconds_for(sections: Sequence[Section]) -> float:
    """Return the seconds that a source of these sections may always take."""
    return MIN_SECONDS_FOR_REQUIRED if any(section.required for section in sections) else 0.0


def enrich_with_task(gather_context: GatherContext) -> GatherContext:
    """Return the context for the sources with the current task; without a topic, the task's goal is the query."""
    task = task_peek(agent=gather_context.agent, session=gather_context.session)
    if task is None or gather_context.topic.strip():
        return replace(gather_context, task=task)
    goal = task.goal
    signals = parse_signals(goal)
    return replace(gather_context, task=task, topic=goal, signals=signals, goal_sensitivity=task.sensitivity)


def enrich_with_mentions(gather_context: GatherContext) -> GatherContext:
    """Return the context for the sources with the entities that the request or the query names."""
    given = [form for name in gather_context.entities for form in name_forms(" ".join(name.lower().split()))]
    names = [*dict.fromkeys(filter(None, [*given, *possible_names(gather_context.topic)]))][:MAX_NAMES]
    return replace(gather_context, mentioned=find_mentions(gather_context, names)) if names else gather_context


NEED_READERS: Mapping[Need, Callable[[GatherContext], GatherContext]] = {
    "task": enrich_with_task,
    "mentioned": enrich_with_mentions,
}
"""Functions that read what sources need, in order: a task may set the query in which entities are mentioned."""


@dataclass(frozen=True, slots=True)
class GatherResult:
    """The outcome of gathering: candidates, a report on each source, the context for the sources, the preconditions.

    The preconditions may come from the cache, from an earlier moment.
    """

    candidates: Sequence[Candidate]
    reports: Sequence[SourceReport]
    gather_context: GatherContext
    preconditions: Preconditions
    expected_counts: ChangeCounts = NO_OWNERS
    """Counters that the result depends on; writing the record fails if they have moved."""
    conflicts: tuple[KnownConflict, ...] | None = ()
    """The known conflicts of the owners; None if they could not be read in time."""
    read_when: ReadWhen = "now"
    cost: ReadCost = field(default_factory=ReadCost)
    second_round: SecondRound | None = None
    """The second round, which widened the candidates; None if none was needed."""

    @property
    def is_cacheable(self) -> bool:
        """Whether no source failed, none is external, and time did not decide about a second round, so that the answer
        may be cached.
        """
        reports = [*self.reports, *(self.second_round.reports if self.second_round else ())]
        is_whole = self.second_round is None or self.second_round.outcome in FINISHED
        return (
            is_whole
            and self.conflicts is not None
            and not any(report.code or report.name.startswith(EXTERNAL) for report in reports)
        )


def _sections_bytes(sections: tuple[Section, ...]) -> int:
    return SECTION_BYTES * (1 + len(sections))


@cached_function("sections", MAX_SECTIONS_BYTES, _sections_bytes)
def sections_by_source(sections: tuple[Section, ...]) -> Mapping[str, Sequence[Section]]:
    """Return the sections by source, in their order."""
    grouped: dict[str, list[Section]] = {}
    for section in sections:
        grouped.setdefault(section.source, []).append(section)
    return grouped
