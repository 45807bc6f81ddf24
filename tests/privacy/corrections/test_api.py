"""The endpoints of corrections: a plan, the correction with its results, and undoing it; for admins alone."""

import uuid

import pytest

from agents.models import Agent
from memories.models import Memory
from memories.services import MemoryFacts, memory_create, memory_update
from privacy.corrections.corrected_text import ValueCorrection
from privacy.corrections.services import correction_create
from privacy.models import Subject, SubjectCorrection
from teams.models import User
from teams.principal import SYSTEM
from tests.client import Api
from tests.privacy.subject_factories import NAME, link_all, scanned_subject

pytestmark = pytest.mark.django_db

VALUE = {"kind": "name", "wrong": NAME, "right": "Zora Quill"}


@pytest.fixture
def memory(agent: Agent) -> Memory:
    facts = MemoryFacts(kind="fact", text=f"It rained. Then {NAME} came. It stopped.")
    return memory_create(owner=agent, facts=facts, principal=SYSTEM)


@pytest.fixture
def subject(memory: Memory) -> Subject:
    subject = scanned_subject()
    link_all(subject)
    return subject


def test_a_value_is_planned_corrected_and_undone(admin_api: Api, subject: Subject, memory: Memory) -> None:
    address = f"subjects/{subject.id}"
    plan = admin_api.post(f"{address}/correction-plan", VALUE).json()
    [planned] = plan["things"]
    assert planned["ref"] == f"memory:{memory.id}@1"
    assert planned["sentences"] == [{"before": f"Then {NAME} came.", "after": "Then Zora Quill came."}]
    assert (plan["identifiers"], plan["has_more"], plan["drafts"]) == ([{"kind": "name", "value": NAME}], False, 0)
    asked = {**VALUE, "reason": "She wrote.", "things": [planned["ref"]]}
    made = admin_api.post(f"{address}/corrections", asked)
    assert made.status_code == 201
    correction = made.json()
    assert made["Location"] == f"/api/v1/{address}/corrections/{correction['id']}"
    [result] = correction["results"]
    assert (result["status"], result["version_before"], result["version"]) == ("corrected", 1, 2)
    assert correction["told"] is None
    assert admin_api.get(f"{address}/corrections").json()["results"] == [correction]
    assert admin_api.get(address).json()["name"] == "Zora Quill"
    undone = admin_api.post(f"{address}/corrections/{correction['id']}/undo", {"things": [str(memory.id)]})
    assert [one["status"] for one in undone.json()["results"]] == ["undone"]
    memory.refresh_from_db()
    assert (memory.version, memory.text) == (3, f"It rained. Then {NAME} came. It stopped.")


def test_what_changed_since_is_not_undone(admin_api: Api, subject: Subject, memory: Memory) -> None:
    address = f"subjects/{subject.id}/corrections"
    asked = {**VALUE, "reason": "She wrote.", "things": [f"memory:{memory.id}@1"]}
    correction = admin_api.post(address, asked).json()
    newer = MemoryFacts(kind="fact", text="Somebody came.")
    memory_update(memory=memory, expected_version=2, facts=newer, superseded_by=None, principal=SYSTEM)
    refused = admin_api.post(f"{address}/{correction['id']}/undo", {"things": [str(memory.id)]})
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "shoe"}, "kind"),
        ({"wrong": ""}, "wrong"),
        ({"right": NAME}, "right"),
        ({"right": "Z"}, "right"),
        ({"kind": "email"}, "wrong"),
        ({"wrong": "x" * 201}, "wrong"),
        ({"reason": ""}, "reason"),
        ({"reason": "x" * 501}, "reason"),
        ({"things": ["memory:1@1"]}, "things"),
        ({"things": [f"memory:{uuid.UUID(int=1)}@1"]}, "things"),
        ({"things": [f"memory:{uuid.UUID(int=1)}"]}, "things"),
        ({"things": ["x"] * 501}, "things"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_values_are_named(change: dict[str, object], field: str, admin_api: Api, subject: Subject) -> None:
    answer = admin_api.post(f"subjects/{subject.id}/corrections", {**VALUE, "reason": "Wrong.", **change})
    assert answer.status_code == 422
    assert any(name.startswith(field) for name in answer.json()["errors"]), answer.json()
    assert not SubjectCorrection.objects.exists()


def test_others_are_refused(agent_api: Api, owner: User, outsider: User, anonymous_api: Api, subject: Subject) -> None:
    address = f"subjects/{subject.id}"
    value = ValueCorrection("name", NAME, "Zora Quill")
    made = correction_create(subject=subject, value=value, reason="Wrong.", things=[], principal=SYSTEM).id
    for api in (agent_api, *(Api(person=person.principal) for person in (owner, outsider))):
        assert api.post(f"{address}/correction-plan", VALUE).status_code == 403
        assert api.post(f"{address}/corrections", {**VALUE, "reason": "Wrong."}).status_code == 403
        for path in (f"{address}/corrections", f"{address}/corrections/{made}"):
            answer = api.get(path)
            assert answer.status_code == 403
            assert b"Quell" not in answer.content
        assert api.post(f"{address}/corrections/{made}/undo", {"things": [str(made)]}).status_code == 403
    assert anonymous_api.get(f"{address}/corrections").status_code == 401
    assert SubjectCorrection.objects.count() == 1


def test_a_correction_of_another_subject_is_not_found(admin_api: Api, subject: Subject) -> None:
    made = admin_api.post(f"subjects/{subject.id}/corrections", {**VALUE, "reason": "Wrong."}).json()["id"]
    assert admin_api.get(f"subjects/{scanned_subject().id}/corrections/{made}").status_code == 404
    assert admin_api.get(f"subjects/{subject.id}/corrections/{uuid.uuid4()}").status_code == 404
