"""Every page of what an agent keeps, tried by everybody, and at strange addresses."""

import pytest
from django.test import Client

from agents.models import Agent
from agents.services import agent_create
from teams.models import Team, User
from tests.memories.worked_agent import Kept, keep
from tests.pages import personas
from tests.pages.conftest import SignedIn, text_of
from tests.pages.memories.item_addresses import LISTS, LUNA, at
from tests.personas import once_per_module

READ = (
    "events/", "events/?type=error", "events/?session={session}", "events/?session=nonsense", "events/{event}/",
    "sessions/", "sessions/{session}/",
    "graph/", "graph/?entity={entity}&depth=2", "graph/?type=person", "graph/?q=hall", "graph/?entity=nonsense",
    "entities/", "entities/?q=ana&type=person", "entities/{entity}/",
    "patterns/", "patterns/?q=flight", "patterns/{pattern}/",
    "threads/", "threads/?status=resolved", "threads/{thread}/",
    "tools/", "tools/{tool}/",
    "documents/", "documents/?open=yes", "documents/{document}/",
    "documents/{document}/?as=source", "documents/{document}/?as=pieces",
    "tasks/", "tasks/?stack=own", "tasks/?session={session}",
)  # fmt: skip
WRITE = (
    "entities/new/", "entities/{entity}/edit/", "entities/{entity}/delete/", "entities/{entity}/relations/new/",
    "relations/{relation}/edit/", "relations/{relation}/delete/",
    "patterns/new/", "patterns/{pattern}/edit/", "patterns/{pattern}/delete/",
    "threads/new/", "threads/{thread}/edit/", "threads/{thread}/delete/",
    "tools/new/", "tools/{tool}/edit/", "tools/{tool}/delete/",
    "documents/new/", "documents/{document}/edit/", "documents/{document}/delete/",
    "tasks/push/", "tasks/push/?session={session}", "tasks/pop/", "tasks/pop/?session={session}",
)  # fmt: skip
STRANGE = ("%00", "%F0%9F%A6%84", "%22%27%3B--", "x" * 5000, "%25_%5C")


pytestmark = pytest.mark.usefixtures("module_database")
owner, team, agent, editor, teammate, outsider, admin = once_per_module(
    personas.owner, personas.team, personas.agent, personas.editor, personas.teammate, personas.outsider, personas.admin
)


@pytest.fixture(scope="module")
def kept(agent: Agent, owner: User) -> Kept:
    return keep(agent, owner.principal)


@pytest.fixture
def browsers(signed_in: SignedIn, editor: User, teammate: User, outsider: User, admin: User) -> dict[str, Client]:
    """Somebody of each kind, signed in."""
    people = {"editor": editor, "teammate": teammate, "outsider": outsider, "admin": admin}
    return {name: signed_in(person) for name, person in people.items()}


@pytest.mark.parametrize("address", READ)
def test_who_sees_the_agent_reads(address: str, browsers: dict[str, Client], kept: Kept) -> None:
    answers = [browsers[who].get(at(address, kept)).status_code for who in ("teammate", "admin", "outsider")]
    assert answers == [200, 200, 404]


@pytest.mark.parametrize("address", WRITE)
def test_editors_write_and_others_do_not(address: str, browsers: dict[str, Client], kept: Kept) -> None:
    for method in ("get", "post"):
        answers = [getattr(browsers[who], method)(at(address, kept)).status_code for who in ("teammate", "outsider")]
        assert answers == [403, 404]
    assert browsers["editor"].get(at(address, kept)).status_code == 200


@pytest.mark.parametrize("address", [*READ, *WRITE])
def test_who_is_not_signed_in_is_sent_to_sign_in(address: str, client: Client, kept: Kept) -> None:
    assert client.get(at(address, kept))["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("address", [one for one in (*READ, *WRITE) if "}/" in one])
def test_what_belongs_to_another_agent_is_not_found(
    address: str, browsers: dict[str, Client], kept: Kept, team: Team
) -> None:
    agent_create(slug="nova", name="Nova", teams=[team])
    found = at(address, kept).replace(LUNA, "/agents/nova")
    assert browsers["editor"].get(found).status_code == 404


def test_who_may_only_read_sees_no_way_to_write(signed_in: SignedIn, kept: Kept, teammate: User) -> None:
    browser = signed_in(teammate)
    for address in READ:
        page = text_of(browser.get(at(address, kept)))
        for way in ("/edit/", "/delete/", "/new/", "/push/", "/pop/", "/switch/"):
            assert way not in page, address


@pytest.mark.parametrize("name", ["graph", "entities", "patterns", "threads", "tools", "documents"])
@pytest.mark.parametrize("query", STRANGE)
def test_strange_searches_do_no_harm(name: str, query: str, signed_in: SignedIn, kept: Kept, teammate: User) -> None:
    assert signed_in(teammate).get(f"{LUNA}/{name}/?q={query}").status_code == 200


@pytest.mark.parametrize("query", ["cursor=broken", "session=0", "type=%00", "stack=x", "depth=9", "entity=1", "as=x"])
def test_strange_addresses_are_no_errors(query: str, signed_in: SignedIn, kept: Kept, teammate: User) -> None:
    for name in LISTS:
        assert signed_in(teammate).get(f"{LUNA}/{name}/?{query}").status_code in {200, 404, 422}
