"""Home: what is mine, what changed, what may need a look."""

from typing import Any

from agents.models import Agent
from agents.services import agent_create
from assembly.asked import Asked
from assembly.service import assemble
from teams.models import Team, User
from teams.services import team_create
from tests.pages.conftest import SignedIn, text_of
from tests.pages.writing import write


def test_somebody_without_a_team_is_told_the_first_step(signed_in: SignedIn, outsider: User, team: Team) -> None:
    page = text_of(signed_in(outsider).get("/"))
    assert "You are not in a team yet" in page
    assert "<b>otto</b>" in page
    assert "Demo" not in page


def test_an_admin_of_an_empty_installation_makes_the_first_team(signed_in: SignedIn, admin: User) -> None:
    assert "Make the first team" in text_of(signed_in(admin).get("/"))


def test_changes_name_who_made_them(signed_in: SignedIn, teammate: User, owner: User, team: Team, agent: Agent) -> None:
    write(team, "Ship it.", owner)
    page = text_of(signed_in(teammate).get("/"))
    assert "version 2 by Olga Owner" in page
    assert "/teams/demo/files/GOALS/history/2/" in page
    assert "by Dossier" not in page


def test_nothing_of_other_teams_is_shown(signed_in: SignedIn, outsider: User, owner: User, agent: Agent) -> None:
    team = team_create(slug="other", name="Other", principal=outsider.principal)
    write(team, "Secret", outsider)
    agent_create(slug="kit", name="Kit", teams=[team])
    page = text_of(signed_in(owner).get("/"))
    assert "Other" not in page
    assert "Kit" not in page


def test_contexts_over_their_budget_are_shown(signed_in: SignedIn, owner: User, team: Team, agent: Agent) -> None:
    assemble(agent=agent, team=team, principal=owner.principal, asked=Asked(max_tokens=1))
    assert "over budget" in text_of(signed_in(owner).get("/"))


def test_home_takes_few_queries(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent, django_assert_num_queries: Any
) -> None:
    for number in range(12):
        write(team, str(number), owner)
        agent_create(slug=f"agent-{number}", name=f"Agent {number}", teams=[team])
        assemble(agent=agent, team=team, principal=owner.principal, asked=Asked(max_tokens=1))
    browser = signed_in(owner)
    with django_assert_num_queries(8):
        browser.get("/")
