"""Conflicts are found after a write, in the background, and are gone when a text changes."""

from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, AgentFile
from agents.services import agent_create, agent_delete
from assembly.conflicts import nearest_texts
from assembly.conflicts.compared_texts import ComparedText
from assembly.conflicts.find import noted_conflicts_find
from assembly.conflicts.services import conflict_resolve
from assembly.models import Conflict, ConflictDecision, UncomparedItem
from memories.embeddings.indexing import document_split
from memories.models import Entity, Job
from memories.services import (
    agent_item_delete,
    agent_item_update,
    agent_items_create,
    facts_of,
    memories_create,
    memory_delete,
    memory_update,
)
from memories.services.document import documents_create
from memories.services.memory import MemoryFacts
from teams.models import Team
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.services import team_create
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, found_conflict, remember, run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def team(db: None) -> Team:
    return team_create(slug="care", name="Care")


@pytest.fixture
def agent(team: Team) -> Agent:
    return agent_create(slug="ada", name="Ada", teams=[team])


def save(file: Any, content: str) -> None:
    file.refresh_from_db()
    file_save(file=file, content=content, expected_version=file.version, author=SYSTEM.author)


def test_a_write_only_notes_the_item_by_one_statement(agent: Agent) -> None:
    remember(agent, "Tea is served at noon.")
    with CaptureQueriesContext(connection) as seen:
        memories_create(
            owner=agent, facts=[MemoryFacts(kind="fact", text=text) for text in (EIGHTY, NINETY)], principal=SYSTEM
        )
    assert sum("uncompared_items" in query["sql"] for query in seen.captured_queries) == 1
    assert not any("conflicts" in query["sql"] for query in seen.captured_queries)
    assert UncomparedItem.objects.count() == 3
    assert run_jobs() == 1, "one job for all of them"
    assert not UncomparedItem.objects.exists()
    conflict = Conflict.objects.get()
    assert (conflict.kind, conflict.status, conflict.agent, conflict.team) == ("time", "open", agent, None)
    assert (conflict.strategy, conflict.confidence) == ("flag", 0.6)
    assert conflict.reasoning == "Major conflicts require human review"
    assert {conflict.left_statement, conflict.right_statement} == {EIGHTY, NINETY}
    assert conflict.left_item < conflict.right_item
    assert run_jobs() == 0


def test_a_pair_is_found_once_from_both_of_its_sides(agent: Agent) -> None:
    conflict = found_conflict(agent, agent)
    call_command("find_conflicts", verbosity=0)
    assert run_jobs() >= 1
    assert Conflict.objects.get() == conflict


def test_equal_texts_are_duplicates(agent: Agent, team: Team) -> None:
    remember(agent, EIGHTY)
    remember(team, EIGHTY)
    run_jobs()
    conflict = Conflict.objects.get()
    assert (conflict.kind, conflict.strategy, conflict.confidence) == ("duplicate", "merge", 1.0)
    assert (conflict.agent, conflict.team) == (agent, team)


@pytest.mark.parametrize("first", ["memory", "file"])
@pytest.mark.parametrize("of", ["agent", "team", "organisation"])
def test_files_and_memories_are_compared_whichever_was_written_first(
    agent: Agent, team: Team, first: str, of: str
) -> None:
    def write_file() -> None:
        if of == "organisation":
            organisation_file_create(key="hours", title="Hours", content=NINETY, principal=SYSTEM)
        elif of == "team":
            save(team.files.get(file_key="CONTEXT"), NINETY)
        else:
            save(AgentFile.objects.get(agent=agent, file_key="KNOWLEDGE"), NINETY)

    writes = [lambda: remember(agent, EIGHTY), write_file]
    for write in writes if first == "memory" else reversed(writes):
        write()
        run_jobs()
    conflict = Conflict.objects.get()
    assert conflict.agent == agent
    assert conflict.team == (team if of == "team" else None)
    assert conflict.of_organisation == (of == "organisation")
    assert {side.kind for side in conflict.sides} == {"memory", f"{of}_file"}


