"""The read plan says what one assembly reads, in which order, and what several sources need first.

It begins with the preconditions: whether the agent works in the team, and the change counters of all owners.
`GatherResult` holds what came of it: the candidates, and a report on each source.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn
from uuid import UUID

from django.db import OperationalError
from msgspec import Struct

from agents.models import Agent, AgentFile
from assembly.engine.profile import Section
from assembly.engine.query_signals import parse_signals, possible_names
from assembly.engine.types import Candidate
from assembly.records.change_counters import NO_OWNERS, ChangeCounts, counts_sql, owner_parameters
from assembly.sources.base import GatherContext, Need, SourceReport
from assembly.sources.entities import find_mentions
from assembly.sources.external.questions import EXTERNAL_SOURCE as EXTERNAL
from config.db.migration_helpers import ORGANISATION
from config.db.statements import Rows, Statement, run_together
from memories.services.task_stack import task_peek
from teams.models import Team

PRECONDITIONS_SQL = """
SELECT {changes} AS changes,
    EXISTS (SELECT FROM agent_teams WHERE agent_id = %(agent)s AND team_id = %(team)s) AS in_team,
    (SELECT count(*) FROM agent_md_files WHERE agent_id = %(agent)s) AS files
"""


@dataclass(frozen=True, slots=True)
class Preconditions:
    """What must be known before any source is read."""

    changes: tuple[int, ...]
    """How often the rows of each owner have changed: see `assembly.records.change_counters`."""
    in_team: bool
    """Whether the agent works in the team."""
    has_files: bool
    """Whether all its files are provisioned."""


def preconditions_statement(agent: Agent, team: Team | None) -> Statement:
    """Return the statement that reads the preconditions; `parse_preconditions` takes its rows."""
    owners = counter_owners(agent, team)
    asked = {"agent": agent.id, "team": team.id if team else None, **owner_parameters(owners)}
    return Statement(PRECONDITIONS_SQL.format(changes=counts_sql(len(owners))), asked)


def counter_owners(agent: Agent, team: Team | None) -> list[UUID]:
    """Return the ids of those whose rows a context of the agent is made of."""
    return [agent.id, *([team.id] if team else []), ORGANISATION]


def parse_preconditions(rows: Rows) -> Preconditions:
    """Return the preconditions that are in the rows."""
    ((changes, in_team, files),) = rows
    return Preconditions(tuple(changes), in_team, files >= len(AgentFile.Key))


def load_preconditions(agent: Agent, team: Team | None) -> Preconditions:
    """Read the preconditions as they are now."""
    return parse_preconditions(*run_together([preconditions_statement(agent, team)]))


MIN_SECONDS_FOR_REQUIRED = 0.1
"""Seconds, for a source of what is never cut: a busy machine is no reason to be silent about who the agent is."""


class ReadStep(Struct, frozen=True, eq=False):
    """Something to be read, and the sources that get nothing without it."""

    sources: tuple[str, ...]
    read: Callable[[], None]
    least: float = 0.0
    """Seconds that it may take in any case."""


class BatchedQuery(Struct, frozen=True, eq=False):
    """What one statement reads, which may be sent together with others.

    What `made` makes of the rows is immutable, and follows from them, the statement and the profile alone. `take` gets
    it, and when the statement was sent.
    """

    sources: tuple[str, ...]
    statement: Statement
    made: Callable[[Rows], Any]
    take: Callable[[Any, int], None]
    least: float = 0.0

    def read(self, rows: Rows, asked: int) -> None:
        """Take what these rows come to."""
        self.take(self.made(rows), asked)


def leading_batch(parts: Iterable[ReadStep | BatchedQuery]) -> Iterator[BatchedQuery]:
    """Those that come first and may be sent together."""
    for part in parts:
        if not isinstance(part, BatchedQuery):
            return
        yield part


def raise_timeout() -> NoReturn:
    raise TimeoutError


def first_read_error(error: Exception) -> Exception:
    """What is told of an error while reading what comes first: of a late one, that the database did not answer."""
    return OperationalError("no time was left for the rules") if isinstance(error, TimeoutError) else error


def min_seconds_for(sections: Sequence[Section]) -> float:
    """Seconds that a source may take in any case."""
    return MIN_SECONDS_FOR_REQUIRED if any(section.required for section in sections) else 0.0


def enrich_with_task(gather_context: GatherContext) -> GatherContext:
    """The situation with the current task. Where the topic is empty, the task's goal serves as the query."""
    task = task_peek(agent=gather_context.agent, session=gather_context.session)
    if task is None or gather_context.topic.strip():
        return replace(gather_context, task=task)
    goal = task.goal
    return replace(gather_context, task=task, topic=goal, signals=parse_signals(goal))


def enrich_with_mentions(gather_context: GatherContext) -> GatherContext:
    """The situation with the entities that the query names."""
    names = possible_names(gather_context.topic)
    return replace(gather_context, mentioned=find_mentions(gather_context, names)) if names else gather_context


NEED_READERS: Mapping[Need, Callable[[GatherContext], GatherContext]] = {
    "task": enrich_with_task,
    "mentioned": enrich_with_mentions,
}
"""In the order in which they are found: a task may bring the words in which entities are mentioned."""


@dataclass(frozen=True, slots=True)
class GatherResult:
    """The candidates of all sources, a report on each, the situation as the sources saw it, and the state of things
    that they saw, or an earlier one."""

    candidates: Sequence[Candidate]
    reports: Sequence[SourceReport]
    gather_context: GatherContext
    preconditions: Preconditions
    expected_counts: ChangeCounts = NO_OWNERS
    """What is still to be proved: it holds if this state is still there."""

    @property
    def is_cacheable(self) -> bool:
        """Whether it is whole, and of nothing but what the database counts the changes of."""
        return not any(report.code or report.name.startswith(EXTERNAL) for report in self.reports)
