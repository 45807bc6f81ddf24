"""The task stack of a session, or of the agent itself, can be pushed, popped and read (seed: Stack-Based Context).

The current frame is the active one with the greatest depth; of several, the newest.
"""

from typing import Any

from django.db import transaction

from agents.models import Agent
from config.db.statements import find_rows
from config.http.errors import Conflict
from memories.models import Session, TaskFrame, TaskStatus
from memories.services.agent_item import agent_item_update, agent_items_create
from memories.services.item_hooks import MAX_DEPTH, TOO_DEEP
from teams.principal import Principal
from teams.sensitivity import owner_clearance
from teams.versioned_text.versioned_file import lock_row

PATH = """
WITH RECURSIVE path AS (
    (SELECT * FROM task_frames
        WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
            AND session_id IS NOT DISTINCT FROM %(session)s AND status = 'active'
        ORDER BY depth DESC, created DESC, id DESC LIMIT 1)
    UNION
    SELECT parent.* FROM task_frames parent JOIN path ON parent.id = path.parent_id
    WHERE parent.sensitivity <= %(clearance)s
)
SELECT * FROM path ORDER BY depth
"""
# "{}" is the condition on the session, which decides which index serves.
CURRENT = """
WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s AND session_id {} AND status = 'active'
ORDER BY depth DESC, created DESC, id DESC LIMIT 1
"""


@transaction.atomic
def task_push(*, agent: Agent, session: Session | None, goal: str, principal: Principal) -> TaskFrame:
    """Push a new active frame below the current one, and return it. Raises Conflict where the stack is too deep."""
    lock_row(agent)  # concurrent pushes wait for each other
    current = task_peek(agent=agent, session=session)
    if current is not None and current.depth + 1 >= MAX_DEPTH:
        raise Conflict(TOO_DEEP)
    facts = {"goal": goal, "session": session, "parent": current}
    [frame] = agent_items_create(model=TaskFrame, agent=agent, facts=[facts], principal=principal)
    return frame


@transaction.atomic
def task_pop(*, agent: Agent, session: Session | None, result: str, principal: Principal) -> TaskFrame:
    """Complete the current frame with its result, and return it; its parent becomes current.

    Raises Conflict where the stack is empty.
    """
    lock_row(agent)
    current = task_peek(agent=agent, session=session)
    if current is None:
        raise Conflict("There is no active task on this stack, so there is nothing to pop. Push a goal first.")
    current = lock_row(current)  # it may have been changed since it was read
    changes = {"status": TaskStatus.COMPLETE, "result": result}
    return agent_item_update(thing=current, expected_version=current.version, changes=changes, principal=principal)


def task_peek(*, agent: Agent, session: Session | None) -> TaskFrame | None:
    """Return the current frame of the stack; None where the stack is empty."""
    clauses = CURRENT.format("= %(session)s" if session else "IS NULL")
    found = find_rows(TaskFrame, clauses, _parameters(agent, session))
    return found[0] if found else None


def task_path(*, agent: Agent, session: Session | None) -> list[TaskFrame]:
    """Return the frames from the root to the current one; an empty list where the stack is empty."""
    return list(TaskFrame.objects.raw(PATH, _parameters(agent, session)))


def _parameters(agent: Agent, session: Session | None) -> dict[str, Any]:
    return {
        "agent": agent.pk,
        "clearance": owner_clearance("agent_id", agent.pk),
        "session": session and session.pk,
    }
