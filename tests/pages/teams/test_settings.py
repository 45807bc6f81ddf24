"""Settings of agents and teams: names, time zones, teams, and deleting with the short name typed."""

from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create, agent_update
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.services import team_create, team_update
from tests.pages.conftest import SignedIn, text_of

AGENT, TEAM = "/agents/luna/settings/", "/teams/demo/settings/"


def sent(agent: Agent, *teams: Team, **changes: Any) -> dict[str, Any]:
    """What the form of the agent's settings sends."""
    known = {"version": agent.version, "name": "Luna", "timezone": "UTC", "teams": [team.pk for team in teams]}
    return {**known, **changes}


def test_an_agent_is_renamed_and_moved_to_another_day(
    signed_in: SignedIn, owner: User, agent: Agent, team: Team
) -> None:
    response = signed_in(owner).post(AGENT, sent(agent, team, name="Luna II", timezone="Asia/Tokyo"))
    assert response["Location"] == "/agents/luna/"
    agent.refresh_from_db()
    assert (agent.name, agent.timezone, agent.version, list(agent.teams.all())) == ("Luna II", "Asia/Tokyo", 2, [team])


def test_teams_of_others_stay_as_they_are(signed_in: SignedIn, owner: User, team: Team) -> None:
    hidden, own = (
        team_create(slug="hidden", name="Hidden Team"),
        team_create(slug="own", name="Own", principal=owner.principal),
    )
    agent = agent_create(slug="luna", name="Luna", teams=[team, hidden])
    browser = signed_in(owner)
    assert "Hidden Team" not in text_of(browser.get(AGENT))
    browser.post(AGENT, sent(agent, own))
    assert set(agent.teams.all()) == {hidden, own}
    agent.refresh_from_db()
    assert browser.post(AGENT, sent(agent, hidden)).status_code == 422
    assert set(agent.teams.all()) == {hidden, own}


@pytest.mark.finding("1")
@pytest.mark.parametrize("slug", ["editor-there", "viewer-elsewhere"])
def test_an_admin_of_one_team_neither_puts_an_agent_into_another_nor_takes_it_out(
    signed_in: SignedIn, mixed: User, slug: str
) -> None:
    here, other = Team.objects.get(slug="admin-here"), Team.objects.get(slug=slug)
    agent, browser = Agent.objects.get(slug="agent-here"), signed_in(mixed)
    offered = text_of(browser.get("/agents/agent-here/settings/"))
    assert (offered.count(str(here.pk)), offered.count(str(other.pk))) == (1, 0)
    assert browser.post("/agents/agent-here/settings/", sent(agent, here, other)).status_code == 422
    assert list(agent.teams.all()) == [here]
    shared = agent_create(slug="shared", name="Shared", teams=[here, other])
    assert browser.post("/agents/shared/settings/", sent(shared, here)).status_code == 302
    assert set(shared.teams.all()) == {here, other}


def test_who_takes_it_out_of_the_last_common_team_lands_on_a_page_that_can_be_seen(
    signed_in: SignedIn, owner: User, agent: Agent
) -> None:
    response = signed_in(owner).post(AGENT, sent(agent), follow=True)
    assert response.redirect_chain[-1] == ("/agents/", 302)
    assert response.status_code == 200


def test_settings_that_somebody_changed_meanwhile_are_not_overwritten(
    signed_in: SignedIn, owner: User, agent: Agent, team: Team
) -> None:
    before = sent(agent, team, name="Mine")
    agent_update(agent=agent, expected_version=1, name="Theirs", timezone="UTC", teams=[team], principal=SYSTEM)
    browser = signed_in(owner)
    response = browser.post(AGENT, before)
    assert response.status_code == 422
    assert "Someone changed these settings meanwhile." in text_of(response)
    assert 'value="Mine"' in text_of(response)
    assert 'name="version" value="2"' in text_of(response)
    assert Agent.objects.get().name == "Theirs"
    browser.post(AGENT, {**before, "version": 2})
    assert Agent.objects.get().name == "Mine"


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"timezone": "Moon/Base"},
        {"version": "x"},
        {"version": 0},
        {"teams": ["nonsense"]},
        {"name": "\x00"},
    ],
)
def test_what_cannot_be_saved_is_explained(
    wrong: dict[str, Any], signed_in: SignedIn, owner: User, agent: Agent, team: Team
) -> None:
    assert signed_in(owner).post(AGENT, sent(agent, team, **wrong)).status_code == 422
    assert Agent.objects.get().version == 1


