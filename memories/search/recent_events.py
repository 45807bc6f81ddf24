"""The events of late: the newest of a session or of an agent, and the highlights of the agent's other sessions.

From "Recent Events" of the seed "Context Assembly Specification", which leaves getSessionHighlights open.
"""

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from agents.models import Agent
from memories.models import Event, Session, TaskFrame

OTHER_SESSIONS = 5
HIGHLIGHTS = 5
"""Of each other session: errors, file writes, and whatever has an outcome."""

MOST_CHARACTERS = 1_000_000
"""Of their contents together: more than fits the largest budget of a context."""

COLUMNS = "id, version, type, content, outcome, tool, size, occurred_at"
NEWEST_FIRST = "ORDER BY occurred_at DESC, id DESC"

# An event that belongs to no task is of use in any; those of other tasks are summed up by these tasks' results.
EVENT_FILTER = """
    agent_id = %(agent)s
    AND (%(since)s::timestamptz IS NULL OR occurred_at > %(since)s)
    AND (%(types)s::text[] IS NULL OR type = ANY(%(types)s))
    AND (%(task)s::uuid IS NULL OR task_id IS NULL OR task_id = %(task)s)
"""

# "{}" stands for what else is wanted; each part is found by an index of its own, so they are not one condition.
NEWEST = f"(SELECT {COLUMNS} FROM events WHERE {EVENT_FILTER} AND {{}} {NEWEST_FIRST} LIMIT %({{}})s)"  # noqa: S608

OF_SESSION = NEWEST.format("(%(session)s::uuid IS NULL OR session_id = %(session)s)", "limit")
OF_TASK = NEWEST.format("task_id = %(task)s", "limit")
OF_OTHER_SESSIONS = f"""
    (SELECT highlight.* FROM (
        SELECT id AS other FROM sessions WHERE agent_id = %(agent)s AND id IS DISTINCT FROM %(session)s::uuid
        ORDER BY started_at DESC, id DESC LIMIT %(others)s
    ) AS others, LATERAL {
    NEWEST.format("session_id = other AND (type IN ('error', 'file_write') OR outcome <> '')", "highlights")
} AS highlight)
"""  # noqa: S608 - only the constants above are put in

# "{}" stands for what was found; an event is left away where those that are newer have so many characters already.
WITHIN_SIZE = f"""
    SELECT {COLUMNS} FROM (
        SELECT *, sum(size) OVER ({NEWEST_FIRST}) - size AS newer FROM ({{}}) AS found
    ) AS measured WHERE newer < %(characters)s {NEWEST_FIRST}
"""  # noqa: S608 - as above
RECENT = WITHIN_SIZE.format(f"{OF_SESSION} UNION {OF_TASK} UNION {OF_OTHER_SESSIONS}")
NEWEST_OF_TYPE = f"{WITHIN_SIZE.format(f'{OF_SESSION} UNION {OF_TASK}')} LIMIT %(limit)s"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """Which events: of a session (None: of all), of a task or of none (None: of any), after a moment, of some types."""

    agent: Agent
    session: Session | None
    task: TaskFrame | None
    since: datetime.datetime | None
    types: Collection[str] | None

    def parameters(self) -> dict[str, Any]:
        return {
            "agent": self.agent.pk,
            "session": self.session and self.session.pk,
            "task": self.task and self.task.pk,
            "since": self.since,
            "types": None if self.types is None else sorted(self.types),
            "characters": MOST_CHARACTERS,
        }


def recent_events(query: EventQuery, *, limit: int, highlights: int = HIGHLIGHTS) -> list[Event]:
    """The `limit` newest of the session, as many of the task, and highlights of the last other sessions; newest first.

    In one statement, each event once, as long as those that are newer have less than MOST_CHARACTERS.
    """
    numbers = {"limit": limit, "others": OTHER_SESSIONS, "highlights": highlights}
    return list(Event.objects.raw(RECENT, query.parameters() | numbers))


def newest_events(query: EventQuery, *, limit: int) -> list[Event]:
    """The `limit` newest of the session and of the task, newest first."""
    return list(Event.objects.raw(NEWEST_OF_TYPE, query.parameters() | {"limit": limit}))
