"""People decide on conflicts, and undo it; only those who may change both sides, and outsiders see nothing."""

from dataclasses import replace
from typing import Literal

import pytest

from agents.models import Agent
from agents.services import agent_create
from assembly.conflicts.access import conflict_for, conflict_to_resolve
from assembly.conflicts.services import CHOICES, conflict_edit, conflict_resolve, conflict_undo
from assembly.conflicts.sides import side_texts
from assembly.models import Conflict, ConflictDecision
from config.http.errors import Conflict as ConflictError
from config.http.errors import Forbidden, Invalid, NotFound
from memories.embeddings.indexing import document_split
from memories.models import Memory
from memories.services import facts_of, memory_update
from memories.services.document import document_update, documents_create
from teams.activity.models import Activity
from teams.models import Team, User
from teams.principal import SYSTEM, Role
from teams.services import membership_set
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import (
    EIGHTY,
    NINETY,
    conflict_between,
    found_conflict,
    remember,
    run_jobs,
)

pytestmark = pytest.mark.django_db


def side_with(conflict: Conflict, text: str) -> Literal["left", "right"]:
    return "left" if conflict.left_statement == text else "right"


def test_the_memory_that_does_not_hold_is_superseded_and_undo_restores_it(agent: Agent, editor: User) -> None:
    conflict = found_conflict(agent, agent)
    loser, winner = agent.memories.get(text=EIGHTY), agent.memories.get(text=NINETY)
    loser = memory_update(
        memory=loser, expected_version=1, facts=facts_of(loser), superseded_by=None, pinned=True, principal=SYSTEM
    )
    resolved = conflict_resolve(
        conflict=conflict, choice=side_with(conflict, NINETY), reason="It is new.", principal=editor.principal
    )
    loser.refresh_from_db()
    assert (loser.superseded_by, loser.pinned, loser.version) == (winner, False, 3)
    assert loser.versions.get(version=3).note == "Conflict: It is new."
    assert (resolved.status, resolved.strategy, resolved.confidence) == ("resolved", "user_choice", 1.0)
    assert resolved.reasoning.startswith("Edda Editor decided on 20")
    assert (resolved.resolved_by, resolved.reason) == (editor.principal.ref, "It is new.")
    undone = conflict_undo(conflict=resolved, principal=editor.principal)
    loser.refresh_from_db()
    assert (loser.superseded_by, loser.pinned, loser.version) == (None, True, 4)
    assert (undone.status, undone.resolution, undone.strategy) == ("open", "", "flag")
    acts = ConflictDecision.objects.values_list("action", "resolution", "by_name")
    assert list(acts) == [
        ("resolve", resolved.resolution, "Edda Editor"),
        ("undo", resolved.resolution, "Edda Editor"),
    ]
    assert list(Activity.objects.order_by("created").values_list("action", flat=True))[-2:] == [
        "conflict.resolved",
        "conflict.reopened",
    ]


def test_a_memory_of_another_owner_is_archived_with_the_reason(agent: Agent, team: Team, editor: User) -> None:
    conflict = found_conflict(agent, team)
    resolved = conflict_resolve(conflict=conflict, choice=side_with(conflict, NINETY), principal=editor.principal)
    assert agent.memories.get().retired_because == "Conflict: another text holds"
    conflict_undo(conflict=resolved, principal=editor.principal)
    assert agent.memories.get().stands


def test_both_may_hold(agent: Agent, editor: User) -> None:
    conflict = found_conflict(agent, agent)
    resolved = conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)
    assert all(memory.stands for memory in agent.memories.all())
    assert resolved.resolution == "both"
    with pytest.raises(ConflictError, match="Edda Editor decided already"):
        conflict_resolve(conflict=conflict, choice="left", principal=editor.principal)
    conflict_undo(conflict=resolved, principal=editor.principal)
    with pytest.raises(ConflictError, match="undone already"):
        conflict_undo(conflict=resolved, principal=editor.principal)


def test_a_changed_text_is_not_decided_on_unseen(agent: Agent, editor: User) -> None:
    conflict = found_conflict(agent, agent)
    memory = agent.memories.get(text=EIGHTY)
    facts = facts_of(memory)
    memory_update(
        memory=memory, expected_version=1, facts=type(facts)(kind="fact", text="It is closed."), superseded_by=None,
        principal=SYSTEM,
    )  # fmt: skip
    with pytest.raises(ConflictError, match="changed since"):
        conflict_resolve(conflict=conflict, choice=side_with(conflict, NINETY), principal=editor.principal)
    run_jobs()
    with pytest.raises(ConflictError, match="changed since"):
        conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)


