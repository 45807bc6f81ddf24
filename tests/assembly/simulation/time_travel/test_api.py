"""Looking back over REST: what an agent, or a recorded request, would have been told at a moment."""

import datetime
from collections.abc import Callable
from urllib.parse import quote

import pytest

from agents.models import Agent
from assembly.models import Assembly
from memories.services import MemoryFacts, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.simulation.time_travel.edit_story import BEGUN, Clock, clock_set
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db

THEN = "2026-03-01T07:00:00Z"
ADDRESS = f"agents/ada/as-of?at={THEN}&team=care"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return clock_set(monkeypatch, BEGUN)


@pytest.fixture
def told(clock: Clock, agent: Agent, team: Team, agent_api: Api) -> str:
    """The id of a context that was told an hour after all began; since then, everything says something else."""
    write(team, "Answer within a day.")
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="The ferry is late"), principal=SYSTEM)
    clock.goes_on(hours=1)
    body = {"agent": "ada", "team": "care", "topic": "the ferry", "max_tokens": 500, "filters": {"exclude": ["x"]}}
    answer = agent_api.post("assemblies", body)
    assert answer.status_code == 201, answer.content
    clock.goes_on(hours=1)
    write(team, "Answer within an hour.")
    clock.goes_on(days=1)
    identity: str = answer.json()["id"]
    return identity


def write(team: Team, content: str) -> None:
    goals = team.files.get(file_key="GOALS")
    file_save(file=goals, content=content, expected_version=goals.version, author=SYSTEM.author)


def test_it_tells_what_would_have_been_told_and_records_nothing(told: str, agent_api: Api) -> None:
    rows = Assembly.objects.count()
    answer = agent_api.get(f"{ADDRESS}&topic=the+ferry&max_tokens=500")
    assert answer.status_code == 200, answer.content
    document = answer.json()
    really = agent_api.get(f"assemblies/{told}").json()
    assert document["content"] == really["content"]
    assert document["sha256"] == really["sha256"]
    assert (document["at"], document["team"], document["profile"]) == (THEN, "care", "conversation")
    goals = next(item for item in document["items"] if item["section"] == "goals")
    assert goals["ref"].endswith("@2")
    assert goals["included"]
    assert sum(section["tokens"] for section in document["sections"]) == document["tokens"]
    assert {limit["code"] for limit in document["limits"]} == {"agent_of_today", "profile_of_today"}
    assert document["nearest"]["before"]["id"] == told
    assert document["nearest"]["after"] is None
    assert Assembly.objects.count() == rows


def test_a_recorded_request_is_asked_at_another_moment(told: str, agent_api: Api) -> None:
    really = agent_api.get(f"assemblies/{told}").json()
    then = agent_api.get(f"assemblies/{told}/as-of?at={THEN}").json()
    assert then["content"] == really["content"]
    assert then["budget"] == 500
    later = agent_api.get(f"assemblies/{told}/as-of?at=2026-03-02T00:00:00Z").json()
    assert "within an hour" in later["content"]
    assert later["topic"] == "the ferry"


def test_moments_may_have_an_offset(told: str, agent_api: Api) -> None:
    moment = datetime.datetime.fromisoformat(THEN).astimezone(datetime.timezone(datetime.timedelta(hours=2)))
    answer = agent_api.get(f"agents/ada/as-of?team=care&at={quote(moment.isoformat())}")
    assert answer.json()["content"] == agent_api.get(ADDRESS).json()["content"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "at"),
        ("at=yesterday", "at"),
        ("at=0001-01-01T00:00:00Z", "at"),
        ("at=0001-01-01T00:00:00%2B14:00", "at"),
        ("at=1900-01-01T00:00:00Z", "at"),
        ("at=2026-02-28T00:00:00Z", "at"),
        ("at=2199-01-01T00:00:00Z", "at"),
        (f"at={THEN}&max_tokens=-1", "max_tokens"),
        (f"at={THEN}&max_tokens=many", "max_tokens"),
        (f"at={THEN}&profile=nope", "profile"),
        (f"at={THEN}&tokenizer=nope", "tokenizer"),
        (f"at={THEN}&topic=%00", "topic"),
        (f"at={THEN}&when=then", "when"),
    ],
)
def test_what_cannot_be_used_is_named(told: str, agent_api: Api, query: str, field: str) -> None:
    assert errors_of(agent_api.get(f"agents/ada/as-of?{query}")) == {field}
    if field in {"at", "when"}:
        assert errors_of(agent_api.get(f"assemblies/{told}/as-of?{query}")) == {field}


def test_who_may_read_the_agent_may_look_back(
    told: str, owner: User, teammate: User, admin_api: Api, as_person: Callable[[User], Api]
) -> None:
    for api in (as_person(owner), as_person(teammate), admin_api):
        assert api.get(ADDRESS).status_code == 200
        assert api.get(f"assemblies/{told}/as-of?at={THEN}").status_code == 200


def test_for_others_there_is_nothing(
    told: str, outsider: User, other_agent_api: Api, agent_api: Api, as_person: Callable[[User], Api]
) -> None:
    for api in (as_person(outsider), other_agent_api):
        assert problem(api.get(ADDRESS)) == (404, "not_found")
        assert problem(api.get(f"assemblies/{told}/as-of?at={THEN}")) == (404, "not_found")
    assert problem(agent_api.get(f"agents/ada/as-of?at={THEN}&team=elsewhere")) == (404, "not_found")


def test_once_the_agent_is_gone_there_is_nothing_to_look_back_to(told: str, agent: Agent, admin_api: Api) -> None:
    assert admin_api.delete("agents/ada", if_match='"1"').status_code == 204
    assert admin_api.get(f"assemblies/{told}").status_code == 200
    assert problem(admin_api.get(f"assemblies/{told}/as-of?at={THEN}")) == (409, "agent_deleted")
