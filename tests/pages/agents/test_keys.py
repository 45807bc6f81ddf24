"""The keys of an agent on pages: made, shown once, revoked, by admins of all its teams."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from agents.authentication import principal_of_key
from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from agents.services import agent_create, agent_update
from teams.models import Team, User
from teams.services import team_create
from tests.pages.conftest import SignedIn, text_of

KEYS = "/agents/luna/keys/"


@pytest.mark.finding("E7")
def test_a_key_is_shown_once(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    browser = signed_in(owner)
    response = browser.post(KEYS, {"name": "Chat", "scopes": ["files:write"]}, follow=True)
    assert response.redirect_chain == [(KEYS, 302)]
    secret = re.search(r"dsr_\w{8}_[\w-]+", text_of(response))
    assert secret is not None
    principal = principal_of_key(secret[0])
    assert principal is not None
    assert (principal.agent_id, principal.name, set(principal.scopes)) == (agent.id, "Chat", {"files:write"})
    assert "no-store" in response["Cache-Control"]
    later = text_of(browser.get(KEYS))
    assert secret[0] not in later
    assert "Chat" in later
    assert "Write the agent&#x27;s own files" in later


def test_a_revoked_key_is_of_no_use(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    row, secret = api_key_create(agent=agent, name="Old")
    browser = signed_in(owner)
    assert "Revoke the key “Old”?" in text_of(browser.get(f"{KEYS}{row.id}/revoke/"))
    assert principal_of_key(secret) is not None
    for _twice in range(2):
        assert "” revoked." in text_of(browser.post(f"{KEYS}{row.id}/revoke/", follow=True))
    assert principal_of_key(secret) is None


@pytest.mark.parametrize(
    "data", [{"name": ""}, {"name": "x" * 121}, {"name": "x", "scopes": ["all"]}, {"name": "\x00"}]
)
def test_what_cannot_be_a_key_is_explained(
    data: dict[str, str], signed_in: SignedIn, owner: User, agent: Agent
) -> None:
    response = signed_in(owner).post(KEYS, data)
    assert response.status_code == 422
    assert not ApiKey.objects.exists()


def test_a_key_of_another_agent_is_not_found(signed_in: SignedIn, admin: User, agent: Agent) -> None:
    row, _secret = api_key_create(agent=agent_create(slug="kit", name="Kit"))
    assert signed_in(admin).post(f"{KEYS}{row.id}/revoke/").status_code == 404


def test_it_takes_an_admin_of_every_team_of_the_agent(
    signed_in: SignedIn, owner: User, admin: User, team: Team
) -> None:
    """A key reads the files of all teams of its agent: also those that this admin may not see."""
    agent_create(slug="luna", name="Luna", teams=[team, team_create(slug="other", name="Other")])
    response = signed_in(owner).post(KEYS, {"name": "x"})
    assert response.status_code == 403
    assert "an admin of each of them" in text_of(response)
    assert not ApiKey.objects.exists()
    assert "API keys" not in text_of(signed_in(owner).get("/agents/luna/settings/")).partition("<main")[2]
    assert signed_in(admin).post(KEYS, {"name": "x"}).status_code == 302


def test_others_make_none(signed_in: SignedIn, editor: User, teammate: User, outsider: User, agent: Agent) -> None:
    for person, status in ((editor, 403), (teammate, 403), (outsider, 404)):
        assert signed_in(person).post(KEYS, {"name": "x"}).status_code == status
    assert not ApiKey.objects.exists()


@pytest.mark.finding("6.8a")
@pytest.mark.parametrize(
    ("sent", "days"), [({}, 90), ({"lifetime": "365"}, 365), ({"lifetime": "never"}, None), ({"lifetime": "5"}, 0)]
)
def test_a_key_is_valid_as_long_as_the_form_says(
    sent: dict[str, str], days: int | None, signed_in: SignedIn, owner: User, agent: Agent
) -> None:
    response = signed_in(owner).post(KEYS, {"name": "x", **sent}, follow=True)
    if days == 0:
        assert response.status_code == 422
        return
    key = ApiKey.objects.get()
    assert (key.created_by, key.creator_name) == (owner.principal.ref, "Olga Owner")
    lifetime = round((key.expires - key.created) / timedelta(days=1)) if key.expires else None
    assert lifetime == days
    assert ("expires" in text_of(response)) == (days is not None)


@pytest.mark.finding("6.8a")
def test_a_key_may_be_valid_to_the_end_of_a_day(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    browser = signed_in(owner)
    assert browser.post(KEYS, {"name": "x", "until": "2020-01-01"}).status_code == 422
    browser.post(KEYS, {"name": "x", "until": "2199-12-31", "lifetime": "90"})
    assert ApiKey.objects.get().expires == datetime(2200, 1, 1, tzinfo=UTC)


@pytest.mark.finding("1k")
def test_the_admins_of_a_team_see_and_decide_which_keys_reach_it(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent
) -> None:
    row, secret = api_key_create(agent=agent, name="Chat")
    theirs = team_create(slug="theirs", name="Their Team", principal=owner.principal)
    agent_update(
        agent=agent, expected_version=1, name="Luna", timezone="UTC", teams=[team, theirs], principal=owner.principal
    )
    browser = signed_in(owner)
    assert "no access" in text_of(browser.get("/teams/theirs/keys/"))
    assert "the agent joined later" in text_of(browser.get(KEYS))
    response = browser.post(f"/teams/theirs/keys/{row.id}/grant/", follow=True)
    assert "The key Chat now has access to Their Team." in text_of(response)
    principal = principal_of_key(secret)
    assert principal
    assert set(principal.team_ids) == {team.id, theirs.id}
    browser.post(f"/teams/demo/keys/{row.id}/withdraw/")
    principal = principal_of_key(secret)
    assert principal
    assert set(principal.team_ids) == {theirs.id}
    stranger = api_key_create(agent=agent_create(slug="kit", name="Kit"))[0]
    assert browser.post(f"/teams/theirs/keys/{stranger.id}/grant/").status_code == 404


@pytest.mark.finding("6.8a")
def test_admins_see_all_keys_and_make_their_own(signed_in: SignedIn, admin: User, owner: User, agent: Agent) -> None:
    api_key_create(agent=agent, name="Chat", principal=owner.principal)
    api_key_create(agent=None, name="Backup script")
    browser = signed_in(admin)
    page = text_of(browser.get("/keys/"))
    assert all(word in page for word in ("Chat", "by Olga Owner", "Backup script", "by a command", "Teams: Demo"))
    for query, there, gone in (
        ("?kind=admin", "Backup script", "Chat"),
        ("?q=olga", "Chat", "Backup script"),
        ("?state=usable&kind=agent", "Chat", "Backup script"),
        (f"?made_by={owner.id}", "Chat", "Backup script"),
    ):
        found = text_of(browser.get(f"/keys/{query}"))
        assert (there in found, gone in found) == (True, False), query
    assert "No key matches." in text_of(browser.get("/keys/?state=revoked"))
    assert browser.get("/keys/?kind=x&q=%00&made_by=1").status_code == 200
    response = browser.post("/keys/", {"name": "Nightly", "lifetime": "never"}, follow=True)
    secret = re.search(r"dsr_\w{8}_[\w-]+", text_of(response))
    assert secret
    principal = principal_of_key(secret[0])
    assert principal
    assert principal.is_admin
    key = ApiKey.objects.get(name="Nightly")
    assert (key.created_by, key.expires) == (admin.principal.ref, None)
    assert "Revoke the key “Nightly”?" in text_of(browser.get(f"/keys/{key.id}/revoke/"))
    assert "” revoked." in text_of(browser.post(f"/keys/{key.id}/revoke/", follow=True))
    assert principal_of_key(secret[0]) is None
