"""The texts of a request have a sensitivity, which the record of the context has at least."""

import json

import pytest

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from assembly.models import Assembly
from assembly.records.reader import load_record, replay
from teams.models import Team, User
from teams.sensitivity import Sensitivity
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db

SECRET = "Vyqxmerger"


@pytest.fixture
def cleared(agent: Agent) -> Agent:
    """An agent that may be told what is confidential."""
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.CONFIDENTIAL)
    agent.refresh_from_db()
    return agent


@pytest.fixture
def cleared_api(cleared: Agent) -> Api:
    """The API by a key of the agent that reads up to confidential."""
    return Api(api_key_create(agent=cleared, scopes=[ApiKey.Scope.CONFIDENTIAL])[1])


def wishes(agent: Agent, team: Team, **more: object) -> dict[str, object]:
    return {"agent": agent.slug, "team": team.slug, "topic": SECRET, "additional_context": f"{SECRET} is near", **more}


def test_the_record_is_as_sensitive_as_the_request(
    cleared: Agent, cleared_api: Api, team: Team, teammate: User, editor: User
) -> None:
    made = cleared_api.post("assemblies", wishes(cleared, team, sensitivity="confidential")).json()
    again = cleared_api.post("assemblies", wishes(cleared, team, sensitivity="confidential")).json()
    plain = cleared_api.post("assemblies", wishes(cleared, team)).json()
    levels = [Assembly.everything.get(id=one["id"]).sensitivity for one in (made, again, plain)]
    assert levels == [Sensitivity.CONFIDENTIAL, Sensitivity.CONFIDENTIAL, Sensitivity.INTERNAL]
    assert SECRET in made["content"]
    id_ = made["id"]
    assert Api(person=teammate.principal).get(f"assemblies/{id_}").status_code == 404
    assert SECRET in Api(person=editor.principal).get(f"assemblies/{id_}").json()["content"]
    record = Assembly.everything.get(id=id_)
    assert record.request["sensitivity"] == "confidential"
    assert "sensitivity" not in Assembly.everything.get(id=plain["id"]).request
    assert replay(load_record(record)).identical


def test_the_contract_has_it_too(cleared: Agent, cleared_api: Api) -> None:
    body = {"request_id": "one", "intent": SECRET, "sensitivity": "confidential", "privacy_mode": "mask"}
    answer = cleared_api.post("memory/assemble", body)
    assert answer.status_code == 201, answer.content
    record = Assembly.everything.get(id=answer.json()["metadata"]["assembly"])
    assert (record.sensitivity, record.profile["privacy_mode"]) == (Sensitivity.CONFIDENTIAL, "mask")


@pytest.mark.parametrize("level", ["confidential", "restricted"])
def test_nobody_asks_above_the_clearance(level: str, cleared: Agent, team: Team, teammate: User, owner: User) -> None:
    refused = Api(person=teammate.principal).post("assemblies", wishes(cleared, team, sensitivity=level))
    assert problem(refused) == (403, "forbidden")
    assert "internal for you" in refused.json()["detail"]
    by_admin = Api(person=owner.principal).post("assemblies", wishes(cleared, team, sensitivity=level))
    assert by_admin.status_code == (201 if level == "confidential" else 403)
    assert Assembly.everything.count() == (by_admin.status_code == 201)


def test_an_unknown_level_is_refused(cleared: Agent, team: Team, owner: User) -> None:
    for level in ("public", "secret", 2, None):
        answer = Api(person=owner.principal).post("assemblies", wishes(cleared, team, sensitivity=level))
        assert errors_of(answer) == {"sensitivity"}
    assert "Traceback" not in json.dumps(answer.json())