def test_a_file_that_was_corrected_meanwhile_is_compared_before_anybody_decides(
    agent: Agent, team: Team, editor: User
) -> None:
    memory = remember(agent, EIGHTY)
    file = file_save(file=team.files.get(file_key="GOALS"), content=NINETY, expected_version=1, author=SYSTEM.author)
    run_jobs()
    conflict = Conflict.objects.get()
    file_save(file=file, content=EIGHTY, expected_version=file.version, author=SYSTEM.author)
    assert [side.is_current for side in side_texts([conflict])[conflict.id]].count(False) == 1
    of_memory = side_with(conflict, EIGHTY)
    for choice in CHOICES:
        with pytest.raises(ConflictError, match="It is compared anew within seconds"):
            conflict_resolve(conflict=conflict, choice=choice, principal=editor.principal)
    with pytest.raises(ConflictError, match="changed since"):
        conflict_edit(conflict=conflict, side=of_memory, text=NINETY, principal=editor.principal)
    memory.refresh_from_db()
    assert (memory.stands, memory.text) == (True, EIGHTY)
    run_jobs()
    conflict.refresh_from_db()
    assert conflict.status == "gone"


def test_a_file_that_was_changed_elsewhere_is_decided_on_after_its_comparison(
    agent: Agent, team: Team, editor: User
) -> None:
    remember(agent, EIGHTY)
    file = file_save(file=team.files.get(file_key="GOALS"), content=NINETY, expected_version=1, author=SYSTEM.author)
    run_jobs()
    conflict = Conflict.objects.get()
    longer = f"# Garden\n\n{'The garden has roses and a pond. ' * 40}\n\n# Hours\n\n{NINETY}"
    file_save(file=file, content=f"{NINETY}\n\n{longer}", expected_version=file.version, author=SYSTEM.author)
    with pytest.raises(ConflictError, match="changed since"):
        conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)
    run_jobs()
    for open_conflict in Conflict.objects.waiting():
        conflict_resolve(conflict=open_conflict, choice="both", principal=editor.principal)
    assert Conflict.objects.filter(resolution="both").exists()


def test_a_document_that_was_corrected_meanwhile_is_compared_before_anybody_decides(agent: Agent, editor: User) -> None:
    remember(agent, EIGHTY)
    [document] = documents_create(agent=agent, facts=[{"path": "hours.md", "content": NINETY}], principal=SYSTEM)
    document_split(id_=document.id)
    run_jobs()
    conflict = Conflict.objects.get()
    document.refresh_from_db()
    document_update(thing=document, expected_version=1, changes={"content": EIGHTY}, principal=SYSTEM)
    with pytest.raises(ConflictError, match="changed since"):
        conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)


def archive(memory: Memory) -> None:
    """Archive it, as a colleague does on its own page."""
    memory_update(
        memory=memory, expected_version=1, facts=facts_of(memory), superseded_by=None, retired_because="old",
        principal=SYSTEM,
    )  # fmt: skip


@pytest.mark.parametrize("holds", [EIGHTY, NINETY])
def test_a_memory_that_was_archived_meanwhile_leaves_the_other_one_as_it_is(
    agent: Agent, editor: User, holds: str
) -> None:
    conflict = found_conflict(agent, agent)
    archive(agent.memories.get(text=NINETY))
    with pytest.raises(ConflictError, match="To decide nevertheless, restore that memory first"):
        conflict_resolve(conflict=conflict, choice=side_with(conflict, holds), principal=editor.principal)
    with pytest.raises(ConflictError, match="archived or superseded"):
        conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)
    side = side_with(conflict, EIGHTY)
    with pytest.raises(ConflictError, match="archived or superseded"):
        conflict_edit(conflict=conflict, side=side, text=NINETY, principal=editor.principal)
    assert [memory.text for memory in agent.memories.all() if memory.stands] == [EIGHTY]


def test_a_memory_that_lost_elsewhere_does_not_hold(agent: Agent, editor: User) -> None:
    eight, nine, ten = (remember(agent, f"The line opens at {hour}.") for hour in (8, 9, 10))
    first, second = conflict_between(eight, nine), conflict_between(nine, ten)
    conflict_resolve(conflict=first, choice="left", principal=editor.principal)
    with pytest.raises(ConflictError, match="archived or superseded"):
        conflict_resolve(conflict=second, choice="left", principal=editor.principal)
    assert {memory for memory in agent.memories.all() if memory.stands} == {eight, ten}


def test_undo_leaves_what_somebody_changed_since(agent: Agent, editor: User) -> None:
    conflict = found_conflict(agent, agent)
    resolved = conflict_resolve(conflict=conflict, choice=side_with(conflict, NINETY), principal=editor.principal)
    loser = agent.memories.get(text=EIGHTY)
    memory_update(
        memory=loser, expected_version=2, facts=facts_of(loser), superseded_by=None, retired_because="wrong",
        principal=SYSTEM,
    )  # fmt: skip
    conflict_undo(conflict=resolved, principal=editor.principal)
    loser.refresh_from_db()
    assert loser.retired_because == "wrong"