def test_a_team_is_renamed(signed_in: SignedIn, owner: User, team: Team) -> None:
    browser = signed_in(owner)
    assert (
        browser.post(TEAM, {"version": 1, "name": "Demo Team", "secret_handling": "refuse"})["Location"]
        == "/teams/demo/"
    )
    team_update(team=team, expected_version=2, name="Theirs")
    response = browser.post(TEAM, {"version": 2, "name": "Mine", "secret_handling": "refuse"})
    assert response.status_code == 422
    assert "Someone renamed it to “Theirs” meanwhile." in text_of(response)
    assert 'name="version" value="3"' in text_of(response)
    browser.post(TEAM, {"version": 3, "name": "Mine", "secret_handling": "refuse"})
    assert Team.objects.get().name == "Mine"


@pytest.mark.parametrize(("address", "slug"), [("/agents/luna/delete/", "luna"), ("/teams/demo/delete/", "demo")])
def test_deleting_takes_the_short_name(address: str, slug: str, signed_in: SignedIn, owner: User, agent: Agent) -> None:
    browser = signed_in(owner)
    assert slug in text_of(browser.get(address))
    for typed in ("", "Luna", "x\x00"):
        response = browser.post(address, {"typed": typed})
        assert response.status_code == 422
        assert 'class="fault"' in text_of(response)
    assert (Agent.objects.count(), Team.objects.count()) == (1, 1)
    response = browser.post(address, {"typed": slug}, follow=True)
    assert "deleted" in text_of(response)
    assert Agent.objects.count() + Team.objects.count() == 1


def test_only_admins_of_the_team_may(
    signed_in: SignedIn, editor: User, teammate: User, outsider: User, agent: Agent
) -> None:
    for person, status in ((editor, 403), (teammate, 403), (outsider, 404)):
        browser = signed_in(person)
        assert browser.post(AGENT, sent(agent, name="X")).status_code == status
        assert browser.post(TEAM, {"version": 1, "name": "X", "secret_handling": "refuse"}).status_code == status
        assert browser.post("/agents/luna/delete/", {"typed": "luna"}).status_code == status
        assert browser.post("/teams/demo/delete/", {"typed": "demo"}).status_code == status
    assert (Agent.objects.get().name, Team.objects.get().name) == ("Luna", "Demo")


@pytest.mark.finding("5.4")
@pytest.mark.parametrize("slug", ["editor-there", "viewer-elsewhere"])
def test_a_shared_agent_is_deleted_by_an_admin_of_all_its_teams_alone(
    signed_in: SignedIn, mixed: User, admin: User, slug: str
) -> None:
    here, other = Team.objects.get(slug="admin-here"), Team.objects.get(slug=slug)
    agent = agent_create(slug="shared", name="Shared", teams=[here, other, team_create(slug="unseen", name="Unseen")])
    browser = signed_in(mixed)
    page = text_of(browser.get("/agents/shared/delete/"))
    assert (other.name in page, "Odin Other" in page, "Unseen" in page) == (True, True, False)
    assert "A team of which you are not a member" in page
    response = browser.post("/agents/shared/delete/", {"typed": "shared"})
    assert response.status_code == 403
    assert "an admin of all its teams" in text_of(response)
    assert Agent.objects.filter(pk=agent.pk).exists()
    assert browser.post("/agents/shared/settings/", sent(agent)).status_code == 302
    assert here not in agent.teams.all()
    assert browser.get("/agents/shared/delete/").status_code == 403
    assert signed_in(admin).post("/agents/shared/delete/", {"typed": "shared"}).status_code == 302
    assert not Agent.objects.filter(pk=agent.pk).exists()


def test_an_admin_of_its_only_team_deletes_an_agent(signed_in: SignedIn, mixed: User) -> None:
    assert signed_in(mixed).post("/agents/agent-here/delete/", {"typed": "agent-here"}).status_code == 302
    assert not Agent.objects.filter(slug="agent-here").exists()