GUIDE = f"""## Working at the desk

Whoever is new sits beside Marta for two weeks, listens to calls and writes down what surprises them. Headsets are in
the lower drawer; the blue ones belong to the night shift, and nobody borrows them without a word.

- Refunds of more than 200 euros are signed by two people, and the form goes to accounting on the same day.
- {NINETY}
- The kitchen is shared with the architects, who are quiet people and like the dishwasher emptied by noon.
- Parking spaces 12 to 16 are for couriers. Bicycles stand in the yard, never in the stairwell."""
"""A passage of which one line contradicts EIGHTY."""


@pytest.mark.parametrize("first", ["memory", "passage"])
@pytest.mark.parametrize("kind", ["team_file", "document", "long_memory"])
def test_a_line_of_a_passage_is_found_though_the_passage_is_about_something_else(
    agent: Agent, team: Team, kind: str, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest_texts, "NEAREST", 0)

    def write() -> None:
        if kind == "document":
            [item] = documents_create(agent=agent, facts=[{"path": "desk.md", "content": GUIDE}], principal=SYSTEM)
            document_split(id_=item.id)
        elif kind == "team_file":
            save(team.files.get(file_key="CONTEXT"), GUIDE)
        else:
            remember(team, GUIDE)

    writes = [lambda: remember(agent, EIGHTY), write]
    for one in writes if first == "memory" else reversed(writes):
        one()
        run_jobs()
    conflict = Conflict.objects.get()
    assert {conflict.left_statement, conflict.right_statement} == {EIGHTY, NINETY}
    assert conflict.similarity < 0.5


def test_documents_and_entities_are_compared_and_code_is_not(agent: Agent) -> None:
    remember(agent, EIGHTY)
    prose, code = documents_create(
        agent=agent,
        facts=[{"path": "hours.md", "content": NINETY}, {"path": "hours.py", "content": f"# {NINETY}"}],
        principal=SYSTEM,
    )
    for document in (prose, code):
        document_split(id_=document.id)
    run_jobs()
    assert {side.item for conflict in Conflict.objects.all() for side in conflict.sides} >= {prose.id}
    assert not Conflict.objects.about([code.id]).exists()
    (entity,) = agent_items_create(
        model=Entity,
        agent=agent,
        facts=[{"type": "thing", "name": "The support line", "properties": {"opens at in the morning": 10}}],
        principal=SYSTEM,
    )
    assert UncomparedItem.objects.get().item == entity.id
    run_jobs()
    agent_item_update(thing=entity, expected_version=1, changes={"salience": 0.9}, principal=SYSTEM)
    assert not UncomparedItem.objects.exists(), "contexts say the same"
    agent_item_delete(thing=entity, principal=SYSTEM)
    assert not Conflict.objects.about([entity.id]).exists()


def test_agents_of_other_teams_are_not_compared(agent: Agent, team: Team) -> None:
    far = team_create(slug="far", name="Far")
    stranger = agent_create(slug="eve", name="Eve", teams=[far])
    colleague = agent_create(slug="bob", name="Bob", teams=[team])
    remember(agent, EIGHTY)
    for other in (far, stranger, colleague):
        remember(other, NINETY)
    run_jobs()
    conflict = Conflict.objects.get()
    assert (conflict.kind, conflict.agent, conflict.team) == ("duplicate", stranger, far)


def test_another_text_closes_a_conflict_and_the_same_text_opens_it_again(agent: Agent) -> None:
    conflict = found_conflict(agent, agent)
    memory = agent.memories.get(text=EIGHTY)
    memory = memory_update(
        memory=memory, expected_version=1, facts=MemoryFacts(kind="fact", text="Nobody answers the support line."),
        superseded_by=None, principal=SYSTEM,
    )  # fmt: skip
    run_jobs()
    conflict.refresh_from_db()
    assert conflict.status == "gone"
    assert conflict.closed
    memory_update(
        memory=memory, expected_version=2, facts=MemoryFacts(kind="fact", text=EIGHTY), superseded_by=None,
        principal=SYSTEM,
    )  # fmt: skip
    run_jobs()
    conflict = Conflict.objects.get()
    assert (conflict.status, conflict.closed) == ("open", None)
    assert {conflict.left_ref, conflict.right_ref} >= {f"memory:{memory.id}@3"}


