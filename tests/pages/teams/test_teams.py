"""The list of teams, the page of one, new ones, and members."""

import re
from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create
from teams.models import Membership, Team, User, admins_of
from teams.principal import Role
from teams.services import membership_set, team_create
from tests.pages.conftest import SignedIn, text_of

MEMBERS = "/teams/demo/members/"


def role_of(user: User) -> str | None:
    return Membership.objects.filter(user=user).values_list("role", flat=True).first()


def test_the_page_shows_files_members_and_agents(signed_in: SignedIn, teammate: User, agent: Agent) -> None:
    page = text_of(signed_in(teammate).get("/teams/demo/"))
    for words in ("What this team is trying to achieve", "Olga Owner", "Luna", "1 agent", "2 members"):
        assert words in page


def test_an_admin_makes_a_team(signed_in: SignedIn, admin: User) -> None:
    assert signed_in(admin).post("/teams/new/", {"name": "Customer Care"})["Location"] == "/teams/customer-care/"
    assert Team.objects.get(slug="customer-care").files.count() == 3


def test_a_name_that_is_taken_is_explained(signed_in: SignedIn, admin: User, team: Team) -> None:
    response = signed_in(admin).post("/teams/new/", {"name": "Other", "slug": "demo"})
    assert response.status_code == 422
    assert "A team with this slug exists. Choose another slug." in text_of(response)


def test_somebody_is_added_by_username(signed_in: SignedIn, admin: User, team: Team, outsider: User) -> None:
    response = signed_in(admin).post(MEMBERS, {"username": "otto", "role": "editor"}, follow=True)
    assert "Otto Outsider added." in text_of(response)
    assert role_of(outsider) == "editor"


@pytest.mark.finding("6.8b")
def test_an_admin_of_a_team_adds_people_of_the_own_teams_and_learns_of_nobody_else(
    signed_in: SignedIn, owner: User, team: Team, teammate: User, outsider: User
) -> None:
    team_create(slug="mine", name="Mine", principal=owner.principal)
    browser = signed_in(owner)
    answers = [browser.post("/teams/mine/members/", {"username": name, "role": "viewer"}) for name in ("otto", "xyzt")]
    assert [answer.status_code for answer in answers] == [422, 422]
    shown = [re.sub("otto|xyzt|[A-Za-z0-9]{64}", "", text_of(answer)) for answer in answers]
    assert shown[0] == shown[1]
    assert "Ask an admin of the organisation" in shown[0]
    assert browser.post("/teams/mine/members/", {"username": "tim", "role": "viewer"}).status_code == 302


@pytest.mark.finding("6.8c")
def test_a_team_keeps_an_admin(signed_in: SignedIn, owner: User, admin: User, team: Team) -> None:
    for person in (owner, admin):
        for address, data in ((f"{MEMBERS}{owner.id}/role/", {"role": "viewer"}), (f"{MEMBERS}{owner.id}/remove/", {})):
            page = text_of(signed_in(person).post(address, data, follow=True))
            assert "is the only admin of this team. Make someone else an admin first." in page
    response = signed_in(owner).post(MEMBERS, {"username": "olga", "role": "viewer"})
    assert response.status_code == 422
    assert list(admins_of(team)) == [owner]


@pytest.mark.parametrize("username", ["nobody", "OTTO", "", "nul\x00"])
def test_an_unknown_username_is_explained(
    username: str, signed_in: SignedIn, owner: User, team: Team, outsider: User
) -> None:
    response = signed_in(owner).post(MEMBERS, {"username": username, "role": "editor"})
    assert response.status_code == 422
    assert 'class="fault"' in text_of(response)
    assert role_of(outsider) is None


def test_a_role_is_changed(signed_in: SignedIn, owner: User, teammate: User) -> None:
    response = signed_in(owner).post(f"{MEMBERS}{teammate.id}/role/", {"role": "editor"}, follow=True)
    assert "The role of Tim is now editor." in text_of(response)
    assert role_of(teammate) == "editor"


def test_somebody_is_removed(signed_in: SignedIn, owner: User, teammate: User) -> None:
    signed_in(owner).post(f"{MEMBERS}{teammate.id}/remove/")
    assert role_of(teammate) is None


def test_who_leaves_the_team_lands_on_a_page_that_can_be_seen(
    signed_in: SignedIn, owner: User, editor: User, team: Team
) -> None:
    membership_set(team=team, user=editor, role=Role.ADMIN)
    response = signed_in(owner).post(f"{MEMBERS}{owner.id}/remove/", follow=True)
    assert response.redirect_chain[-1] == ("/teams/", 302)
    assert response.status_code == 200


def test_only_admins_of_the_team_manage_members(
    signed_in: SignedIn, editor: User, teammate: User, outsider: User, admin: User
) -> None:
    for person, status in ((editor, 403), (teammate, 403), (outsider, 404), (admin, 302)):
        address = f"{MEMBERS}{teammate.id}/role/"
        assert signed_in(person).post(address, {"role": "admin"}).status_code == status
    assert role_of(teammate) == "admin"


def test_the_pages_take_few_queries(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent, django_assert_num_queries: Any
) -> None:
    for number in range(5):
        other = team_create(slug=f"team-{number}", name=f"Team {number}", principal=owner.principal)
        agent_create(slug=f"agent-{number}", name=f"Agent {number}", teams=[team, other])
    browser = signed_in(owner)
    with django_assert_num_queries(12):
        browser.get("/teams/demo/")
    with django_assert_num_queries(5):
        browser.get("/teams/")


@pytest.mark.finding("E8")
def test_removing_somebody_asks_first(signed_in: SignedIn, owner: User, editor: User, teammate: User) -> None:
    browser = signed_in(owner)
    assert f'href="{MEMBERS}{teammate.id}/remove/"' in text_of(browser.get(MEMBERS))
    page = text_of(browser.get(f"{MEMBERS}{teammate.id}/remove/"))
    assert "Remove Tim from Demo?" in page
    assert role_of(teammate) == "viewer"
    assert signed_in(editor).get(f"{MEMBERS}{teammate.id}/remove/").status_code == 403
