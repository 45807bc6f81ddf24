"""A stored answer of an Idempotency-Key is not told again once a text became more sensitive; nothing is done twice."""

import json
from typing import Any

import pytest

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from assembly.models import Assembly, ContextFile, RecallTest
from assembly.recall_tests.services import RecallFacts, recall_test_create
from assembly.records.raised_levels import raise_recorded_levels
from config.http.models import IdempotentRequest
from memories.api import memories as memories_api
from memories.models import Memory
from memories.services import MemoryFacts, memory_create
from privacy.subjects.services import subject_restrict
from teams.level_changes import level_set
from teams.models import Team
from teams.principal import SYSTEM
from teams.sensitivity import READ_RESTRICTED, Sensitivity
from tests.assembly.contract.contract_checks import sent
from tests.client import Answer, Api, problem
from tests.privacy.subject_factories import NAME, link_all, scanned_subject
from tests.sensitivity.restricted_things import raise_level

pytestmark = pytest.mark.django_db

TEXT = "Vyqxmarker pays late."
MEMORY: dict[str, Any] = {"kind": "fact", "text": TEXT}
TOPIC: dict[str, Any] = {"agent": "ada", "team": "care", "topic": "Who pays late?"}


def assert_not_told(again: Answer, first: Answer) -> None:
    """The repeated request is refused with the address of what it made, and without its text."""
    assert problem(again) == (403, "answer_out_of_reach")
    assert "Idempotency-Replayed" not in again
    assert "Vyqx" not in again.content.decode()
    document = json.loads(again.content)
    assert "was processed before, and nothing was done now" in document["detail"]
    made = first.headers.get("Location")
    assert document.get("location") == made
    assert (made or "Read what you asked for") in document["detail"]


def test_a_memory_that_was_raised_is_not_told_again(agent: Agent, agent_api: Api, admin_api: Api) -> None:
    first, by_admin = (api.post("agents/ada/memories", MEMORY, idempotency_key="k") for api in (agent_api, admin_api))
    assert agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k").content == first.content
    level_set(row=Memory.objects.get(id=first.json()["id"]), level=Sensitivity.CONFIDENTIAL, principal=SYSTEM)
    again = agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")
    assert_not_told(again, first)
    assert problem(agent_api.get(first["Location"])) == (404, "not_found")
    assert Memory.objects.count() == 2
    # Who reads everything gets it again.
    repeated = admin_api.post("agents/ada/memories", MEMORY, idempotency_key="k")
    assert (repeated.content, repeated["Idempotency-Replayed"]) == (by_admin.content, "true")


def test_an_answer_from_after_it_was_raised_is_told_again(agent: Agent, agent_api: Api) -> None:
    raise_level(Memory, memory_create(owner=agent, facts=MemoryFacts(**MEMORY), principal=SYSTEM).id)
    first = agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")
    again = agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")
    assert (again.status_code, again.content) == (201, first.content)


@pytest.mark.parametrize("change", ["lowered", "published", "unchanged"])
def test_other_changes_of_levels_refuse_nothing(change: str, agent: Agent, agent_api: Api) -> None:
    levels = {
        "lowered": (Sensitivity.RESTRICTED, Sensitivity.CONFIDENTIAL),
        "published": (Sensitivity.PUBLIC, Sensitivity.INTERNAL),
        "unchanged": (Sensitivity.RESTRICTED, Sensitivity.RESTRICTED),
    }
    before, after = levels[change]
    facts = MemoryFacts(kind="fact", text="Tea is green.", sensitivity=before)
    memory = memory_create(owner=agent, facts=facts, principal=SYSTEM)
    first = agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")
    raise_level(Memory, memory.id, after)
    assert agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k").content == first.content


PREVIEW = TOPIC | {"files": {"IDENTITY": "I am Ada."}, "include": ["content"]}


@pytest.mark.parametrize(("path", "body"), [("assemblies", TOPIC), ("draft-previews", PREVIEW)])
def test_a_context_that_tells_a_raised_text_is_not_told_again(
    path: str, body: dict[str, Any], agent: Agent, team: Team, agent_api: Api
) -> None:
    """A preview names none of the texts in it, and is stored nowhere else."""
    memory = memory_create(owner=team, facts=MemoryFacts(**MEMORY, salience=1.0), principal=SYSTEM)
    first = agent_api.post(path, body, idempotency_key="k")
    assert TEXT in first.content.decode(), first.content
    stored = Assembly.everything.count()
    raise_level(Memory, memory.id, Sensitivity.RESTRICTED)
    assert_not_told(agent_api.post(path, body, idempotency_key="k"), first)
    assert Assembly.everything.count() == stored


