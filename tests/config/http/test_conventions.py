"""What all endpoints have in common: ETags, idempotency, pages, the count of queries."""

import json
from typing import Any, cast

import pytest

from agents.models import Agent, ApiKey
from agents.services import agent_create
from config.http.models import IdempotentRequest
from memories.models import Memory
from memories.services import MemoryFacts, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from tests.client import Api, problem
from tests.rights.test_tenancy import ROUTES

pytestmark = pytest.mark.django_db

# A trial call keeps nothing, so it may be repeated; a key would keep for a day what another endpoint answered.
KEEPS_NOTHING = {"external-sources/<slug:name>/query"}
POSTS = [
    route
    for route, pattern in ROUTES.items()
    if hasattr(getattr(pattern.callback, "cls", None), "post") and route not in KEEPS_NOTHING
]


@pytest.mark.parametrize("route", POSTS)
def test_every_post_heeds_idempotency_key(route: str) -> None:
    assert cast("Any", ROUTES[route].callback).cls.post.__code__.co_qualname == "idempotent.<locals>.answer"


MEMORY = {"kind": "fact", "text": "Refunds take five days."}


def test_the_same_key_has_one_effect_and_the_same_answer(agent: Agent, agent_api: Api) -> None:
    first, second = (agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k") for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert first["Location"] == second["Location"]
    assert first["ETag"] == second["ETag"] == '"1"'
    assert second["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert Memory.objects.count() == 1


def test_stored_answers_are_encrypted_and_go_with_the_clearance(agent_api: Api, agent: Agent) -> None:
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.RESTRICTED)
    first = agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")
    stored = IdempotentRequest.objects.get()
    assert MEMORY["text"] not in stored.body
    assert agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k").content == first.content
    IdempotentRequest.objects.update(body=first.content.decode())  # as it was stored before
    assert agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k").content == first.content
    IdempotentRequest.objects.update(body=stored.body[:-9] + "AAAAAAAA=")  # of another SECRET_KEY
    assert problem(agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")) == (403, "answer_out_of_reach")
    IdempotentRequest.objects.update(body=stored.body)
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.INTERNAL)
    assert problem(agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")) == (403, "answer_out_of_reach")


def test_a_key_is_for_one_request(agent: Agent, agent_api: Api) -> None:
    agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k")
    other = agent_api.post("agents/ada/memories", {**MEMORY, "text": "Other"}, idempotency_key="k")
    assert problem(other) == (422, "idempotency_key_reused")
    assert Memory.objects.count() == 1


def test_a_key_belongs_to_its_address_and_to_who_sent_it(agent: Agent, agent_api: Api, admin_api: Api) -> None:
    for api in (agent_api, admin_api):
        for owner in ("agents/ada", "teams/care"):
            assert api.post(f"{owner}/memories", MEMORY, idempotency_key="k").status_code == 201
    assert Memory.objects.count() == 4


def test_after_an_error_the_key_may_be_tried_again(agent: Agent, agent_api: Api) -> None:
    assert agent_api.post("agents/ada/memories", {"kind": "fact"}, idempotency_key="k").status_code == 422
    assert not IdempotentRequest.objects.exists()
    assert agent_api.post("agents/ada/memories", MEMORY, idempotency_key="k").status_code == 201


VERSIONED = [
    ("PATCH", "teams/care", {"name": "Renamed"}),
    ("PATCH", "agents/ada", {"name": "Renamed"}),
    ("PUT", "teams/care/files/GOALS", {"content": "New"}),
    ("PUT", "agents/ada/files/IDENTITY", {"content": "New"}),
    ("PUT", "agents/ada/daily-logs/2026-01-05", {"content": "New"}),
    ("PATCH", "agents/ada/memories/{id}", {"text": "New"}),
    ("PATCH", "teams/care/memories/{id}", {"text": "New"}),
]


@pytest.fixture
def paths(agent: Agent, agent_api: Api) -> dict[str, str]:
    agent_api.post("agents/ada/daily-logs/2026-01-05", {"text": "Old"})
    ids = {owner: agent_api.post(f"{owner}/memories", MEMORY).json()["id"] for owner in ("agents/ada", "teams/care")}
    return {path: path.format(id=ids["/".join(path.split("/")[:2])]) for _, path, _ in VERSIONED}


@pytest.mark.parametrize(("method", "path", "body"), VERSIONED)
def test_a_change_says_which_version_it_is_of(
    method: str, path: str, body: dict[str, Any], paths: dict[str, str], admin_api: Api
) -> None:
    address = paths[path]
    before = admin_api.get(address)
    assert before["ETag"] == '"1"'
    assert problem(admin_api.send(method, address, body)) == (428, "precondition_required")
    saved = admin_api.send(method, address, body, if_match=before["ETag"])
    assert (saved.status_code, saved["ETag"], saved.json()["version"]) == (200, '"2"', 2)
    stale = admin_api.send(method, address, body, if_match=before["ETag"])
    assert problem(stale) == (412, "stale_version")
    assert stale.json()["current_version"] == 2
    assert stale.json()["current"] == saved.json() == admin_api.get(address).json()
    again = admin_api.send(method, address, body, if_match=saved["ETag"])
    assert (again.status_code, again.json()["version"]) == (200, 2), "what changes nothing makes no version"


@pytest.mark.parametrize("path", [path for _, path, _ in VERSIONED if path != "agents/ada"])
def test_who_has_the_newest_gets_304(path: str, paths: dict[str, str], admin_api: Api) -> None:
    newest = admin_api.get(paths[path], if_none_match='"7", W/"1"')
    assert (newest.status_code, newest.content, newest["ETag"]) == (304, b"", '"1"')
    assert admin_api.get(paths[path], if_none_match='"7"').status_code == 200


@pytest.mark.parametrize("path", ["teams/care", "agents/ada", "agents/ada/daily-logs/2026-01-05"])
def test_a_delete_heeds_if_match(path: str, agent: Agent, agent_api: Api, admin_api: Api) -> None:
    agent_api.post("agents/ada/daily-logs/2026-01-05", {"text": "Old"})
    assert problem(admin_api.delete(path, if_match='"9"')) == (412, "stale_version")
    gone = admin_api.delete(path, if_match='"1"')
    assert (gone.status_code, gone.content) == (204, b"")
    assert problem(admin_api.get(path)) == (404, "not_found")


def test_two_saves_of_one_version_have_one_winner(agent: Agent, admin_api: Api) -> None:
    answers = [
        admin_api.put("agents/ada/files/IDENTITY", {"content": text}, if_match='"1"').status_code for text in "ab"
    ]
    assert answers == [200, 412]


def test_pages_hold_every_row_once(team: Team, admin_api: Api) -> None:
    facts = [MemoryFacts(kind="fact", text=f"Fact {number}") for number in range(7)]
    memories_create(owner=team, facts=facts, principal=SYSTEM)
    seen, following = [], "/api/v1/teams/care/memories?limit=3"
    sizes = []
    while following:
        page = admin_api.get(following).json()
        sizes.append(len(page["results"]))
        seen += [row["text"] for row in page["results"]]
        following = page["next"]
    assert sizes == [3, 3, 1]
    assert sorted(seen) == sorted(fact.text for fact in facts)


@pytest.fixture
def rows(agent: Agent, team: Team, admin_api: Api) -> None:
    """Several of everything."""
    for number in range(3):
        agent_create(slug=f"agent-{number}", name="One more", teams=[team])
        for day in (1, number + 2):
            admin_api.post(f"agents/ada/daily-logs/2026-01-0{day}", {"text": "x"})
        for owner in ("agents/ada", "teams/care"):
            admin_api.post(f"{owner}/memories", MEMORY)


@pytest.mark.parametrize(
    ("path", "queries"),
    [
        ("teams", 2), ("teams/care", 2), ("teams/care/members", 3), ("teams/care/files", 4),
        ("teams/care/files/GOALS", 3),
        ("teams/care/files/GOALS/versions", 4), ("teams/care/files/GOALS/versions/1", 4), ("teams/care/memories", 3),
        ("teams/care/memories/search?q=refund", 4), ("agents", 3), ("agents/ada", 3), ("agents/ada/files", 4),
        ("agents/ada/files/IDENTITY", 3), ("agents/ada/daily-logs", 3), ("agents/ada/daily-logs/2026-01-01", 3),
        ("agents/ada/memories", 3),
    ],
)  # fmt: skip
def test_reads_cost_few_queries_however_many_rows(
    path: str, queries: int, rows: None, admin_api: Api, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(queries):
        assert admin_api.get(path).status_code == 200


def test_an_agents_key_costs_one_query(agent: Agent, agent_api: Api, django_assert_num_queries: Any) -> None:
    agent_api.get("teams")
    with django_assert_num_queries(2):
        assert [row["slug"] for row in agent_api.get("teams").json()["results"]] == ["care"]


def test_the_last_use_of_a_key_is_noted_now_and_then(agent: Agent, agent_api: Api) -> None:
    agent_api.get("teams")
    first = ApiKey.objects.get().last_used
    assert first is not None
    agent_api.get("teams")
    assert ApiKey.objects.get().last_used == first


@pytest.mark.parametrize(
    "sent", ["Bearer x", "Bearer ", "Basic eDp4", "dsr", "Bearer dsr_abcdefgh_x", "Bearer dsr_\xe4", "Bearer dsr_a\x00"]
)
def test_a_key_that_is_none_is_a_401(sent: str, anonymous_api: Api) -> None:
    response = anonymous_api.get("teams", authorization=sent)
    assert problem(response) == (401, "not_authenticated")
    assert response["WWW-Authenticate"] == 'Bearer realm="Dossier"'


def test_the_request_id_is_echoed(anonymous_api: Api) -> None:
    response = anonymous_api.get("teams", x_request_id="mine-7")
    assert response["X-Request-ID"] == json.loads(response.content)["request_id"] == "mine-7"


def test_head_answers_like_get(team: Team, admin_api: Api) -> None:
    assert admin_api.send("HEAD", "teams/care").status_code == 200