def test_a_side_is_edited_and_undo_brings_the_text_back(agent: Agent, editor: User) -> None:
    conflict = found_conflict(agent, agent)
    side = side_with(conflict, EIGHTY)
    edited = conflict_edit(conflict=conflict, side=side, text=NINETY, reason="New hours.", principal=editor.principal)
    assert {memory.text for memory in agent.memories.all()} == {NINETY}
    run_jobs()
    edited.refresh_from_db()
    assert (edited.status, edited.resolution, edited.resolver_name) == ("resolved", "edited", "Edda Editor")
    assert Conflict.objects.get(status="open").kind == "duplicate"
    conflict_undo(conflict=edited, principal=editor.principal)
    assert {memory.text for memory in agent.memories.all()} == {EIGHTY, NINETY}
    run_jobs()
    edited.refresh_from_db()
    assert (edited.status, edited.resolution) == ("open", "")


@pytest.mark.parametrize(
    ("text", "why"),
    [(" ", "another text"), ("\u200b", "another text"), (EIGHTY, "another text"),
     ("The support line opens at 7 in the morning.", "still contradict")],
)  # fmt: skip
def test_an_edit_that_settles_nothing_is_refused(agent: Agent, editor: User, text: str, why: str) -> None:
    conflict = found_conflict(agent, agent)
    with pytest.raises(Invalid, match=why):
        conflict_edit(conflict=conflict, side=side_with(conflict, EIGHTY), text=text, principal=editor.principal)
    assert {memory.version for memory in agent.memories.all()} == {1}
    conflict.refresh_from_db()
    assert conflict.is_open


def test_a_file_is_edited_in_its_editor_alone(agent: Agent, team: Team, editor: User) -> None:
    remember(agent, EIGHTY)
    file_save(file=team.files.get(file_key="GOALS"), content=NINETY, expected_version=1, author=SYSTEM.author)
    run_jobs()
    conflict = Conflict.objects.get()
    side = side_with(conflict, NINETY)
    with pytest.raises(Invalid, match="on its own page"):
        conflict_edit(conflict=conflict, side=side, text=EIGHTY, principal=editor.principal)
    conflict_edit(conflict=conflict, side=side_with(conflict, EIGHTY), text=NINETY, principal=editor.principal)
    assert Conflict.objects.get().resolution == "edited"


def test_undo_of_an_edit_leaves_what_somebody_changed_since(agent: Agent, editor: User) -> None:
    conflict = found_conflict(agent, agent)
    edited = conflict_edit(conflict=conflict, side=side_with(conflict, EIGHTY), text=NINETY, principal=editor.principal)
    memory = agent.memories.get(version=2)
    memory_update(
        memory=memory, expected_version=2, facts=replace(facts_of(memory), text="It is closed."), superseded_by=None,
        principal=SYSTEM,
    )  # fmt: skip
    undone = conflict_undo(conflict=edited, principal=editor.principal)
    memory.refresh_from_db()
    assert (memory.text, undone.status, undone.resolution) == ("It is closed.", "gone", "")


@pytest.fixture
def people(editor: User, admin: User, teammate: User, outsider: User) -> tuple[User, User, User, User]:
    return editor, admin, teammate, outsider


def test_who_reads_both_sides_sees_it_and_who_writes_both_decides(
    agent: Agent, team: Team, people: tuple[User, User, User, User]
) -> None:
    conflict = found_conflict(agent, team)
    editor, admin, teammate, outsider = people
    assert conflict_to_resolve(editor.principal, conflict.id) == conflict
    assert conflict_to_resolve(admin.principal, conflict.id) == conflict
    assert conflict_for(teammate.principal, conflict.id) == conflict
    with pytest.raises(Forbidden):
        conflict_to_resolve(teammate.principal, conflict.id)
    with pytest.raises(Forbidden):
        conflict_resolve(conflict=conflict, choice="both", principal=teammate.principal)
    with pytest.raises(Forbidden):
        conflict_undo(conflict=conflict, principal=teammate.principal)
    with pytest.raises(NotFound):
        conflict_for(outsider.principal, conflict.id)


def test_an_admin_of_one_team_who_reads_the_other_may_see_and_not_decide(mixed: User) -> None:
    here, elsewhere = Team.objects.get(slug="admin-here"), Team.objects.get(slug="viewer-elsewhere")
    both = agent_create(slug="both", name="Both", teams=[here, elsewhere])
    conflict = found_conflict(both, elsewhere)
    assert conflict_for(mixed.principal, conflict.id) == conflict
    with pytest.raises(Forbidden):
        conflict_to_resolve(mixed.principal, conflict.id)
    own = Conflict.objects.filter(team=here)
    remember(here, "The support line opens at 11 in the morning.")
    run_jobs()
    assert conflict_to_resolve(mixed.principal, own.get().id)
    stranger = User.objects.create_user("stranger")
    membership_set(team=here, user=stranger, role=Role.ADMIN)
    with pytest.raises(NotFound):
        conflict_for(stranger.principal, conflict.id)
