"""A person decides on a conflict, and undoes the decision; both are kept.

The memory that does not hold is superseded by the other one, or archived with the reason where it cannot be: the two
belong to different owners, or the other side is no memory. Texts of files, documents and entities stay as they are: as
long as the decision stands, contexts leave out the passage that does not hold if the side that holds is among their
candidates. A memory may also be rewritten so that it agrees with the other side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.models import Agent, AgentTeam
from assembly.conflicts.access import require_resolvable
from assembly.conflicts.find import remaining_contradiction
from assembly.conflicts.restoration import restore
from assembly.conflicts.sides import side_texts
from assembly.models import (
    Conflict,
    ConflictAction,
    ConflictDecision,
    ConflictResolution,
    ConflictStatus,
    GoneReason,
)
from assembly.monitoring.alerts.conflict_alerts import conflict_alerts_close
from assembly.monitoring.alerts.watch import alerts_lock
from config.http.errors import Conflict as ConflictError
from config.http.errors import Invalid
from config.invisible_characters import clean_text, is_blank
from memories.models import Memory
from memories.models.memory import MAX_REASON_CHARACTERS as MAX_RETIRED_CHARACTERS
from memories.services import facts_of, memory_update
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.models import Team
from teams.principal import Principal
from teams.secret_scanning.handling import RefusingOwner, storable_text
from teams.versioned_text.versioned_file import lock_row

Choice = Literal["left", "right", "both"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
EditedSide = Literal["left", "right"]
EDITS: Mapping[str, EditedSide] = {"edit_left": "left", "edit_right": "right"}
"""The decisions that rewrite a memory, and its side."""


class DecidedAlready(ConflictError):
    """Somebody has decided on the conflict."""

    title = "Decided already"


class NothingToUndo(ConflictError):
    """Nobody has decided on the conflict, or the decision was undone."""

    title = "There is no decision to undo"


class OutdatedConflict(ConflictError):
    """A text was changed or archived since the comparison, detection no longer finds the conflict, or the agent has
    left the team.
    """

    title = "The conflict is outdated"


@transaction.atomic
def conflict_resolve(*, conflict: Conflict, choice: Choice, reason: str = "", principal: Principal) -> Conflict:
    """Decide that the left text holds, the right one, or both, and return the conflict.

    Raises Forbidden where the principal may not change both sides, and Conflict where the conflict is not open, a side
    has another text than the one that was compared, a memory is archived or superseded, or no context can have both.
    """
    current, memories = _lock_waiting(conflict, principal)
    reason = _storable_reason(current, reason)
    effects: list[dict[str, Any]] = []
    if choice != "both":
        left, right = current.sides
        winner, loser = (left, right) if choice == "left" else (right, left)
        if memory := memories.get(loser.item):
            effects = [_retire(memory, memories.get(winner.item), reason, principal)]
    return _decide(current, ConflictResolution(choice), reason, effects, principal)


@transaction.atomic
def conflict_edit(
    *, conflict: Conflict, side: EditedSide, text: str, reason: str = "", principal: Principal
) -> Conflict:
    """Rewrite the memory on this side so that the texts agree, and return the conflict, which is then resolved.

    Raises Invalid for `text` where it is empty, unchanged, or still contradicts the other side, and for `choice` where
    the side is no memory; otherwise as `conflict_resolve` does.
    """
    current, memories = _lock_waiting(conflict, principal)
    reason = _storable_reason(current, reason)
    chosen, other = current.sides if side == "left" else current.sides[::-1]
    memory = memories.get(chosen.item)
    if memory is None:
        raise Invalid("choice", "Only a memory can be edited here. Edit the text on its own page.")
    if is_blank(text) or clean_text(text) == memory.text:
        raise Invalid("text", "Enter another text than before.")
    edited = memory_update(
        memory=memory,
        expected_version=memory.version,
        facts=replace(facts_of(memory), text=text),
        superseded_by=memory.superseded_by,
        note=reason[:MAX_RETIRED_CHARACTERS],
        principal=principal,
    )
    if cue := remaining_contradiction(edited, other):
        raise Invalid("text", f"The texts still contradict each other. {cue}")
    effects = [{"memory": str(edited.id), "version": edited.version, "change": "edited"}]
    return _decide(current, ConflictResolution.EDITED, reason, effects, principal)


@transaction.atomic
def conflict_undo(*, conflict: Conflict, principal: Principal) -> Conflict:
    """Undo the decision on a conflict, and return the conflict, which is open again.

    A memory that the decision superseded or archived has its status from before again, and one that it rewrote its
    text, unless somebody has changed the same since: `last_undo` tells. If a side has another text than the compared
    one afterwards, the conflict is gone. Raises Forbidden, and Conflict where nobody decided.
    """
    require_resolvable(principal, conflict)
    _lock_memories(conflict)
    current = lock_row(conflict)
    decision = current.decisions.filter(action=ConflictAction.RESOLVE).order_by("-created", "-id").first()
    if not current.resolution or decision is None:
        raise NothingToUndo("Nobody has decided on this conflict, or the decision was undone already.")
    undone = [restore(effect, principal).to_effect(effect) for effect in decision.effects]
    ConflictDecision.objects.create(
        conflict=current,
        action=ConflictAction.UNDO,
        resolution=current.resolution,
        effects=undone,
        by_ref=principal.ref,
        by_name=principal.name,
    )
    current.resolution, current.resolved_by, current.resolver_name = "", "", ""
    current.reason, current.resolved_at = "", None
    if current.status == ConflictStatus.RESOLVED:
        current.status = ConflictStatus.OPEN
        if decision.effects and not _is_current(current):
            current.close(GoneReason.TEXT_CHANGED)
    current.explain()
    current.save(force_update=True)
    _record(principal, ActivityAction.CONFLICT_REOPENED, current)
    return current


@transaction.atomic
def conflict_decision_store(
    *, conflict: Conflict, resolution: ConflictResolution, reason: str, principal: Principal
) -> Conflict:
    """Store a decision that was made elsewhere on a pair of texts, which is new here or open, and return the conflict.

    It is that of an archive, or that of somebody who separated memories. Both sides have the texts of the conflict, so
    one that was gone is there again. Memories stay as they are: they are as after the decision. Raises Forbidden, and
    Conflict if somebody has decided here.
    """
    alerts_lock()
    if conflict._state.adding:  # noqa: SLF001 - Django's documented attribute
        conflict.explain()
        conflict.save(force_insert=True)
    elif conflict.status == ConflictStatus.GONE:
        conflict.reopen()  # what a person decided counts, whatever detection finds
        conflict.save(update_fields=["status", "gone_because", "closed"])
    current = _lock_open(conflict, principal)
    return _decide(current, resolution, _storable_reason(current, reason), [], principal)


def _is_current(conflict: Conflict) -> bool:
    """Return whether both sides have the texts that were compared."""
    return all(side.is_current for side in side_texts([conflict])[conflict.id])


def _lock_waiting(conflict: Conflict, principal: Principal) -> tuple[Conflict, Mapping[UUID, Memory]]:
    """Lock the conflict and its memories, and return their newest states; the memories by id.

    Raises Forbidden, and Conflict where there is nothing to decide.
    """
    memories = _lock_memories(conflict)
    current = _lock_open(conflict, principal)
    if not _is_current(current):
        raise OutdatedConflict("One of the texts was changed since. It is compared anew within seconds; then reload.")
    if not all(memory.stands for memory in memories.values()):
        raise OutdatedConflict(
            "A memory of this conflict is archived or superseded, so there is nothing to decide. "
            "To decide nevertheless, restore that memory first."
        )
    if current.is_apart:
        raise OutdatedConflict(
            "The agent no longer works in the team of the other text, so no context has both, and there is nothing to "
            "decide. To decide nevertheless, add the agent to the team first."
        )
    return current, memories


def _lock_memories(conflict: Conflict) -> Mapping[UUID, Memory]:
    """Lock the memories among the sides, after the agent and the team, and return their newest states by id.

    They are locked in this order, and before their conflict, wherever memories are changed or deleted: otherwise two
    could wait for each other.
    """
    ids = [side.item for side in conflict.sides if side.kind == "memory"]
    if not ids:
        return {}
    for owner in (Agent(id=conflict.agent_id), Team(id=conflict.team_id)):
        if owner.pk:
            lock_row(owner)
    rows = Memory.objects.filter(id__in=ids).order_by("id").select_for_update(no_key=True)
    return {memory.id: memory for memory in rows}


def _lock_open(conflict: Conflict, principal: Principal) -> Conflict:
    """Lock the conflict and return its newest state. Raises Forbidden, and Conflict where it is not open."""
    require_resolvable(principal, conflict)
    alerts_lock()
    current = lock_row(conflict)
    if current.gone_because == GoneReason.NOT_FOUND:
        raise OutdatedConflict("Detection no longer finds this conflict. Reload the page.")
    if current.status == ConflictStatus.GONE:
        raise OutdatedConflict("One of the texts was changed since. Reload the page.")
    if not current.is_open:
        who = current.resolver_name or "Somebody"
        raise DecidedAlready(f"{who} decided already. Undo that decision first, to decide otherwise.")
    return current


def _retire(memory: Memory, by: Memory | None, reason: str, principal: Principal) -> dict[str, Any]:
    """Supersede the memory by the other one if they have one owner, or else archive it; return what changed."""
    may_succeed = by is not None and (by.agent_id, by.team_id) == (memory.agent_id, memory.team_id)
    because = f"Conflict: {reason}" if reason.strip() else "Conflict: another text holds"
    retired = memory_update(
        memory=memory,
        expected_version=memory.version,
        facts=facts_of(memory),
        superseded_by=by if may_succeed else None,
        retired_because="" if may_succeed else because[:MAX_RETIRED_CHARACTERS],
        note=because[:MAX_RETIRED_CHARACTERS],
        principal=principal,
    )
    return {
        "memory": str(retired.id),
        "version": retired.version,
        "change": "superseded" if may_succeed else "archived",
        "pinned": memory.pinned,
    }


def _storable_reason(conflict: Conflict, reason: str) -> str:
    """Return the reason as it is stored. Raises Invalid for one with a secret."""
    return storable_text(reason, conflict.agent or conflict.team or RefusingOwner(), "reason")


def _decide(
    conflict: Conflict,
    resolution: ConflictResolution,
    reason: str,
    effects: Sequence[Mapping[str, Any]],
    principal: Principal,
) -> Conflict:
    """Store the decision on the locked conflict."""
    conflict.status, conflict.resolution, conflict.reason = ConflictStatus.RESOLVED, resolution, reason
    conflict.resolved_by, conflict.resolver_name = principal.ref, principal.name
    conflict.resolved_at = timezone.now()
    conflict.explain()
    conflict.save(force_update=True)
    ConflictDecision.objects.create(
        conflict=conflict,
        action=ConflictAction.RESOLVE,
        resolution=resolution,
        reason=conflict.reason,
        effects=[dict(effect) for effect in effects],
        by_ref=principal.ref,
        by_name=principal.name,
    )
    _record(principal, ActivityAction.CONFLICT_RESOLVED, conflict)
    conflict_alerts_close(conflict)
    return conflict


def _record(principal: Principal, action: ActivityAction, conflict: Conflict) -> None:
    """Record the act for the admins of the conflict's team, or of its agent's teams."""
    ids = [conflict.team_id] if conflict.team_id else []
    if conflict.agent_id and not ids:
        ids = list(AgentTeam.objects.filter(agent_id=conflict.agent_id).values_list("team_id", flat=True))
    detail = {"id": str(conflict.id), "resolution": conflict.resolution}
    activity_record(principal, action, str(conflict.get_kind_display()), team_ids=ids, detail=detail)