def test_a_decision_holds_when_the_pair_is_found_again(agent: Agent) -> None:
    file = AgentFile.objects.get(agent=agent, file_key="KNOWLEDGE")
    remember(agent, EIGHTY)
    save(file, NINETY)
    run_jobs()
    conflict_resolve(conflict=Conflict.objects.get(), choice="both", principal=SYSTEM)
    save(file, "Something else entirely.")
    run_jobs()
    assert Conflict.objects.get().status == "gone"
    save(file, NINETY)
    run_jobs()
    conflict = Conflict.objects.get()
    assert (conflict.status, conflict.resolution, conflict.strategy) == ("resolved", "both", "user_choice")
    assert f"agent_file:{file.id}@4#0" in {conflict.left_ref, conflict.right_ref}


def test_conflicts_go_with_what_they_are_about(agent: Agent, team: Team) -> None:
    conflict = found_conflict(agent, team)
    conflict_resolve(conflict=conflict, choice="both", principal=SYSTEM)
    assert ConflictDecision.objects.exists()
    memory_delete(memory=agent.memories.get(), principal=SYSTEM)
    assert not Conflict.objects.exists()
    assert not ConflictDecision.objects.exists()
    remember(agent, EIGHTY)
    run_jobs()
    assert Conflict.objects.exists()
    agent_delete(agent=agent, principal=SYSTEM)
    assert not Conflict.objects.exists()


def test_a_job_has_nothing_to_do_for_what_is_gone(agent: Agent) -> None:
    memory = remember(agent, EIGHTY)
    memory_delete(memory=memory, principal=SYSTEM)
    assert run_jobs() == 1
    assert not Conflict.objects.exists()
    assert Job.objects.get(kind="find_conflicts").steps == 1


def test_an_archived_memory_has_no_open_conflict_until_it_is_restored(agent: Agent) -> None:
    found_conflict(agent, agent)
    memory = agent.memories.get(text=EIGHTY)
    archived = memory_update(
        memory=memory, expected_version=1, facts=facts_of(memory), superseded_by=None, retired_because="old",
        principal=SYSTEM,
    )  # fmt: skip
    assert not Conflict.objects.waiting().exists()
    call_command("find_conflicts", verbosity=0)
    run_jobs()
    memory_update(
        memory=archived, expected_version=2, facts=facts_of(memory), superseded_by=None, retired_because="",
        principal=SYSTEM,
    )  # fmt: skip
    assert Conflict.objects.waiting().exists()


def test_properties_of_different_entities_do_not_contradict_each_other(agent: Agent) -> None:
    entities = agent_items_create(
        model=Entity,
        agent=agent,
        facts=[
            {"type": "book", "name": f"Wage book {year}", "properties": {"shelf mark": f"HM {mark}", "state": state}}
            for year, mark, state in ((1910, "0234", "locked"), (1911, "0235", "open"))
        ],
        principal=SYSTEM,
    )
    run_jobs()
    assert not Conflict.objects.about([one.id for one in entities]).exists()


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({"wage book 1910", "ledger"}, {"ledger"}, True),
        ({"wage book 1910"}, {"wage book 1911"}, False),
        ({"wage book 1910"}, set(), True),
        ({"wage book 1912"}, set(), False),
        (set(), set(), True),
    ],
)
def test_an_entity_is_compared_with_what_names_it(left: set[str], right: set[str], expected: bool) -> None:
    text = "The Wage  Book 1910 lies in shelf 3."
    one, other = (
        ComparedText(f"{place}:1@1", uuid4(), text, None, None, names=frozenset(names))
        for place, names in enumerate((left, right))
    )
    assert one.shares_subject(other) is other.shares_subject(one) is expected


def test_there_is_one_job_at_a_time(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assembly.conflicts.find.ITEMS_PER_JOB", 2)
    for text in (EIGHTY, NINETY, "Tea is served at noon."):
        remember(agent, text)
    noted_conflicts_find()
    noted_conflicts_find()
    assert Job.objects.filter(kind="find_conflicts").count() == 1
    assert run_jobs() == 2
    assert not UncomparedItem.objects.exists()
    assert Conflict.objects.count() == 1
