"""This module reads task stacks as trees of goals, in a constant number of queries."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from agents.models import Agent
from memories.models import Session, TaskFrame
from teams.sensitivity import owner_clearance

MAX_FRAMES = 1_000

BELOW = """
WITH RECURSIVE below AS (
    SELECT * FROM task_frames WHERE parent_id = ANY(%(roots)s) AND sensitivity <= %(clearance)s
    UNION
    SELECT frame.* FROM task_frames frame JOIN below ON frame.parent_id = below.id
    WHERE frame.sensitivity <= %(clearance)s
)
SELECT * FROM below ORDER BY depth, created, id LIMIT %(most)s
"""
CURRENT = """
SELECT DISTINCT ON (session_id) id FROM task_frames
WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
    AND status = 'active' AND (session_id = ANY(%(sessions)s) OR session_id IS NULL)
ORDER BY session_id, depth DESC, created DESC, id DESC
"""


@dataclass(slots=True)
class GoalNode:
    """A task frame with its subgoals in `below`. `is_on_path` says that the current frame is the node or below it."""

    frame: TaskFrame
    below: list["GoalNode"] = field(default_factory=list)
    is_on_path: bool = False
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class GoalRow:
    """A goal in a flat list that is shown nested: whether a sublist begins below it, and how many sublists end after
    it.
    """

    goal: GoalNode
    opens: bool
    closes: range


@dataclass(frozen=True, slots=True)
class GoalStack:
    """The goals of a session or, where `session` is None, of the agent itself."""

    session: Session | None
    roots: list[GoalNode]

    @property
    def has_current(self) -> bool:
        """Whether one of the goals in the stack is the current one."""
        return any(root.is_on_path for root in self.roots)

    @property
    def rows(self) -> list[GoalRow]:
        """The goals from the top as flat rows, because stacks may be deeper than Django's templates can include
        themselves.
        """
        rows, waiting = [], [(root, 0) for root in reversed(self.roots)]
        while waiting:
            goal, ends = waiting.pop()
            rows.append(GoalRow(goal, bool(goal.below), range(0 if goal.below else ends)))
            # The last goal of a list ends this list and each outer list that ends with it.
            below = [(one, ends + 1 if one is goal.below[-1] else 0) for one in goal.below]
            waiting += reversed(below)
        return rows


def load_stacks(agent: Agent, roots: Sequence[TaskFrame]) -> list[GoalStack]:
    """Return the trees below the roots by session, in the order of the roots; at most MAX_FRAMES frames below them."""
    if not roots:
        return []
    clearance = owner_clearance("agent_id", agent.pk)
    goals = {frame.id: GoalNode(frame) for frame in (*roots, *_descendants(roots, clearance))}
    for goal in goals.values():
        parent = goals.get(goal.frame.parent_id) if goal.frame.parent_id else None
        if parent is not None:
            parent.below.append(goal)
    _mark_current(goals, _current_ids(agent, roots, clearance))
    by_session: dict[UUID | None, list[TaskFrame]] = defaultdict(list)
    for root in roots:
        by_session[root.session_id].append(root)
    return [GoalStack(frames[0].session, [goals[frame.id] for frame in frames]) for frames in by_session.values()]


def _descendants(roots: Sequence[TaskFrame], clearance: int) -> Iterable[TaskFrame]:
    parameters = {"roots": [root.id for root in roots], "clearance": clearance, "most": MAX_FRAMES}
    return TaskFrame.objects.raw(BELOW, parameters)


def _current_ids(agent: Agent, roots: Sequence[TaskFrame], clearance: int) -> list[UUID]:
    """Return the ids of the current frames in the sessions of the roots and on the agent's own stack."""
    sessions = list({root.session_id for root in roots if root.session_id})
    parameters = {"agent": agent.pk, "clearance": clearance, "sessions": sessions}
    return [frame.id for frame in TaskFrame.objects.raw(CURRENT, parameters)]


def _mark_current(goals: dict[UUID, GoalNode], current: Iterable[UUID]) -> None:
    for id_ in current:
        goal = goals.get(id_)
        if goal is not None:
            goal.is_current = True
        while goal is not None:
            goal.is_on_path = True
            goal = goals.get(goal.frame.parent_id) if goal.frame.parent_id else None
