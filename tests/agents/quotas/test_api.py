"""REST: limits and uses; who sees them, who sets them, and how high."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from agents.quotas.uses import UseCounter
from teams.models import Team, User
from tests.client import Api

pytestmark = [pytest.mark.django_db, pytest.mark.finding("3q")]

NOTHING = {
    "requests_under_way": None,
    "requests_per_minute": None,
    "text_bytes_per_day": None,
    "record_bytes_per_day": None,
}


@pytest.fixture
def key(agent: Agent) -> tuple[ApiKey, str]:
    return api_key_create(agent=agent, name="Program")


@pytest.fixture
def address(key: tuple[ApiKey, str]) -> str:
    return f"agents/ada/keys/{key[0].id}/limits"


def put(api: Api, address: str, **limits: int | None) -> Any:
    return api.send("PUT", address, {**NOTHING, **limits})


def test_a_key_reads_its_own_limits_and_uses(key: tuple[ApiKey, str], agent: Agent) -> None:
    uses = UseCounter()
    uses.add([f"key:{key[0].id}"], requests=3, text_bytes=70)
    uses.flush()
    own, agents = Api(key[1]).send("GET", "limits").json()["results"]
    assert (own["kind"], own["id"], own["name"]) == ("key", str(key[0].id), "Ada: Program")
    assert own["limits"] == own["allowed"]
    assert own["limits"]["requests_per_minute"] == 6_000
    assert len(own["days"]) == 30
    assert (own["days"][-1]["requests"], own["days"][-1]["text_bytes"]) == (3, 70)
    assert (agents["kind"], agents["id"]) == ("agent", str(agent.id))
    assert set(agents["limits"].values()) == {0}


def test_an_organisation_raises_and_a_team_lowers(
    admin_api: Api, as_person: Callable[[User], Api], owner: User, address: str
) -> None:
    answer = put(admin_api, address, requests_per_minute=9_000)
    assert answer.status_code == 200
    assert answer.json()["allowed"]["requests_per_minute"] == 9_000
    lowered = put(as_person(owner), address, requests_per_minute=8_000, text_bytes_per_day=5)
    assert lowered.json()["limits"]["requests_per_minute"] == 8_000
    assert lowered.json()["limits"]["text_bytes_per_day"] == 5
    above = put(as_person(owner), address, requests_per_minute=9_001)
    assert above.status_code == 422
    assert "9,000" in above.json()["errors"]["requests_per_minute"][0]["message"]
    assert put(as_person(owner), address, requests_per_minute=0).status_code == 422, "none at all is above any"
    assert put(admin_api, address, requests_per_minute=100).json()["limits"]["requests_per_minute"] == 100


@pytest.mark.usefixtures("editor", "teammate", "outsider")
def test_others_see_nothing(as_person: Callable[[User], Api], other_agent_api: Api, team: Team, address: str) -> None:
    people = User.objects.filter(username__in=["editor", "teammate", "outsider"])
    assert len(people) == 3
    for api in (*map(as_person, people), other_agent_api):
        for where in (address, "agents/ada/limits", f"teams/{team.slug}/limits", f"people/{uuid4()}/limits"):
            assert api.send("GET", where).status_code in {403, 404}
            assert put(api, where, requests_per_minute=1).status_code in {403, 404}


def test_nobody_sets_his_own(
    key: tuple[ApiKey, str], address: str, as_person: Callable[[User], Api], owner: User
) -> None:
    assert put(Api(key[1]), address, requests_per_minute=1).status_code == 403
    assert as_person(owner).send("GET", f"people/{owner.id}/limits").status_code == 200
    assert put(as_person(owner), f"people/{owner.id}/limits", requests_per_minute=1).status_code == 403


def test_an_agent_of_two_teams_needs_an_admin_of_both(
    as_person: Callable[[User], Api], owner: User, admin_api: Api, agent: Agent
) -> None:
    assert put(as_person(owner), "agents/ada/limits", requests_under_way=5).status_code == 200
    agent.teams.add(Team.objects.create(slug="second", name="Second"))
    assert put(as_person(owner), "agents/ada/limits", requests_under_way=6).status_code == 403
    assert put(admin_api, "agents/ada/limits", requests_under_way=7).status_code == 200


def test_what_cannot_be_used_is_refused(admin_api: Api, address: str) -> None:
    assert put(admin_api, address, requests_per_minute=-1).status_code == 422
    assert put(admin_api, address, surprise=1).status_code == 422
    assert admin_api.send("PUT", address, {"requests_per_minute": 5}).status_code == 422
    assert put(admin_api, f"agents/ada/keys/{uuid4()}/limits").status_code == 404
    assert put(admin_api, f"people/{uuid4()}/limits").status_code == 404
    assert put(admin_api, address.removeprefix("agents/ada/")).status_code == 200
    assert admin_api.send("GET", "limits").json()["results"][0]["kind"] == "key"