def test_a_raised_recall_test_is_not_told_again(agent: Agent, team: Team, agent_api: Api) -> None:
    facts = RecallFacts(name="Tea", topic="tea", expectations=[])
    test = recall_test_create(agent=agent, team=team, facts=facts, principal=SYSTEM)
    first = agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")
    raise_level(RecallTest, test.id, Sensitivity.CONFIDENTIAL)
    assert_not_told(agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k"), first)


def test_what_is_withheld_is_not_told_again_nor_in_prepared_lists(agent: Agent, agent_api: Api) -> None:
    Agent.objects.filter(id=agent.id).update(clearance=Sensitivity.RESTRICTED)
    _, cleared = api_key_create(agent=agent, name="Cleared", scopes=[READ_RESTRICTED])
    body = {"kind": "fact", "text": f"{NAME} is here: Vyqx."}
    first = Api(cleared).post("agents/ada/memories", body, idempotency_key="k")
    seen: dict[str, Any] = {"agents": [], "teams": [], "levels": {}}
    file = ContextFile.objects.create(requested_by="person:1", format="csv", parameters={}, visibility=seen)
    subject = scanned_subject()
    link_all(subject)
    assert Api(cleared).post("agents/ada/memories", body, idempotency_key="k").content == first.content
    subject_restrict(subject=subject, restricted=True, principal=SYSTEM)
    assert_not_told(Api(cleared).post("agents/ada/memories", body, idempotency_key="k"), first)
    file.refresh_from_db()
    assert file.visibility == {}


def test_a_key_that_lost_its_scope_or_clearance_is_told_nothing(agent: Agent) -> None:
    Agent.objects.filter(id=agent.id).update(clearance=Sensitivity.RESTRICTED)
    key, secret = api_key_create(agent=agent, name="Cleared", scopes=[READ_RESTRICTED])
    body = {**MEMORY, "sensitivity": "restricted"}
    first = Api(secret).post("agents/ada/memories", body, idempotency_key="k")
    assert first.status_code == 201
    ApiKey.objects.filter(id=key.id).update(scopes=[])
    assert_not_told(Api(secret).post("agents/ada/memories", body, idempotency_key="k"), first)
    ApiKey.objects.filter(id=key.id).update(scopes=[READ_RESTRICTED])
    assert Api(secret).post("agents/ada/memories", body, idempotency_key="k").content == first.content
    Agent.objects.filter(id=agent.id).update(clearance=Sensitivity.CONFIDENTIAL)
    assert_not_told(Api(secret).post("agents/ada/memories", body, idempotency_key="k"), first)
    assert Memory.objects.count() == 1


def test_an_outsider_with_the_same_key_is_told_nothing(agent: Agent, agent_api: Api, other_agent_api: Api) -> None:
    first = agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")
    for _ in range(2):
        refused = other_agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")
        assert problem(refused) == (404, "not_found")
        assert first["Location"] not in refused.content.decode()
        raise_level(Memory, first.json()["id"], Sensitivity.RESTRICTED)
    assert IdempotentRequest.objects.count() == 1


def test_what_is_raised_while_a_request_runs_counts(
    agent: Agent, agent_api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer tells a text as it was before, so the raise is not counted as one that the answer knew of."""

    def create_and_raise(**facts: Any) -> Memory:
        memory = memory_create(**facts)
        raise_level(Memory, memory.id, Sensitivity.CONFIDENTIAL)
        return memory

    monkeypatch.setattr(memories_api, "memory_create", create_and_raise)
    first = agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")
    assert TEXT in first.content.decode()
    assert_not_told(agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k"), first)


def test_a_request_id_whose_context_was_raised_is_not_told_again(agent: Agent, team: Team, agent_api: Api) -> None:
    """Its answer is built again from the record, which follows the text."""
    memory = memory_create(owner=team, facts=MemoryFacts(**MEMORY, salience=1.0), principal=SYSTEM)
    first = sent(agent_api)
    assert TEXT in first.content.decode(), first.content
    raise_level(Memory, memory.id, Sensitivity.RESTRICTED)
    raise_recorded_levels()
    again = sent(agent_api)
    assert problem(again) == (404, "not_found")
    assert "Vyqx" not in again.content.decode()
    assert Assembly.everything.count() == 1
