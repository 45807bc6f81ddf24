"""What the agent is working on: from the root of its task stack down to the current goal.

From "Stack-Aware Assembly" of the seed "Context Assembly Specification". A section is filled by its key: `task_root`,
`task_path`, `sibling_results`, `current_task`.
"""

from collections.abc import Sequence

from assembly.engine.item_formats import format_task
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import GatherContext, SourceResult
from memories.models import TaskFrame, TaskStatus
from memories.services.task_stack import task_path

SIBLING_LIMIT = 20
"""The newest completed frames beside the current one."""


def task_stack(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """The frames of each section in order, the root first; none without a current task."""
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
    """The frames by the key of their section. A root that is current itself is shown once, as the root."""
    path = task_path(agent=gather_context.agent, session=gather_context.session)
    return {
        "task_root": path[:1],
        "task_path": path[1:-1],
        "sibling_results": _completed_siblings(task, limit),
        "current_task": [] if len(path) == 1 and "task_root" in keys else path[-1:],
    }


def _completed_siblings(task: TaskFrame, limit: int) -> list[TaskFrame]:
    """The newest completed frames of the same parent, in the order they were made."""
    siblings = TaskFrame.objects.filter(
        agent=task.agent_id, session=task.session_id, parent=task.parent_id, status=TaskStatus.COMPLETE
    )
    return list(siblings.order_by("-created", "-id")[:limit])[::-1]


def _candidate(section: Section, frame: TaskFrame, position: int) -> Candidate:
    return Candidate(
        ref=frame.ref,
        section=section.key,
        text=format_task(goal=frame.goal, status=frame.status, result=frame.result),
        kind=frame.status,
        occurred_at=frame.updated,
        measures={"depth": float(frame.depth)},
        position=position,
    )
