"""Proposals over REST: made, listed, read, tried again, decided and deleted, by those who may."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_delete
from assembly.models import Assembly, Proposal
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.simulation.proposals.services import proposal_create
from assembly.simulation.simulate import Overrides
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db

NOBODY = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def told(agent: Agent, team: Team) -> Assembly:
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(max_tokens=600)).assembly


@pytest.fixture
def proposal(told: Assembly, editor: User) -> Proposal:
    """Made by the editor."""
    return proposal_create(
        assembly=told, wishes=Overrides(max_tokens=900), note="More room", principal=editor.principal
    )[0]


def test_a_proposal_is_made_and_read(told: Assembly, agent_api: Api) -> None:
    overrides = {"max_tokens": 300, "caps": {"recent_activity": 9}}
    body = {"assembly_id": str(told.id), "overrides": overrides, "note": "Shorter"}
    answer = agent_api.post("proposals", body)
    assert answer.status_code == 201, answer.content
    document = answer.json()
    assert answer["Location"] == f"/api/v1/proposals/{document['id']}"
    assert document["overrides"] == body["overrides"]
    assert (document["status"], document["basis"], document["note"]) == ("open", "record", "Shorter")
    assert (document["agent"], document["team"], document["created_by"]["name"]) == ("ada", "care", "Ada's key")
    assert document["tokens_before"] == told.tokens
    assert agent_api.get(f"proposals/{document['id']}").json() == document
    assert agent_api.get("proposals?agent=ada&status=open").json()["results"] == [document]
    assert agent_api.get("proposals?status=dismissed").json()["results"] == []
    assert agent_api.get("proposals?agent=nobody").json()["results"] == []


def test_a_repeated_request_makes_one(told: Assembly, agent_api: Api) -> None:
    body = {"assembly_id": str(told.id), "overrides": {"max_tokens": 300}}
    first, again = (agent_api.post("proposals", body, idempotency_key="one") for _ in range(2))
    assert first.json() == again.json()
    assert Proposal.objects.count() == 1


def test_it_is_tried_again(proposal: Proposal, agent_api: Api) -> None:
    document = agent_api.post(f"proposals/{proposal.id}/rerun").json()
    assert document["settings"] == [{"name": "budget", "section": None, "before": "600", "after": "900"}]


def test_a_context_that_is_no_longer_kept_is_said(proposal: Proposal, agent_api: Api) -> None:
    Proposal.objects.update(assembly_id=NOBODY)
    assert problem(agent_api.post(f"proposals/{proposal.id}/rerun")) == (404, "not_found")
    assert agent_api.get(f"proposals/{proposal.id}").json()["assembly_id"] == NOBODY


def test_an_open_one_is_decided_once(proposal: Proposal, owner: User, as_person: Callable[[User], Api]) -> None:
    api = as_person(owner)
    document = api.post(f"proposals/{proposal.id}/decision", {"status": "accepted"}).json()
    assert (document["status"], document["decided_by"]["name"]) == ("accepted", "Olga Owner")
    assert document["decided_at"]
    assert problem(api.post(f"proposals/{proposal.id}/decision", {"status": "dismissed"})) == (409, "conflict")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "assembly_id"),
        ({"assembly_id": "x"}, "assembly_id"),
        ({"overrides": {}}, "overrides"),
        ({"overrides": {"max_tokens": -1}}, "overrides.max_tokens"),
        ({"overrides": {"include": ["content"]}}, "overrides.include"),
        ({"overrides": {"tokenizer": "abacus"}}, "tokenizer"),
        ({"note": "x" * 1_001}, "note"),
        ({"status": "accepted"}, "status"),
    ],
)
def test_what_cannot_be_proposed_is_named(body: Any, field: str, told: Assembly, agent_api: Api) -> None:
    whole = {"overrides": {"max_tokens": 9}, **({"assembly_id": str(told.id), **body} if body else {})}
    assert errors_of(agent_api.post("proposals", whole)) == {field}


def test_what_is_no_decision_is_refused(proposal: Proposal, admin_api: Api) -> None:
    assert errors_of(admin_api.post(f"proposals/{proposal.id}/decision", {"status": "open"})) == {"status"}
    assert errors_of(admin_api.get("proposals?status=maybe")) == {"status"}


#        read, make, decide, delete
RIGHTS = {
    "admin": (200, 201, 200, 204),
    "owner": (200, 201, 200, 204),
    "editor": (200, 201, 403, 204),
    "teammate": (200, 403, 403, 403),
    "outsider": (404, 404, 404, 404),
    "agent_api": (200, 201, 403, 403),
    "other_agent_api": (404, 404, 404, 404),
    "admin_api": (200, 201, 200, 204),
    "anonymous_api": (401, 401, 401, 401),
}


@pytest.mark.parametrize("who", RIGHTS)
def test_everybody_is_answered_as_the_table_says(
    who: str, proposal: Proposal, as_person: Callable[[User], Api], request: pytest.FixtureRequest
) -> None:
    asking = request.getfixturevalue(who)
    api = asking if isinstance(asking, Api) else as_person(asking)
    body = {"assembly_id": str(proposal.assembly_id), "overrides": {"max_tokens": 9}}
    address = f"proposals/{proposal.id}"
    found = (
        api.get(address).status_code,
        api.post("proposals", body).status_code,
        api.post(f"{address}/decision", {"status": "dismissed"}).status_code,
        api.delete(address).status_code,
    )
    assert found == RIGHTS[who]
    listed = api.get("proposals")
    assert listed.status_code == (401 if who == "anonymous_api" else 200)
    if found[0] == 404:
        assert listed.json()["results"] == []
        assert api.post(f"{address}/rerun").status_code == 404


def test_once_the_agent_is_gone_admins_alone_see_it(
    proposal: Proposal, agent: Agent, owner: User, as_person: Callable[[User], Api], admin_api: Api
) -> None:
    agent_delete(agent=agent, principal=SYSTEM)
    assert as_person(owner).get(f"proposals/{proposal.id}").status_code == 404
    assert admin_api.get(f"proposals/{proposal.id}").status_code == 200
