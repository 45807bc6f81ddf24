"""Every page, tried by everybody."""

import datetime
from typing import Any

import pytest

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import daily_log_append
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import Team, User
from tests.pages import personas
from tests.pages.conftest import SignedIn, text_of
from tests.personas import once_per_module

DAY = "2026-03-01"

# Address: what the owner, the editor, the teammate (a viewer), the outsider and the admin are answered.
PAGES = {
    "/": (200, 200, 200, 200, 200),
    "/agents/": (200, 200, 200, 200, 200),
    "/agents/new/": (403, 403, 403, 403, 200),
    "/agents/luna/": (200, 200, 200, 404, 200),
    "/agents/luna/files/IDENTITY/": (200, 200, 302, 404, 200),
    "/agents/luna/files/IDENTITY/history/": (200, 200, 200, 404, 200),
    "/agents/luna/files/IDENTITY/history/1/": (200, 200, 200, 404, 200),
    "/agents/luna/files/IDENTITY/history/9/": (404, 404, 404, 404, 404),
    "/agents/luna/files/IDENTITY/history/compare/?from=1&to=9": (404, 404, 404, 404, 404),
    "/agents/luna/files/INSTRUCTIONS/history/compare/": (422, 422, 422, 404, 422),
    "/agents/luna/files/NONSENSE/": (404, 404, 404, 404, 404),
    f"/agents/luna/logs/{DAY}/": (200, 200, 200, 404, 200),
    f"/agents/luna/logs/{DAY}/edit/": (200, 200, 403, 404, 200),
    f"/agents/luna/logs/{DAY}/history/": (200, 200, 200, 404, 200),
    f"/agents/luna/logs/{DAY}/history/1/": (200, 200, 200, 404, 200),
    f"/agents/luna/logs/{DAY}/history/compare/": (422, 422, 422, 404, 422),
    "/agents/luna/logs/2026-03-02/": (200, 200, 200, 404, 200),
    "/agents/luna/logs/2026-03-02/history/": (404, 404, 404, 404, 404),
    "/agents/luna/logs/2026-13-99/": (404, 404, 404, 404, 404),
    "/agents/luna/memories/": (200, 200, 200, 404, 200),
    "/agents/luna/memories/?q=stories": (200, 200, 200, 404, 200),
    "/drafts/": (200, 200, 200, 200, 200),
    "/agents/luna/as-of/": (200, 200, 200, 404, 200),
    "/agents/luna/settings/": (200, 403, 403, 404, 200),
    "/agents/luna/delete/": (200, 403, 403, 404, 200),
    "/agents/luna/keys/": (200, 403, 403, 404, 200),
    "/agents/luna/keys/{key}/revoke/": (200, 403, 403, 404, 200),
    "/teams/demo/keys/": (200, 403, 403, 404, 200),
    "/teams/demo/keys/{key}/grant/": (405, 405, 405, 405, 405),
    "/teams/demo/keys/{key}/withdraw/": (405, 405, 405, 405, 405),
    "/keys/": (403, 403, 403, 403, 200),
    "/keys/{key}/revoke/": (403, 403, 403, 403, 200),
    "/teams/demo/settings/": (200, 403, 403, 404, 200),
    "/teams/demo/delete/": (200, 403, 403, 404, 200),
    "/people/": (403, 403, 403, 403, 200),
    "/people/{person}/": (403, 403, 403, 403, 200),
    "/people/{person}/password/": (405, 405, 405, 405, 405),
    "/people/{person}/invitation/": (403, 403, 403, 403, 302),
    "/teams/": (200, 200, 200, 200, 200),
    "/teams/new/": (403, 403, 403, 403, 200),
    "/teams/demo/": (200, 200, 200, 404, 200),
    "/teams/demo/files/GOALS/": (200, 200, 302, 404, 200),
    "/teams/demo/files/GOALS/history/": (200, 200, 200, 404, 200),
    "/teams/demo/files/GOALS/history/1/": (200, 200, 200, 404, 200),
    "/teams/demo/files/GOALS/history/compare/": (422, 422, 422, 404, 422),
    "/teams/demo/members/": (200, 403, 403, 404, 200),
    "/teams/demo/memories/": (200, 200, 200, 404, 200),
    "/preview/": (200, 200, 200, 200, 200),
    "/contexts/": (200, 200, 200, 200, 200),
    "/contexts/{context}/": (200, 200, 200, 404, 200),
    "/contexts/{context}/text/": (200, 200, 200, 404, 200),
    "/contexts/{context}/items/": (200, 200, 200, 404, 200),
    "/contexts/{context}/items/?begin=x": (422, 422, 422, 404, 422),
    "/contexts/{context}/exact/": (200, 200, 200, 404, 200),
    "/contexts/{context}/json/": (200, 200, 200, 404, 200),
    "/contexts/{context}/json/file/": (200, 200, 200, 404, 200),
    "/contexts/{context}/replay/": (405, 405, 405, 405, 405),
    "/jobs/": (200, 200, 200, 200, 200),
    "/accounts/password/change/": (302, 302, 302, 302, 302),
    "/accounts/2fa/": (200, 200, 200, 200, 200),
}


