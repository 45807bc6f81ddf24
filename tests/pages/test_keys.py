"""The keys of an agent on pages: made, shown once, revoked, by admins of all its teams."""

import re

import pytest

from agents.keys import api_key_create, principal_of_key
from agents.models import Agent, ApiKey
from agents.services import agent_create
from teams.models import Team, User
from teams.services import team_create
from tests.pages.conftest import SignedIn, text_of

KEYS = "/agents/luna/keys/"


def test_a_key_is_shown_once(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    browser = signed_in(owner)
    response = browser.post(KEYS, {"name": "Chat", "scopes": ["files:write"]})
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
        assert "of no use any more" in text_of(browser.post(f"{KEYS}{row.id}/revoke/", follow=True))
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
    assert "Keys" not in text_of(signed_in(owner).get("/agents/luna/settings/")).partition("<main")[2]
    assert signed_in(admin).post(KEYS, {"name": "x"}).status_code == 200


def test_others_make_none(signed_in: SignedIn, editor: User, teammate: User, outsider: User, agent: Agent) -> None:
    for person, status in ((editor, 403), (teammate, 403), (outsider, 404)):
        assert signed_in(person).post(KEYS, {"name": "x"}).status_code == status
    assert not ApiKey.objects.exists()
