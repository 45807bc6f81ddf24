"""This source returns the agent's task stack, from its root down to the current goal.

It follows "Stack-Aware Assembly" of the seed "Context Assembly Specification". The key of a section says what it
contains: `task_root`, `task_path`, `sibling_results`, `current_task`.
"""

from collections.abc import Sequence

from assembly.engine.item_formats import format_task
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import GatherContext, SourceResult, origin_of
from memories.models import TaskFrame, TaskStatus
from memories.services.task_stack import task_path

ROOT = "task_root"
"""The key of the section with the goal of all the work, which is the goal even if the task is complete."""
SIBLING_LIMIT = 20
"""The number of newest completed siblings of the current task."""


def task_stack(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the tasks of each section in order, the root first; none without a current task."""
    task = gather_context.task
    if task is None:
        return SourceResult((), 0)
    limit = gather_context.raised(SIBLING_LIMIT)
    frames = _frames(gather_context, task, limit, {section.key for section in sections})
    candidates = [
        _candidate(section, frame, position)
        for section in sections
        for position, frame in enumerate(frames.get(section.key, []))
    ]
    return SourceResult(candidates, task.depth + 1 + limit)


def _frames(gather_context: GatherContext, task: TaskFrame, limit: int, keys: set[str]) -> dict[str, list[TaskFrame]]:
    """Return the tasks by the key of their section. A root that is also the current task appears once, as the root."""
    path = task_path(agent=gather_context.agent, session=gather_context.session)
    return {
        ROOT: path[:1],
        "task_path": path[1:-1],
        "sibling_results": _completed_siblings(task, limit),
        "current_task": [] if len(path) == 1 and ROOT in keys else path[-1:],
    }


def _completed_siblings(task: TaskFrame, limit: int) -> list[TaskFrame]:
    """Return the newest completed tasks with the same parent, in the order of their creation."""
    siblings = TaskFrame.objects.filter(
        agent=task.agent_id, session=task.session_id, parent=task.parent_id, status=TaskStatus.COMPLETE
    )
    return list(siblings.order_by("-created", "-id")[:limit])[::-1]


def _candidate(section: Section, frame: TaskFrame, position: int) -> Candidate:
    return Candidate(
        ref=frame.ref,
        section=section.key,
        text=frame.goal
        if section.key == ROOT
        else format_task(goal=frame.goal, status=frame.status, result=frame.result),
        kind=frame.status,
        occurred_at=frame.updated,
        measures={"depth": float(frame.depth)},
        position=position,
        origin=origin_of(frame),
        sensitivity=frame.sensitivity,
    )