pytestmark = pytest.mark.usefixtures("module_database")
owner, team, agent, editor, teammate, outsider, admin = once_per_module(
    personas.owner, personas.team, personas.agent, personas.editor, personas.teammate, personas.outsider, personas.admin
)


@pytest.fixture(scope="module")
def told(agent: Agent, team: Team, owner: User) -> Assembly:
    daily_log_append(agent=agent, date=datetime.date(2026, 3, 1), text="Met.", principal=owner.principal)
    return assemble(agent=agent, team=team, principal=owner.principal, asked=AssemblyRequest()).assembly


@pytest.fixture(scope="module")
def facts(told: Assembly, agent: Agent, owner: User) -> dict[str, Any]:
    """What stands in the addresses."""
    return {"context": told.id, "key": api_key_create(agent=agent, name="x")[0].id, "person": owner.id}


@pytest.fixture(scope="module")
def people(owner: User, editor: User, teammate: User, outsider: User, admin: User) -> tuple[User, ...]:
    """Everybody, in the order of the table."""
    return (owner, editor, teammate, outsider, admin)


@pytest.mark.deep  # tests/rights does it with more people
@pytest.mark.parametrize("address", PAGES)
def test_everybody_is_answered_as_the_table_says(
    address: str, signed_in: SignedIn, people: tuple[User, ...], facts: dict[str, Any]
) -> None:
    path = address.format(**facts)
    answers = tuple(signed_in(person).get(path).status_code for person in people)
    assert answers == PAGES[address]


@pytest.mark.parametrize("address", PAGES)
def test_who_is_not_signed_in_is_sent_to_sign_in(address: str, client: Any, facts: dict[str, Any]) -> None:
    response = client.get(address.format(**facts))
    assert response.status_code in {302, 404, 405}
    if response.status_code == 302:
        assert response["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("address", ["/accounts/signup/", "/accounts/email/", "/accounts/password/reset/"])
def test_pages_that_send_mail_or_make_accounts_do_not_exist(address: str, client: Any, db: None) -> None:
    response = client.get(address)
    assert response.status_code == 404
    assert "Page not found" in text_of(response)


def test_who_may_only_read_sees_no_way_to_edit(signed_in: SignedIn, teammate: User, told: Assembly) -> None:
    browser = signed_in(teammate)
    for address in ("/agents/luna/", "/teams/demo/", f"/agents/luna/logs/{DAY}/", "/teams/demo/files/GOALS/history/1/"):
        page = text_of(browser.get(address))
        assert "Edit" not in page.replace("Editor", "")  # which is what a colleague is
        assert '/files/GOALS/"' not in page
        assert "Manage members" not in page
        assert ">Settings<" not in page.replace('/accounts/settings/">Settings<', "")


def test_a_page_that_is_forbidden_says_so_kindly(signed_in: SignedIn, teammate: User, agent: Agent) -> None:
    page = text_of(signed_in(teammate).get("/agents/luna/settings/"))
    assert "Access denied" in page
    assert "Nothing was changed." in page


@pytest.mark.finding("E9")
def test_a_link_to_a_file_leads_who_may_only_read_to_its_newest_version(
    signed_in: SignedIn, teammate: User, agent: Agent, team: Team
) -> None:
    browser = signed_in(teammate)
    for address in ("/agents/luna/files/IDENTITY/", "/teams/demo/files/GOALS/"):
        assert browser.get(address)["Location"] == f"{address}history/1/"
        assert browser.post(address, {"content": "x"}).status_code == 403
