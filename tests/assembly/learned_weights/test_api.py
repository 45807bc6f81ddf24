"""Learned weights over REST: everybody reads them, admins of the organisation switch them."""

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from assembly.learned_weights import jobs
from assembly.learned_weights.services import shadow_report_create, weights_learn
from assembly.models import Assembly, LearnedWeights
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import User
from teams.principal import SYSTEM
from tests import personas
from tests.assembly.learned_weights.conftest import contexts_with_feedback
from tests.assembly.learned_weights.world import NAME, START
from tests.client import Api, errors_of, problem

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]
owner, editor, teammate, team, agent, contexts = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent, contexts_with_feedback
)

PATH = f"profiles/{NAME}/learned-weights"
ON, OFF = {"version": 1, "is_on": True}, {"version": 1, "is_on": False}


@pytest.fixture
def learned(contexts: list[Assembly], agent: Agent) -> LearnedWeights:
    """Learned weights with a shadow report, in which one context differs."""
    asked = AssemblyRequest(topic="", profile=NAME, max_tokens=120, now=START + datetime.timedelta(days=1))
    assemble(agent=agent, asked=asked, principal=SYSTEM)
    learned = weights_learn(profile=NAME, principal=SYSTEM, least=50)
    shadow_report_create(learned=learned)
    return learned


def _document(api: Api) -> dict[str, Any]:
    answer = api.get(PATH)
    assert answer.status_code == 200, answer.content
    document: dict[str, Any] = answer.json()
    return document


def test_the_document_has_weights_before_and_after_and_the_report(learned: LearnedWeights, agent_api: Api) -> None:
    document = _document(agent_api)
    assert (document["profile"], document["in_force"]) == (NAME, None)
    (version,) = document["versions"]
    assert (version["version"], version["state"], version["is_current"]) == (1, "proposed", True)
    assert version["own_weights"]["recency"] == 0.8
    assert version["weights"] == learned.weights
    report = version["report"]
    assert report["shows_gain"]
    assert report["recall_after"] > report["recall_before"]
    (differing,) = report["differing"]
    assert differing["items_in"] > 0


def test_admins_switch_on_and_off(learned: LearnedWeights, admin_api: Api) -> None:
    on = admin_api.post(f"{PATH}/switch", ON).json()
    assert (on["in_force"], on["versions"][0]["state"]) == (1, "on")
    assert on["versions"][0]["switched_by"]["type"] == "key"
    off = admin_api.post(f"{PATH}/switch", OFF).json()
    assert (off["in_force"], off["versions"][0]["state"]) == (None, "off")


def test_without_a_gain_the_answer_says_so(contexts: list[Assembly], admin_api: Api) -> None:
    weights_learn(profile=NAME, principal=SYSTEM, least=50)
    assert problem(admin_api.post(f"{PATH}/switch", ON)) == (409, "no_gain_shown")


def test_contexts_of_others_are_not_named(learned: LearnedWeights, other_agent_api: Api) -> None:
    (version,) = _document(other_agent_api)["versions"]
    assert version["report"]["changed"] == 1
    assert version["report"]["differing"] == []


@pytest.mark.parametrize(
    ("who", "status"),
    [
        ("admin", 200),
        ("owner", 403),
        ("mixed", 403),
        ("teammate", 403),
        ("outsider", 403),
        ("agent_api", 403),
        ("other_agent_api", 403),
        ("anonymous_api", 401),
    ],
)
def test_only_admins_of_the_organisation_switch(
    who: str, status: int, learned: LearnedWeights, as_person: Callable[[User], Api], request: pytest.FixtureRequest
) -> None:
    asking = request.getfixturevalue(who)
    api = asking if isinstance(asking, Api) else as_person(asking)
    assert api.post(f"{PATH}/switch", ON).status_code == status
    assert api.get(PATH).status_code == (401 if who == "anonymous_api" else 200)
    assert LearnedWeights.objects.filter(state="on").exists() == (status == 200)


def test_admins_of_the_organisation_begin_to_learn(
    admin_api: Api, agent_api: Api, contexts: list[Assembly], as_person: Callable[[User], Api], owner: User
) -> None:
    assert {agent_api.post(PATH).status_code, as_person(owner).post(PATH).status_code} == {403}
    assert problem(admin_api.post("profiles/conversation/learned-weights"))[0] == 409
    assert problem(admin_api.post("profiles/moons/learned-weights"))[0] == 404


def test_learning_begins_with_enough_feedback_alone(
    admin_api: Api, contexts: list[Assembly], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = admin_api.post(PATH)
    assert problem(refused) == (409, "too_few_contexts")
    assert refused.json()["title"] == "Too few contexts with feedback"
    counted = "Weights can be learned from 80 contexts of version 1 of the profile newest, and 200 are needed."
    assert refused.json()["detail"].startswith(counted)
    monkeypatch.setattr(jobs, "MIN_CONTEXTS", 50)
    answer = admin_api.post(PATH)
    assert (answer.status_code, answer.json()["kind"], answer.json()["status"]) == (202, "learn_weights", "queued")
    assert problem(admin_api.post(PATH)) == (409, "conflict")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"version", "is_on"}),
        ({"version": 0, "is_on": True}, {"version"}),
        ({"version": 10**12, "is_on": True}, {"version"}),
        ({"version": 1, "is_on": "perhaps"}, {"is_on"}),
        ({"version": 1, "is_on": True, "now": 1}, {"now"}),
    ],
)
def test_bad_bodies_are_refused(body: dict[str, Any], fields: set[str], admin_api: Api) -> None:
    assert errors_of(admin_api.post("profiles/coding/learned-weights/switch", body)) == fields


def test_what_does_not_exist_is_not_found(admin_api: Api) -> None:
    assert problem(admin_api.get("profiles/moons/learned-weights"))[0] == 404
    assert problem(admin_api.post("profiles/moons/learned-weights/switch", ON))[0] == 404
    assert problem(admin_api.post("profiles/coding/learned-weights/switch", ON))[0] == 404
    assert problem(admin_api.post("profiles/conversation/learned-weights/switch", ON))[0] == 409
    assert admin_api.get("profiles/conversation/learned-weights").json()["versions"] == []


def test_many_versions_take_no_more_queries(
    learned: LearnedWeights, admin_api: Api, django_assert_max_num_queries: Any
) -> None:
    for _ in range(3):
        shadow_report_create(learned=weights_learn(profile=NAME, principal=SYSTEM, least=50))
    with django_assert_max_num_queries(12):
        assert len(_document(admin_api)["versions"]) == 4
