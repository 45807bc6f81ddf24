"""Task frames: their place in the tree of goals."""

from collections.abc import Iterator, Mapping
from uuid import UUID

from memories.models import TaskFrame
from memories.services.flaws import Flaw
from memories.services.preparation import prepares

MAX_DEPTH = 100
TOO_DEEP = f"Goals are nested at most {MAX_DEPTH} deep. Pop what is done, or begin a new stack."


@prepares(TaskFrame)
def prepare_tasks(frames: Mapping[int, TaskFrame]) -> Iterator[Flaw]:
    """A frame is one deeper than its parent, in the same session."""
    parents = _parents(frames)
    for place, frame in frames.items():
        parent = parents.get(frame.parent_id)
        if parent is None:  # a root; or named but not there, which is a flaw already
            continue
        frame.depth = parent.depth + 1
        if frame.session_id is None:
            frame.session_id = parent.session_id
        if frame.session_id != parent.session_id:
            yield Flaw(place, "session", "A task belongs to the session of its parent. Name that one, or none.")
        if frame.depth >= MAX_DEPTH:
            yield Flaw(place, "parent", TOO_DEEP)


def _parents(frames: Mapping[int, TaskFrame]) -> dict[UUID | None, TaskFrame]:
    """The parents that are there, by their ids; those of other agents are not."""
    named = {frame.parent_id for frame in frames.values() if frame.parent_id is not None}
    agents = {frame.agent_id for frame in frames.values()}
    found = TaskFrame.objects.filter(agent__in=agents, id__in=named) if named else TaskFrame.objects.none()
    return {parent.id: parent for parent in found}
