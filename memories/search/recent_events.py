"""This module reads recent events: the newest of a session or agent, and highlights of the agent's other sessions.

It follows "Recent Events" of the seed "Context Assembly Specification", which leaves getSessionHighlights open.
"""

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from agents.models import Agent
from memories.lifecycle.tiered_text import json_sql
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

# Events without a task are useful in any task; other tasks' events are summed up by the results of those tasks.
EVENT_FILTER = """
    agent_id = %(agent)s AND sensitivity <= %(clearance)s AND tier IN ('hot', 'warm')
    AND (%(since)s::timestamptz IS NULL OR occurred_at > %(since)s)
    AND (%(types)s::text[] IS NULL OR type = ANY(%(types)s))
    AND (%(task)s::uuid IS NULL OR task_id IS NULL OR task_id = %(task)s)
"""

# The first "{}" is a further condition. Each part has an index of its own, so they are separate queries, not one OR.
NEWEST = f"(SELECT {SELECTED} FROM events WHERE {EVENT_FILTER} AND {{}} {NEWEST_FIRST} LIMIT %({{}})s)"  # noqa: S608

OF_SESSION = NEWEST.format("(%(session)s::uuid IS NULL OR session_id = %(session)s)", "limit")
OF_TASK = NEWEST.format("task_id = %(task)s", "limit")
OF_OTHER_SESSIONS = f"""
    (SELECT highlight.* FROM (
        SELECT id AS other FROM sessions WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
            AND id IS DISTINCT FROM %(session)s::uuid
        ORDER BY started_at DESC, id DESC LIMIT %(others)s
    ) AS others, LATERAL {
    NEWEST.format("session_id = other AND (type IN ('error', 'file_write') OR outcome <> '')", "highlights")
} AS highlight)
"""  # noqa: S608 - only the constants above are put in

# "{}" is the query of events. An event is left out where the newer ones reach the limit of characters already.
WITHIN_SIZE = f"""
    SELECT {COLUMNS} FROM (
        SELECT *, sum(size) OVER ({NEWEST_FIRST}) - size AS newer FROM ({{}}) AS found
    ) AS measured WHERE newer < %(characters)s {NEWEST_FIRST}
"""  # noqa: S608 - as above
RECENT = WITHIN_SIZE.format(f"{OF_SESSION} UNION {OF_TASK} UNION {OF_OTHER_SESSIONS}")
NEWEST_OF_TYPE = f"{WITHIN_SIZE.format(f'{OF_SESSION} UNION {OF_TASK}')} LIMIT %(limit)s"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """A filter of events by session, task, time and types; None: all. Events without a task match every task."""

    agent: Agent
    session: Session | None
    task: TaskFrame | None
    since: datetime.datetime | None
    types: Collection[str] | None

    def parameters(self) -> dict[str, Any]:
        return {
            "agent": self.agent.pk,
            "clearance": owner_clearance("agent_id", self.agent.pk),
            "session": self.session and self.session.pk,
            "task": self.task and self.task.pk,
            "since": self.since,
            "types": None if self.types is None else sorted(self.types),
            "characters": MOST_CHARACTERS,
        }


def recent_events(query: EventQuery, *, limit: int, highlights: int = HIGHLIGHTS) -> list[Event]:
    """Return the `limit` newest events of the session, as many of the task, and highlights of the last other sessions.

    The newest come first, each once, in one statement, until the contents of the newer ones reach MOST_CHARACTERS.
    """
    numbers = {"limit": limit, "others": OTHER_SESSIONS, "highlights": highlights}
    return list(Event.objects.raw(RECENT, query.parameters() | numbers))


def newest_events(query: EventQuery, *, limit: int) -> list[Event]:
    """Return the `limit` newest events of the session and of the task, newest first."""
    return list(Event.objects.raw(NEWEST_OF_TYPE, query.parameters() | {"limit": limit}))
