"""An undone decision restores the memory that it changed, as far as nobody has changed the same about it since."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from django.db.models import Q
from django.utils.translation import gettext as _

from assembly.models import Conflict, ConflictAction, ConflictDecision
from memories.models import Memory, MemoryVersion
from memories.services import MAX_PINNED, facts_of, memory_update
from teams.principal import Principal

Change = Literal["superseded", "archived", "edited"]
CHANGES: tuple[Change, ...] = get_args(Change)
Note = Literal["already", "not_found", "status_changed", "text_changed", "not_pinned"]
NOTES: tuple[Note, ...] = get_args(Note)
UNDONE = "The decision on a conflict was undone"


@dataclass(frozen=True, slots=True)
class Restoration:
    """An undone decision did this with a memory; the notes say what somebody changed since, so that it did no more.

    `change` is what the decision did: superseded, archived or edited. Undone are its status or its text, and nothing
    else about the memory.
    """

    memory: str
    change: Change
    is_restored: bool
    notes: tuple[Note, ...] = ()

    def to_effect(self, effect: Mapping[str, Any]) -> dict[str, Any]:
        """Return the effect of the decision with what became of it."""
        return {**effect, "restored": self.is_restored, "notes": list(self.notes)}

    @classmethod
    def from_effect(cls, effect: Mapping[str, Any]) -> "Restoration":
        """Return what an undone effect says; older ones are listed only if the memory was restored."""
        notes = cast("tuple[Note, ...]", tuple(effect.get("notes", ())))
        return cls(effect["memory"], effect["change"], effect.get("restored", True), notes)

    @property
    def told(self) -> str:
        """These sentences say what was restored, what was not, and why."""
        return " ".join([self._outcome(), *self._additions()])

    def _outcome(self) -> str:
        is_edit = self.change == "edited"
        if self.is_restored:
            return _("The edited memory has its text from before again.") if is_edit else _("The memory is restored.")
        if "not_found" in self.notes:
            return _("The memory was not found, so it is not restored.")
        if "already" in self.notes:
            return _("Somebody had restored the memory already.")
        if is_edit:
            return _("The edited memory was changed again since, so it keeps its text.")
        return _("The memory was archived or superseded anew since, so it is not restored.")

    def _additions(self) -> list[str]:
        if not self.is_restored:
            return []
        sentences: Mapping[str, str] = {
            "text_changed": _("Its text was changed since the decision, and stays changed."),
            "status_changed": _("It is archived or superseded, and stays so."),
            "not_pinned": _("It is no longer pinned, because %(n)s others are.") % {"n": MAX_PINNED},
        }
        return [sentence for note, sentence in sentences.items() if note in self.notes]


def restore(effect: Mapping[str, Any], principal: Principal) -> Restoration:
    """Restore the status or text of a memory that a decision changed, if it is still as the decision left it."""
    memory = Memory.objects.filter(id=effect["memory"]).first()
    left = MemoryVersion.everything.filter(file_id=effect["memory"], version=effect["version"]).first()
    if memory is None or left is None:
        return Restoration(effect["memory"], effect["change"], is_restored=False, notes=("not_found",))
    undo = _restore_text if effect["change"] == "edited" else _restore_status
    return undo(memory, left, effect, principal)


def _restore_text(memory: Memory, left: MemoryVersion, effect: Mapping[str, Any], principal: Principal) -> Restoration:
    before = MemoryVersion.everything.get(file=memory, version=left.version - 1)
    if memory.text != left.content:
        note: Note = "already" if memory.text == before.content else "text_changed"
        return Restoration(effect["memory"], effect["change"], is_restored=False, notes=(note,))
    memory_update(
        memory=memory,
        expected_version=memory.version,
        facts=replace(facts_of(memory), text=before.content),
        superseded_by=memory.superseded_by,
        note=UNDONE,
        principal=principal,
    )
    notes: tuple[Note, ...] = () if memory.stands else ("status_changed",)
    return Restoration(effect["memory"], effect["change"], is_restored=True, notes=notes)


def _restore_status(
    memory: Memory, left: MemoryVersion, effect: Mapping[str, Any], principal: Principal
) -> Restoration:
    if (memory.superseded_by_id, memory.retired_because) != (left.superseded_by, left.retired_because):
        note: Note = "already" if memory.stands else "status_changed"
        return Restoration(effect["memory"], effect["change"], is_restored=False, notes=(note,))
    pinned = bool(effect["pinned"]) and _has_room_for_pin(memory)
    memory_update(
        memory=memory,
        expected_version=memory.version,
        facts=facts_of(memory),
        superseded_by=None,
        retired_because="",
        pinned=pinned,
        note=UNDONE,
        principal=principal,
    )
    notes: list[Note] = ["text_changed"] if memory.text != left.content else []
    notes += ["not_pinned"] if effect["pinned"] and not pinned else []
    return Restoration(effect["memory"], effect["change"], is_restored=True, notes=tuple(notes))


def _has_room_for_pin(memory: Memory) -> bool:
    """Return whether the owner may pin one more memory, counting those that the reader may not read, too."""
    owner = {"agent_id": memory.agent_id} if memory.agent_id else {"team_id": memory.team_id}
    pinned = Memory.everything.filter(Q(**owner), pinned=True)
    return pinned.count() < MAX_PINNED


def last_undo(conflict: Conflict) -> list[Restoration] | None:
    """Return what became of each memory when the decision was undone; None if it was not, or somebody decided since."""
    newest = conflict.decisions.order_by("-created", "-id").first()
    return restorations_of(newest) if newest and newest.action == ConflictAction.UNDO else None


def restorations_of(decision: ConflictDecision) -> list[Restoration]:
    """Return what became of each memory in this undo; empty for a decision."""
    if decision.action != ConflictAction.UNDO:
        return []
    return [Restoration.from_effect(effect) for effect in decision.effects]
