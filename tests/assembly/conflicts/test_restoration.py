"""Undo restores the status or the text that a decision changed, and says what it did not restore, and why."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from agents.models import Agent
from assembly.conflicts.restoration import last_undo
from assembly.conflicts.services import Choice, EditedSide, conflict_edit, conflict_resolve, conflict_undo
from assembly.models import Conflict, ConflictDecision
from memories.models import Memory
from memories.services import MAX_PINNED, facts_of, memory_update
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, found_conflict, remember
from tests.client import Api

pytestmark = pytest.mark.django_db

CLOSED = "It is closed."


def change(memory: Memory, *, superseded_by: Memory | None = None, text: str = "", **status: Any) -> Memory:
    """Another version of the memory by somebody else, which stays superseded unless its status is given."""
    memory.refresh_from_db()
    facts = facts_of(memory)
    return memory_update(
        memory=memory,
        expected_version=memory.version,
        facts=replace(facts, text=text or facts.text, **{n: status.pop(n) for n in ("salience",) if n in status}),
        superseded_by=superseded_by,
        principal=SYSTEM,
        **status,
    )


def decided(agent: Agent, editor: User, owner: Agent | Team | None = None) -> tuple[Conflict, Memory, Memory]:
    """A conflict decided for the text with nine, the memory that holds, and the one that does not."""
    conflict = found_conflict(agent, owner or agent)
    holds: Choice = "left" if conflict.left_statement == NINETY else "right"
    conflict_resolve(conflict=conflict, choice=holds, principal=editor.principal)
    conflict.refresh_from_db()
    return conflict, Memory.objects.get(text=NINETY), Memory.objects.get(text=EIGHTY)


def edited(agent: Agent, editor: User) -> tuple[Conflict, Memory]:
    conflict = found_conflict(agent, agent)
    memory = Memory.objects.get(text=EIGHTY)
    side: EditedSide = "left" if conflict.left_statement == EIGHTY else "right"
    conflict_edit(conflict=conflict, side=side, text=NINETY, principal=editor.principal)
    conflict.refresh_from_db()
    return conflict, memory


def undone_by(editor: User, conflict: Conflict) -> tuple[bool, tuple[str, ...], str]:
    """Undo, and return what is said about the one memory."""
    [restoration] = last_undo(conflict_undo(conflict=conflict, principal=editor.principal)) or []
    return restoration.is_restored, restoration.notes, restoration.told


def test_a_version_with_the_same_text_and_status_hinders_no_undo(agent: Agent, editor: User) -> None:
    conflict, holds, loses = decided(agent, editor)
    change(loses, superseded_by=holds, salience=0.9)
    assert undone_by(editor, conflict) == (True, (), "The memory is restored.")
    loses.refresh_from_db()
    assert (loses.stands, loses.salience) == (True, 0.9)
    assert Conflict.objects.waiting().get() == conflict


def test_a_changed_text_stays_and_the_memory_is_restored_with_it(agent: Agent, editor: User) -> None:
    conflict, holds, loses = decided(agent, editor)
    change(loses, superseded_by=holds, text=CLOSED)
    done, notes, told = undone_by(editor, conflict)
    assert (done, notes) == (True, ("text_changed",))
    assert told == "The memory is restored. Its text was changed since the decision, and stays changed."
    loses.refresh_from_db()
    conflict.refresh_from_db()
    assert (loses.stands, loses.text) == (True, CLOSED)
    assert (conflict.status, conflict.gone_because) == ("gone", "text_changed")


def restored_by_hand(_holds: Memory, loses: Memory) -> None:
    change(loses)


def archived_anew(_holds: Memory, loses: Memory) -> None:
    change(loses, retired_because="wrong")


@pytest.mark.parametrize(
    ("meanwhile", "note", "told"),
    [(restored_by_hand, "already", "Somebody had restored the memory already."),
     (archived_anew, "status_changed",
      "The memory was archived or superseded anew since, so it is not restored.")],
)  # fmt: skip
def test_a_memory_whose_status_was_changed_is_left_as_it_is(
    agent: Agent, editor: User, meanwhile: Callable[[Memory, Memory], None], note: str, told: str
) -> None:
    conflict, holds, loses = decided(agent, editor)
    meanwhile(holds, loses)
    before = list(Memory.objects.order_by("id").values_list("version", "retired_because"))
    assert undone_by(editor, conflict) == (False, (note,), told)
    assert list(Memory.objects.order_by("id").values_list("version", "retired_because")) == before


def test_a_memory_that_is_not_found_is_not_restored(agent: Agent, editor: User) -> None:
    conflict = found_conflict(agent, agent)
    conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)
    effects = [{"memory": str(uuid4()), "version": 2, "change": "archived", "pinned": False}]
    ConflictDecision.objects.create(conflict=conflict, action="resolve", effects=effects, by_ref="system")
    assert undone_by(editor, conflict) == (
        False, ("not_found",), "The memory was not found, so it is not restored.",
    )  # fmt: skip


def test_a_pin_without_room_is_named(agent: Agent, editor: User) -> None:
    conflict = found_conflict(agent, agent)
    loses = change(Memory.objects.get(text=EIGHTY), pinned=True)
    holds: Choice = "left" if conflict.left_statement == NINETY else "right"
    conflict_resolve(conflict=conflict, choice=holds, principal=editor.principal)
    for number in range(MAX_PINNED):
        change(remember(agent, f"Shelf {number} is full."), pinned=True)
    done, notes, told = undone_by(editor, conflict)
    assert (done, notes) == (True, ("not_pinned",))
    assert "It is no longer pinned, because 20 others are." in told
    loses.refresh_from_db()
    assert (loses.stands, loses.pinned) == (True, False)


def test_an_edit_is_undone_after_a_version_with_the_same_text(agent: Agent, editor: User) -> None:
    conflict, memory = edited(agent, editor)
    change(memory, salience=0.9)
    assert undone_by(editor, conflict) == (True, (), "The edited memory has its text from before again.")
    memory.refresh_from_db()
    assert (memory.text, memory.salience) == (EIGHTY, 0.9)


def test_an_edit_that_was_edited_again_stays(agent: Agent, editor: User) -> None:
    conflict, memory = edited(agent, editor)
    change(memory, text=CLOSED)
    done, notes, told = undone_by(editor, conflict)
    assert (done, notes) == (False, ("text_changed",))
    assert told == "The edited memory was changed again since, so it keeps its text."
    memory.refresh_from_db()
    assert memory.text == CLOSED


def test_an_edited_memory_that_was_archived_stays_so(agent: Agent, editor: User) -> None:
    conflict, memory = edited(agent, editor)
    change(memory, retired_because="old")
    done, notes, told = undone_by(editor, conflict)
    assert (done, notes) == (True, ("status_changed",))
    assert "It is archived or superseded, and stays so." in told
    memory.refresh_from_db()
    assert (memory.text, memory.retired_because) == (EIGHTY, "old")


def test_an_undo_from_before_says_that_the_memory_was_restored(agent: Agent, editor: User) -> None:
    conflict, _holds, loses = decided(agent, editor)
    effects = [{"memory": str(loses.id), "version": 2, "change": "superseded", "pinned": False}]
    ConflictDecision.objects.create(conflict=conflict, action="undo", effects=effects, by_ref="system")
    [restoration] = last_undo(conflict) or []
    assert restoration.told == "The memory is restored."


def test_the_answer_says_what_became_of_the_memory(agent: Agent, editor: User) -> None:
    conflict, _holds, loses = decided(agent, editor)
    api = Api(person=editor.principal)
    assert api.get(f"conflicts/{conflict.id}").json()["undone"] is None
    change(loses, retired_because="wrong")
    answer = api.post(f"conflicts/{conflict.id}/undo").json()
    assert answer["undone"] == [
        {
            "memory": str(loses.id),
            "change": "superseded",
            "restored": False,
            "notes": ["status_changed"],
            "message": "The memory was archived or superseded anew since, so it is not restored.",
        }
    ]
    assert api.get(f"conflicts/{conflict.id}").json()["undone"] == answer["undone"]
