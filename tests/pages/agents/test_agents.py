"""The list of agents, the page of one, and new ones."""

from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create, daily_log_append
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.services import team_create
from tests.pages.conftest import SignedIn, text_of


def test_the_page_shows_files_days_memories_and_contexts(
    signed_in: SignedIn, teammate: User, owner: User, team: Team, agent: Agent
) -> None:
    memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text="Likes tea")], principal=owner.principal)
    assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(topic="about tea"))
    page = text_of(signed_in(teammate).get("/agents/luna/"))
    for words in (
        "Who this agent is",
        "Empty",
        "empty",
        "6 tokens · always included",
        "Likes tea",
        "about tea",
    ):
        assert words in page


def test_teams_that_one_may_not_see_are_not_named(signed_in: SignedIn, teammate: User, team: Team) -> None:
    hidden = team_create(slug="hidden", name="Hidden Team")
    agent_create(slug="luna", name="Luna", teams=[team, hidden])
    browser = signed_in(teammate)
    for address in ("/agents/", "/agents/luna/", "/preview/?agent=luna"):
        assert "Hidden Team" not in text_of(browser.get(address))


def test_the_strip_shows_which_days_have_a_log(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    from django.utils import timezone

    daily_log_append(agent=agent, date=agent.today(timezone.now()), text="x", principal=owner.principal)
    page = text_of(signed_in(owner).get("/agents/luna/"))
    assert page.count("has a log") == 1
    assert page.count('class="filled today"') == 1


def test_an_admin_makes_an_agent(signed_in: SignedIn, admin: User, team: Team) -> None:
    data = {
        "name": "Kit the Helper",
        "teams": [str(team.pk)],
        "instructions": "One\r\nTwo",
        "timezone": "Europe/Berlin",
    }
    response = signed_in(admin).post("/agents/new/", data)
    assert response["Location"] == "/agents/kit-the-helper/"
    agent = Agent.objects.get(slug="kit-the-helper")
    assert list(agent.teams.all()) == [team]
    assert agent.files.get(file_key="INSTRUCTIONS").content == "One\nTwo"


@pytest.mark.parametrize(
    ("name", "slug", "fault"),
    [
        ("Luna", "", "An agent with this slug exists."),
        ("月", "", "No slug can be derived from this name. Enter one."),
        ("Kit", "Not A Slug", "single hyphens"),
        ("", "", "required"),
    ],
)
@pytest.mark.usefixtures("agent")
def test_what_cannot_be_an_agent_is_explained(
    name: str, slug: str, fault: str, signed_in: SignedIn, admin: User
) -> None:
    response = signed_in(admin).post("/agents/new/", {"name": name, "slug": slug, "timezone": "UTC"})
    assert response.status_code == 422
    assert fault in text_of(response)
    assert Agent.objects.count() == 1


def test_others_cannot_make_one(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    assert signed_in(owner).post("/agents/new/", {"name": "Kit", "timezone": "UTC"}).status_code == 403
    assert Agent.objects.count() == 1


def test_the_pages_take_few_queries(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent, django_assert_num_queries: Any
) -> None:
    facts = [MemoryFacts(kind="fact", text=f"Fact {number}") for number in range(12)]
    memories_create(owner=agent, facts=facts, principal=owner.principal)
    for number in range(6):
        agent_create(slug=f"agent-{number}", name=f"Agent {number}", teams=[team])
        assemble(agent=agent, team=team, principal=owner.principal, asked=AssemblyRequest())
    browser = signed_in(owner)
    with django_assert_num_queries(14):
        browser.get("/agents/luna/")
    with django_assert_num_queries(5):
        browser.get("/agents/")
