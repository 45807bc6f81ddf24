"""After a memory was edited on the page of its conflict, a worker compares the new text with all that is near to it.

The request itself compared it by cues alone, because a language model would take 150 MB of each web process and a
second to load. What the worker finds between the new text and the other side is a conflict of its own, which is looked
up here.
"""

from dataclasses import dataclass
from uuid import UUID

from assembly.conflicts.find import FIND_CONFLICTS
from assembly.models import Conflict, ConflictAction, ConflictKind, ConflictResolution, UncomparedItem
from memories.models import Job, JobStatus
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class EditCheck:
    """Whether a worker has still to compare the new text, and the open conflict that it has with the other side."""

    is_pending: bool
    remaining: Conflict | None


def edit_check(conflict: Conflict, principal: Principal) -> EditCheck | None:
    """Return what the comparison of the edited memory found; None if no edit resolved the conflict.

    At most four queries; `remaining` is None if the principal may not see the conflict.
    """
    if conflict.resolution != ConflictResolution.EDITED:
        return None
    decision = conflict.decisions.filter(action=ConflictAction.RESOLVE).order_by("-created", "-id").first()
    if decision is None:
        return None
    [memory] = (UUID(effect["memory"]) for effect in decision.effects)
    # The other side has the text that was compared.
    other = "right_sha256" if memory == conflict.left_item else "left_sha256"
    between = Conflict.objects.visible_to(principal).filter(
        left_item=conflict.left_item, right_item=conflict.right_item, **{other: getattr(conflict, other)}
    )
    found = between.waiting().exclude(id=conflict.id).exclude(kind=ConflictKind.DUPLICATE)
    return EditCheck(_is_waiting(memory), found.order_by("-found", "-id").first())


def _is_waiting(memory: UUID) -> bool:
    """Return whether the memory was saved and is not compared yet."""
    jobs = Job.objects.filter(kind=FIND_CONFLICTS, status__in=[JobStatus.QUEUED, JobStatus.RUNNING])
    return (
        UncomparedItem.objects.filter(item=memory).exists()
        or jobs.filter(arguments__items__contains=[["memory", str(memory)]]).exists()
    )
