"""What each filter finds, alone and with others, and for whom."""

from collections.abc import Mapping

import pytest

from agents.models import Agent
from agents.services import agent_create, agent_delete
from assembly.contexts.search.parameters import require_context_query
from assembly.contexts.search.search import search_contexts
from assembly.contexts.search.visible_owners import VisibleOwners
from config.http.errors import Invalid
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from teams.services import team_create
from tests.assembly.contexts.context_rows import context, piece

pytestmark = pytest.mark.django_db
FILE, MEMORY = "agent_file:0000", "memory:1111"


@pytest.fixture
def recorded(team: Team, agent: Agent) -> None:
    """Contexts that differ in one thing each; the topic names it."""
    old, new = piece(f"{FILE}@1", "A kettle whistles."), piece(f"{FILE}@2", "The kettles are silent.")
    memory, profile = piece(f"{MEMORY}@1"), piece("profile:conversation@1", "a kettle in the profile")
    other = agent_create(slug="eve", name="Eve", teams=[team_create(slug="far", name="Faraway")])
    context(agent, team, age=0, topic="plain", told=[profile])
    context(agent, age=1, topic="alone")
    context(agent, team, age=2, topic="person", requested_by="person:42")
    context(agent, team, age=3, topic="profile", profile_name="research")
    context(agent, team, age=4, topic="late", warnings=["SOURCE_TIMEOUT"])
    context(agent, team, age=5, topic="over", warnings=["BUDGET_EXCEEDED", "TIME_EXCEEDED"])
    context(agent, team, age=6, topic="cut", truncated=True, codes=["truncated", "fits"])
    context(agent, team, age=7, topic="ranked", left_out=3, codes=["outranked"], omitted=[memory])
    context(agent, team, age=8, topic="old file", told=[old], codes=["fits"])
    context(agent, team, age=9, topic="new file", told=[new, memory])
    context(other, age=10, topic="far away")
    context(agent, team, age=3000, topic="long ago")


def topics(principal: Principal = SYSTEM, /, **given: str) -> list[str]:
    visible = VisibleOwners(principal)
    page = search_contexts(visible=visible, wanted=require_context_query(given, visible), limit=50)
    assert page.next is None
    return [one.topic for one in page.contexts]


ALL = [
    "plain", "alone", "person", "profile", "late", "over", "cut", "ranked", "old file", "new file", "far away",
    "long ago",
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ALL),
        ({"agent": "eve"}, ["far away"]),
        ({"agent": "ada"}, [topic for topic in ALL if topic != "far away"]),
        ({"team": "care"}, [topic for topic in ALL if topic not in {"far away", "alone"}]),
        ({"requested_by": "person:42"}, ["person"]),
        ({"requested_by": "me"}, [topic for topic in ALL if topic != "person"]),
        ({"until": "2026-11-19"}, ["long ago"]),
        ({"since": "2026-11-20T11:59:00Z"}, ["plain", "alone"]),
        ({"since": "2026-11-20T11:50:00Z", "until": "2026-11-20T11:51:00Z"}, ["far away"]),
        ({"since": "2026-11-21"}, []),
        ({"profile": "research"}, ["profile"]),
        ({"warning": "SOURCE_TIMEOUT"}, ["late"]),
        ({"warning": "TIME_EXCEEDED"}, ["over"]),
        ({"reason": "fits"}, ["cut", "old file"]),
        ({"reason": "outranked"}, ["ranked"]),
        ({"reason": "duplicate"}, []),
        ({"included_ref": FILE}, ["old file", "new file"]),
        ({"included_ref": f"{FILE}@2"}, ["new file"]),
        ({"included_ref": f"{FILE}@3"}, []),
        ({"included_ref": MEMORY}, ["new file"]),
        ({"excluded_ref": MEMORY}, ["ranked"]),
        ({"excluded_ref": FILE}, []),
        ({"outcome": "truncated"}, ["late", "over", "cut"]),
        ({"outcome": "excluded"}, ["ranked"]),
        ({"q": "kettle"}, ["old file", "new file"]),
        ({"q": "silent kettle"}, ["new file"]),
        ({"q": "FILES"}, ["old file", "new file"]),
        ({"q": "eve"}, ["far away"]),
        ({"q": "the"}, []),
        ({"q": "kettle", "included_ref": f"{FILE}@1"}, ["old file"]),
        ({"agent": "ada", "outcome": "excluded", "excluded_ref": MEMORY, "reason": "outranked"}, ["ranked"]),
        ({"agent": "eve", "included_ref": FILE}, []),
        ({"team": "care", "q": "file", "since": "2026-11-20T11:52:00Z"}, ["old file"]),
        ({"agent": "", "q": " "}, ALL),
    ],
)
def test_each_filter_finds_what_it_says(given: Mapping[str, str], expected: list[str], recorded: None) -> None:
    assert topics(SYSTEM, **given) == expected


@pytest.mark.parametrize(
    "given",
    [
        {"agent": "nobody"},
        {"team": "nowhere"},
        {"requested_by": "olga"},
        {"since": "yesterday"},
        {"since": "2026-02-30"},
        {"until": "1066-10-14T00:00:00Z"},
        {"profile": "x" * 61},
        {"warning": "LATE"},
        {"reason": "because"},
        {"included_ref": "the knowledge file"},
        {"included_ref": "/contexts/"},
        {"excluded_ref": "memory:" + "x" * 160},
        {"outcome": "some"},
        {"q": "x" * 201},
    ],
)
def test_what_means_nothing_is_refused_with_a_sentence(given: Mapping[str, str], team: Team) -> None:
    with pytest.raises(Invalid) as refused:
        topics(SYSTEM, **given)
    assert set(refused.value.extra["errors"]) == set(given)


def test_each_sees_the_contexts_of_what_is_theirs(
    recorded: None, admin: User, teammate: User, outsider: User, agent: Agent
) -> None:
    mine = [topic for topic in ALL if topic != "far away"]
    assert topics(admin.principal) == ALL
    assert topics(teammate.principal) == mine
    assert topics(outsider.principal) == []
    assert topics(Principal(kind="agent_key", agent_id=agent.id)) == ["alone"]
    assert topics(teammate.principal, included_ref=FILE) == ["old file", "new file"]
    assert topics(outsider.principal, included_ref=FILE) == []
    assert topics(outsider.principal, q="kettle") == []
    with pytest.raises(Invalid):
        topics(teammate.principal, agent="eve")


def test_contexts_of_what_was_deleted_are_found_by_admins_alone(
    recorded: None, admin: User, teammate: User, agent: Agent
) -> None:
    agent_delete(agent=agent, principal=admin.principal)
    assert [one.name for one in VisibleOwners(admin.principal).deleted_agents] == ["Ada"]
    assert topics(admin.principal, agent="ada", warning="SOURCE_TIMEOUT") == ["late"]
    assert topics(teammate.principal) == []
    with pytest.raises(Invalid):
        topics(teammate.principal, agent="ada")
