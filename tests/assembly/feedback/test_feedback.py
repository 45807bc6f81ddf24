"""Feedback on a context: who may give it, what is refused, what it moves, and which states items get by it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from hypothesis import given
from hypothesis import strategies as st
from uuid_utils.compat import uuid7

from agents.models import Agent
from assembly.models import Assembly, AssemblyFeedback
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.feedback import MAX_FEEDBACK, FeedbackFacts, feedback_create, moved_credibility
from assembly.records.reader import load_record, replay
from config.http.errors import Forbidden
from memories.models import Memory
from memories.services import MemoryFacts, memory_create
from teams.models import Role, Team, User
from teams.principal import SYSTEM
from teams.services import membership_set, team_create
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db
As = Callable[[User], Api]


@pytest.fixture
def memory(agent: Agent) -> Memory:
    return memory_create(
        owner=agent, facts=MemoryFacts(kind="fact", text="The ferry leaves at eight."), principal=SYSTEM
    )


@pytest.fixture
def record(agent: Agent, team: Team, memory: Memory) -> Assembly:
    asked = AssemblyRequest(topic="When does the ferry leave?")
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly


def give(api: Api, record: Assembly, **said: Any) -> Any:
    return api.post(f"assemblies/{record.id}/feedback", said)


def test_the_agents_key_and_people_who_may_write_give_feedback(
    record: Assembly, agent_api: Api, owner: User, editor: User, as_person: As
) -> None:
    for api in (agent_api, as_person(owner), as_person(editor)):
        answer = give(api, record, satisfaction=0.9, note="Good")
        assert answer.status_code == 201, answer.json()
        assert answer.json()["assembly_id"] == str(record.id)
    assert AssemblyFeedback.objects.count() == 3


def test_viewers_may_not_and_strangers_do_not_find_it(
    record: Assembly, teammate: User, outsider: User, other_agent_api: Api, as_person: As
) -> None:
    assert give(as_person(teammate), record, satisfaction=1).status_code == 403
    for api in (as_person(outsider), other_agent_api):
        assert give(api, record, satisfaction=1).status_code == 404
    assert not AssemblyFeedback.objects.exists()


def test_an_admin_there_who_only_views_here_may_not(
    record: Assembly, team: Team, outsider: User, as_person: As
) -> None:
    elsewhere = team_create(slug="harbour", name="Harbour", principal=SYSTEM)
    membership_set(team=elsewhere, user=outsider, role=Role.ADMIN, principal=SYSTEM)
    membership_set(team=team, user=outsider, role=Role.VIEWER, principal=SYSTEM)
    assert give(as_person(outsider), record, satisfaction=1).status_code == 403


def test_whoever_sees_the_context_reads_its_feedback(
    record: Assembly, memory: Memory, owner: User, agent_api: Api, as_person: As
) -> None:
    give(agent_api, record, satisfaction=0.25, useless=[f"memory:{memory.id}"])
    give(as_person(owner), record, note="It named the right pier.")
    path = f"assemblies/{record.id}/feedback"
    teammate = User.objects.create_user("viewer")
    membership_set(team=Team.objects.get(slug=record.team_slug), user=teammate, role=Role.VIEWER, principal=SYSTEM)
    newest, oldest = as_person(teammate).get(path).json()["results"]
    assert (newest["given_by"]["name"], newest["note"]) == (owner.name, "It named the right pier.")
    assert (newest["satisfaction"], newest["used"], "credibilities" in newest) == (None, [], False)
    assert (oldest["given_by"]["type"], oldest["satisfaction"]) == ("key", 0.25)
    assert oldest["useless"] == [f"memory:{memory.id}@1"]
    first = agent_api.get(f"{path}?limit=1").json()
    assert [one["id"] for one in first["results"]] == [newest["id"]]
    (second,) = agent_api.get(first["next"].removeprefix("/api/v1/")).json()["results"]
    assert second["id"] == oldest["id"]
    assert errors_of(agent_api.get(f"{path}?x=1")) == {"x"}


def test_strangers_do_not_find_feedback(record: Assembly, outsider: User, other_agent_api: Api, as_person: As) -> None:
    for api in (as_person(outsider), other_agent_api):
        assert api.get(f"assemblies/{record.id}/feedback").status_code == 404


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ({}, {"satisfaction"}),
        ({"note": " "}, {"satisfaction"}),
        ({"satisfaction": 1.1}, {"satisfaction"}),
        ({"satisfaction": True}, {"satisfaction"}),
        ({"coherence": "0.5"}, {"coherence"}),
        ({"completeness": -0.1}, {"completeness"}),
        ({"contradiction_rate": None}, {"contradiction_rate"}),
        ({"used": ["x" * 161]}, {"used.0"}),
        ({"used": ["x"] * 201}, {"used"}),
        ({"used": "memory"}, {"used"}),
        ({"note": "x" * 1_001}, {"note"}),
        ({"useful": []}, {"useful"}),
    ],
)
def test_bad_input_is_refused(said: dict[str, Any], fields: set[str], record: Assembly, agent_api: Api) -> None:
    assert errors_of(give(agent_api, record, **said)) == fields


def test_unknown_refs_are_named(record: Assembly, agent_api: Api, memory: Memory) -> None:
    unknown = f"memory:{uuid7()}"
    answer = give(agent_api, record, used=[f"memory:{memory.id}", unknown])
    assert errors_of(answer) == {"used"}
    assert unknown in answer.json()["detail"]
    twice = give(agent_api, record, used=[f"memory:{memory.id}"], useless=[f"memory:{memory.id}@1"])
    assert errors_of(twice) == {"useless"}


def test_a_ref_without_a_version_gets_that_of_the_context(record: Assembly, agent_api: Api, memory: Memory) -> None:
    said = give(agent_api, record, used=[f"memory:{memory.id}", f"memory:{memory.id}@1"], satisfaction=1).json()
    assert said["used"] == [f"memory:{memory.id}@1"]


def test_the_same_idempotency_key_gives_feedback_once(record: Assembly, agent_api: Api) -> None:
    answers = [
        agent_api.post(f"assemblies/{record.id}/feedback", {"satisfaction": 0.2}, idempotency_key="one")
        for _ in range(2)
    ]
    assert answers[0].json() == answers[1].json()
    assert AssemblyFeedback.objects.count() == 1


def test_a_context_takes_so_much_feedback(record: Assembly, agent_api: Api) -> None:
    for _ in range(MAX_FEEDBACK):
        feedback_create(assembly=record, facts=FeedbackFacts(satisfaction=1), principal=SYSTEM)
    assert problem(give(agent_api, record, satisfaction=1))[0] == 409


def test_feedback_is_append_only(record: Assembly) -> None:
    feedback_create(assembly=record, facts=FeedbackFacts(satisfaction=1), principal=SYSTEM)
    for change in (lambda: AssemblyFeedback.objects.update(satisfaction=0), AssemblyFeedback.objects.all().delete):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_the_credibility_of_a_useless_memory_falls_once_and_the_record_still_replays(
    record: Assembly, agent_api: Api, memory: Memory
) -> None:
    for _ in range(2):
        said = give(agent_api, record, satisfaction=0.2, useless=[f"memory:{memory.id}"]).json()
    memory.refresh_from_db()
    assert (memory.credibility, memory.version) == (0.48, 2)
    assert said["credibilities"] == {}, "once for each context"
    assert replay(load_record(Assembly.objects.get(id=record.id))).identical


def test_a_used_memory_of_a_poor_context_gains_and_a_satisfied_answer_moves_none(
    record: Assembly, agent_api: Api, memory: Memory
) -> None:
    assert give(agent_api, record, satisfaction=0.5, useless=[f"memory:{memory.id}"]).json()["credibilities"] == {}
    given = give(agent_api, record, satisfaction=0.49, used=[f"memory:{memory.id}"]).json()
    assert given["credibilities"] == {str(memory.id): 0.52}


def test_an_agent_does_not_move_what_people_wrote_in_a_team(
    agent: Agent, team: Team, owner: User, agent_api: Api
) -> None:
    facts = MemoryFacts(kind="fact", text="The kiosk opens at nine.")
    memory = memory_create(owner=team, facts=facts, principal=owner.principal)
    asked = AssemblyRequest(topic="When does the kiosk open?")
    record = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
    Team.objects.filter(id=team.id).update(agents_may_change_texts=False)
    answer = give(agent_api, record, satisfaction=0, useless=[f"memory:{memory.id}"])
    assert (answer.status_code, answer.json()["credibilities"]) == (201, {})
    memory.refresh_from_db()
    assert memory.credibility == 0.5


@given(credibility=st.floats(0, 1), step=st.sampled_from([-0.02, 0.02]))
def test_a_credibility_moves_by_one_step_within_its_bounds(credibility: float, step: float) -> None:
    moved = moved_credibility(credibility, step)
    assert abs(moved - credibility) <= 0.020001
    assert (moved >= credibility) if step > 0 else (moved <= credibility)
    assert min(credibility, 0.05) <= moved <= max(credibility, 0.95)


def test_a_memory_goes_through_four_states(record: Assembly, agent: Agent, agent_api: Api, memory: Memory) -> None:
    def state() -> str:
        (use,) = agent_api.get(f"agents/{agent.slug}/memories/{memory.id}/uses").json()["results"]
        return str(use["state"])

    assert state() == "included"
    give(agent_api, record, used=[f"memory:{memory.id}"])
    assert state() == "used"
    give(agent_api, record, used=[f"memory:{memory.id}"], satisfaction=0.8)
    assert state() == "helped"


def test_the_service_refuses_by_itself(record: Assembly, teammate: User) -> None:
    with pytest.raises(Forbidden):
        feedback_create(assembly=record, facts=FeedbackFacts(satisfaction=1), principal=teammate.principal)
