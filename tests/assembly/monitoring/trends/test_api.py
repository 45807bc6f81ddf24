"""Trends over REST: the counts of what one may see, day by day."""

import datetime
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.monitoring.new_contexts import follow_assemblies
from memories.services import MemoryFacts, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.assembly.monitoring.trends.count_factories import dated, day_of, told
from tests.client import Api, errors_of, problem
from tests.rights.test_tenancy import TRENDS

pytestmark = pytest.mark.django_db
NOON = datetime.datetime(2026, 3, 14, 12, tzinfo=datetime.UTC)
MARCH = "since=2026-03-12&until=2026-03-15"


@pytest.fixture
def counted(agent: Agent, team: Team) -> None:
    """One context in the team and one of the agent alone, a day apart."""
    follow_assemblies([dated(told(agent), NOON - datetime.timedelta(days=1)), dated(told(agent, team), NOON)])


def contexts(api: Api, query: str = "") -> list[int]:
    return [day["contexts"] for day in api.get(f"trends?{MARCH}{query}").json()["days"]]


def test_every_address_is_tried_here() -> None:
    assert {"trends"} == TRENDS


def test_each_day_has_its_counts(counted: None, agent_api: Api) -> None:
    document = agent_api.get(f"trends?{MARCH}").json()
    assert (document["since"], document["until"], document["timezone"]) == ("2026-03-12", "2026-03-15", "UTC")
    assert [day["day"] for day in document["days"]] == ["2026-03-12", "2026-03-13", "2026-03-14", "2026-03-15"]
    assert [day["contexts"] for day in document["days"]] == [0, 1, 1, 0]
    total = document["total"]
    assert (total["contexts"], total["budget"]) == (2, 32_000)
    assert sum(total["layers"].values()) == total["tokens"] == sum(day["tokens"] for day in document["days"])
    assert 0 < total["p50_ms"] <= total["p95_ms"]
    assert document["days"][0] | {"p50_ms": 0} == document["days"][0] | {"p50_ms": 0, "layers": {}, "tokens": 0}


def test_they_are_narrowed_to_an_agent_or_a_team(counted: None, admin_api: Api) -> None:
    Agent.objects.create(slug="bob", name="Bob")
    assert contexts(admin_api) == contexts(admin_api, "&agent=ada") == [0, 1, 1, 0]
    assert contexts(admin_api, "&team=care") == contexts(admin_api, "&team=care&agent=ada") == [0, 0, 1, 0]
    assert contexts(admin_api, "&agent=bob") == [0, 0, 0, 0]


def test_everybody_sees_what_is_theirs(
    counted: None, owner: User, outsider: User, other_agent_api: Api, as_person: Callable[[User], Api]
) -> None:
    assert contexts(as_person(owner)) == [0, 1, 1, 0]
    for api in (as_person(outsider), other_agent_api):
        assert contexts(api) == [0, 0, 0, 0]
        assert problem(api.get("trends?agent=ada")) == (404, "not_found")
        assert problem(api.get("trends?team=care")) == (404, "not_found")


def test_a_key_is_needed(anonymous_api: Api) -> None:
    assert problem(anonymous_api.get("trends")) == (401, "not_authenticated")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("since=yesterday", "since"),
        ("until=2026-02-30", "until"),
        ("since=2026-03-02&until=2026-03-01", "until"),
        ("since=2020-01-01&until=2026-01-01", "since"),
        ("since=1900-01-01", "since"),
        ("day=2026-03-01", "day"),
    ],
)
def test_bad_values_are_named(query: str, field: str, admin_api: Api) -> None:
    assert errors_of(admin_api.get(f"trends?{query}")) == {field}


@pytest.mark.parametrize("query", ["until=1900-01-01", "since=2200-12-31&until=2200-12-31", ""])
def test_days_at_the_ends_of_time(query: str, admin_api: Api) -> None:
    assert admin_api.get(f"trends?{query}").status_code == 200


def test_memories_that_nobody_was_told(counted: None, agent: Agent, team: Team, admin_api: Api) -> None:
    facts = MemoryFacts(kind="fact", text="The ferry is late")
    known = memory_create(owner=agent, facts=facts, principal=SYSTEM)
    told_of = memory_create(owner=team, facts=facts, principal=SYSTEM)
    follow_assemblies([dated(told(agent, team, topic="weather"), NOON)])
    follow_assemblies([dated(told(agent, team, topic="ferry"), NOON)])
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="New"), principal=SYSTEM)
    unused = admin_api.get(f"trends?{MARCH}").json()["unused_memories"]
    assert (unused["total"], unused["unused"]) == (3, 1)
    later = admin_api.get("trends?since=2026-03-15&until=2026-03-16&agent=ada").json()["unused_memories"]
    assert (later["total"], later["unused"]) == (2, 2)
    assert later["oldest_ids"][0] == str(known.id)
    assert str(told_of.id) not in later["oldest_ids"]


def test_it_takes_as_many_queries_for_many_agents(
    team: Team, agent: Agent, admin_api: Api, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    admin_api.get("trends")
    for number in range(20):
        day_of(agent, NOON.date(), team_id=Team.objects.create(slug=f"t{number}", name="T").id)
    with django_assert_num_queries(5):  # the key, the agent, the sums, the maps, the memories
        assert sum(contexts(admin_api, "&agent=ada")) == 20
