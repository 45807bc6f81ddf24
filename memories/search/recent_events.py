"""This module reads recent events: the newest of a session or agent, and highlights of the agent's other sessions.

It follows "Recent Events" of the seed "Context Assembly Specification", which leaves getSessionHighlights open.
"""

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from agents.models import Agent
from config.db.statements import Statement, run_statement
from memories.lifecycle.tiered_text import json_sql, read_json
from memories.models import Event, Session, TaskFrame
from teams.sensitivity import owner_clearance

OTHER_SESSIONS = 5
HIGHLIGHTS = 5
"""The number of highlights of each other session: errors, file writes, and events with an outcome."""

MOST_CHARACTERS = 1_000_000
"""The limit of the total length of the events' contents: more than the largest budget of a context."""

COLUMNS = "id, version, type, content, outcome, tool, size, occurred_at, origin, sensitivity"
SELECTED = COLUMNS.replace("content", f"{json_sql('events', 'content')} AS content")
NEWEST_FIRST = "ORDER BY occurred_at DESC, id DESC"

# Conditions by the parameter that they need: a statement has those that apply, so that one plan serves all values.
# Events without a task are useful in any task; other tasks' events are summed up by the results of those tasks.
CONDITIONS = {
    "agent": "agent_id = %(agent)s AND sensitivity <= %(clearance)s AND tier IN ('hot', 'warm')",
    "since": "occurred_at > %(since)s",
    "types": "type = ANY(%(types)s::text[])",
    "task": "(task_id IS NULL OR task_id = %(task)s)",
}
NEWEST = f"(SELECT {SELECTED} FROM events WHERE {{where}} {NEWEST_FIRST} LIMIT %({{limit}})s)"  # noqa: S608

OF_SESSION, OF_TASK = "session_id = %(session)s", "task_id = %(task)s"
HIGHLIGHT = "session_id = other AND (type IN ('error', 'file_write') OR outcome <> '')"
OF_OTHER_SESSIONS = """
    (SELECT highlight.* FROM (
        SELECT id AS other FROM sessions WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
            AND id IS DISTINCT FROM %(session)s::uuid
        ORDER BY started_at DESC, id DESC LIMIT %(others)s
    ) AS others, LATERAL {} AS highlight)
"""

# "{}" is the query of events. An event is left out where the newer ones reach the limit of characters already.
WITHIN_SIZE = f"""
    SELECT {COLUMNS} FROM (
        SELECT *, sum(size) OVER ({NEWEST_FIRST}) - size AS newer FROM ({{}}) AS found
    ) AS measured WHERE newer < %(characters)s {NEWEST_FIRST}
"""  # noqa: S608 - only the constants above are put in


class FoundEvent(NamedTuple):
    """An event with the columns that contexts need; its content is as it was written."""

    id: UUID
    version: int
    type: str
    content: Any
    outcome: str
    tool: str
    size: int
    occurred_at: datetime.datetime
    origin: str
    sensitivity: int

    @property
    def ref(self) -> str:
        return Event.ref_of(self.id, self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """A filter of events by session, task, time and types; None: all. Events without a task match every task."""

    agent: Agent
    session: Session | None
    task: TaskFrame | None
    since: datetime.datetime | None
    types: Collection[str] | None

    @property
    def parameters(self) -> dict[str, Any]:
        """The SQL parameters of the filter; those without a value are not among them, nor in its conditions."""
        values = {
            "agent": self.agent.pk,
            "clearance": owner_clearance("agent_id", self.agent.pk),
            "session": self.session and self.session.pk,
            "task": self.task and self.task.pk,
            "since": self.since,
            "types": None if self.types is None else sorted(self.types),
        }
        return {name: value for name, value in values.items() if value is not None}

    def newest(self, limit: str, *conditions: str) -> str:
        """Return SQL for the newest events that meet the conditions; `limit` is the parameter with their number."""
        own = [condition for name, condition in CONDITIONS.items() if getattr(self, name) is not None]
        return NEWEST.format(where=" AND ".join([*own, *conditions]), limit=limit)

    def of_session_and_task(self) -> list[str]:
        """Return SQL for the newest events of the session, and of the task; each has an index of its own."""
        of_session = self.newest("limit", *([OF_SESSION] if self.session else []))
        return [of_session, *([self.newest("limit", OF_TASK)] if self.task else [])]


def recent_events(query: EventQuery, *, limit: int, highlights: int = HIGHLIGHTS) -> list[FoundEvent]:
    """Return the `limit` newest events of the session, as many of the task, and highlights of the last other sessions.

    The newest come first, each once, in one statement, until the contents of the newer ones reach MOST_CHARACTERS.
    """
    others = OF_OTHER_SESSIONS.format(query.newest("highlights", HIGHLIGHT))
    sql = WITHIN_SIZE.format(" UNION ".join([*query.of_session_and_task(), others]))
    numbers = {"limit": limit, "others": OTHER_SESSIONS, "highlights": highlights}
    return _found_events(sql, {"session": None, **query.parameters, **numbers})


def newest_events(query: EventQuery, *, limit: int) -> list[FoundEvent]:
    """Return the `limit` newest events of the session and of the task, newest first."""
    sql = f"{WITHIN_SIZE.format(' UNION '.join(query.of_session_and_task()))} LIMIT %(limit)s"
    return _found_events(sql, {**query.parameters, "limit": limit})


def _found_events(sql: str, parameters: dict[str, Any]) -> list[FoundEvent]:
    rows = run_statement(Statement(sql, {**parameters, "characters": MOST_CHARACTERS}))
    found = [FoundEvent(*row) for row in rows]
    return [event._replace(content=read_json(event.content)) for event in found]
