"""The checklist of first steps on the start page of an admin: what is done is ticked, and what comes next is a link."""

import re

import pytest
from django.test import Client

from agents.keys import api_key_create
from agents.services import agent_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.services import team_create
from tests.pages.conftest import SignedIn, text_of


def steps(browser: Client) -> tuple[int, list[str]]:
    """How many steps are done, and where the others lead."""
    page = text_of(browser.get("/"))
    if "first-steps" not in page:
        return -1, []
    listed = page.split('class="items first-steps"')[1].split("</ol>")[0]
    return listed.count(">done<"), re.findall(r'href="([^"]+)"', listed)


def test_an_empty_installation_leads_through_all_steps(signed_in: SignedIn, admin: User) -> None:
    browser = signed_in(admin)
    assert steps(browser) == (0, ["/teams/new/", "/agents/new/"])
    browser.post("/teams/new/", {"name": "Care"})
    assert steps(browser) == (1, ["/agents/new/"])
    agent_create(slug="luna", name="Luna", teams=[Team.objects.get()], principal=SYSTEM)
    done, links = steps(browser)
    assert (done, links[0]) == (2, "/agents/luna/files/IDENTITY/")
    browser.post(links[0], {"content": "You are Luna.", "version": 1, "revision": 0, "deed": "publish"})
    browser.post("/preview/", {"agent": "luna", "team": "care", "profile": "conversation"})
    _key, secret = api_key_create(agent=None, name="Try", principal=admin.principal)
    page = text_of(browser.get("/"))
    assert "curl -s http://testserver/api/v1/assemblies" in page
    answer = Client().post(
        "/api/v1/assemblies", {"agent": "luna"}, "application/json", headers={"authorization": f"Bearer {secret}"}
    )
    assert answer.status_code == 201
    assert steps(browser)[0] in {-1, 5}


def test_it_is_hidden_for_the_admin_who_hides_it(signed_in: SignedIn, admin: User) -> None:
    browser = signed_in(admin)
    browser.post("/first-steps/hide/")
    assert steps(browser) == (-1, [])
    assert "Get started" in text_of(browser.get("/")), "an empty installation still says how to begin"


@pytest.mark.parametrize("in_team", [True, False])
def test_nobody_but_admins_sees_it(in_team: bool, signed_in: SignedIn, owner: User, outsider: User) -> None:
    team_create(slug="x", name="X", principal=SYSTEM)
    assert steps(signed_in(owner if in_team else outsider)) == (-1, [])
