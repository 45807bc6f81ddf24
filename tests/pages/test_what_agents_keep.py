"""Every page of what an agent keeps, tried by everybody; what it holds is shown as text, with few queries."""

from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from agents.services import agent_create
from memories.models import Entity, Event, Pattern, TaskFrame, Thread, Tool
from memories.services.kept import kept_create
from teams.models import Team, User
from tests.keeping import Kept, keep
from tests.pages.conftest import SignedIn, text_of

LUNA = "/agents/luna"
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
LISTS = ("events", "sessions", "graph", "entities", "patterns", "threads", "tools", "documents", "tasks")
STRANGE = ("%00", "%F0%9F%A6%84", "%22%27%3B--", "x" * 5000, "%25_%5C")


@pytest.fixture
def kept(agent: Agent, owner: User) -> Kept:
    return keep(agent, owner.principal)


def at(address: str, kept: Kept) -> str:
    ids = {name: getattr(kept, name).pk for name in kept.__slots__}
    return f"{LUNA}/{address.format(**ids)}"


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


@pytest.mark.parametrize("name", LISTS)
def test_an_empty_page_says_what_it_is_for(
    name: str, signed_in: SignedIn, agent: Agent, editor: User, teammate: User
) -> None:
    for person in (editor, teammate):
        page = text_of(signed_in(person).get(f"{LUNA}/{name}/"))
        assert 'class="sheet empty' in page
    first = text_of(signed_in(editor).get(f"{LUNA}/{name}/")).partition('class="sheet empty')[2]
    if name != "sessions":
        assert "btn main" in first.partition("</section>")[0]


@pytest.mark.parametrize("name", ["graph", "entities", "patterns", "threads", "tools", "documents"])
@pytest.mark.parametrize("query", STRANGE)
def test_strange_searches_do_no_harm(name: str, query: str, signed_in: SignedIn, kept: Kept, teammate: User) -> None:
    assert signed_in(teammate).get(f"{LUNA}/{name}/?q={query}").status_code == 200


@pytest.mark.parametrize("query", ["cursor=broken", "session=0", "type=%00", "stack=x", "depth=9", "entity=1", "as=x"])
def test_strange_addresses_are_no_errors(query: str, signed_in: SignedIn, kept: Kept, teammate: User) -> None:
    for name in LISTS:
        assert signed_in(teammate).get(f"{LUNA}/{name}/?{query}").status_code in {200, 404, 422}


def test_nothing_that_is_kept_becomes_html(signed_in: SignedIn, agent: Agent, owner: User) -> None:
    bad = "<script>alert(1)</script>"
    by: dict[str, Any] = {"agent": agent, "principal": owner.principal}
    content = {"command": bad, "stdout": bad, bad: bad}
    [event] = kept_create(model=Event, facts=[{"type": "shell_exec", "content": content, "outcome": bad[:40]}], **by)
    [entity] = kept_create(
        model=Entity, facts=[{"name": bad, "type": bad[:60], "aliases": [bad], "properties": {bad: bad}}], **by
    )
    [pattern] = kept_create(model=Pattern, facts=[{"name": bad, "guidance": bad, "keywords": [bad]}], **by)
    [thread] = kept_create(model=Thread, facts=[{"title": bad, "summary": bad}], **by)
    [tool] = kept_create(model=Tool, facts=[{"name": bad, "description": bad, "schema": {"title": bad}}], **by)
    kept_create(model=TaskFrame, facts=[{"goal": bad, "result": bad}], **by)
    browser = signed_in(owner)
    pages = ("events/", f"events/{event.pk}/", "graph/", "entities/", f"entities/{entity.pk}/", "patterns/",
             f"patterns/{pattern.pk}/", "threads/", f"threads/{thread.pk}/", "tools/", f"tools/{tool.pk}/", "tasks/",
             f"entities/{entity.pk}/edit/", f"patterns/{pattern.pk}/delete/")  # fmt: skip
    for page in pages:
        shown = text_of(browser.get(f"{LUNA}/{page}"))
        assert "alert(1)" in shown, page
        assert "<script>alert" not in shown, page


QUERIES = {
    "events/": 7, "sessions/": 5, "sessions/{session}/": 8, "graph/": 8, "graph/?entity={entity}&depth=3": 10,
    "entities/": 7, "entities/{entity}/": 8, "patterns/": 6, "threads/": 6, "tools/": 6, "documents/": 6,
    "documents/{document}/": 7, "tasks/": 9,
}  # fmt: skip


@pytest.mark.parametrize("address", QUERIES)
def test_the_pages_take_few_queries(
    address: str, signed_in: SignedIn, agent: Agent, owner: User, django_assert_num_queries: Any
) -> None:
    kept = keep(agent, owner.principal, entities=40, relations=60, events=60)
    browser = signed_in(owner)
    with django_assert_num_queries(QUERIES[address]):
        browser.get(at(address, kept))


def test_the_agents_page_counts_what_it_keeps(signed_in: SignedIn, kept: Kept, teammate: User) -> None:
    page = text_of(signed_in(teammate).get(f"{LUNA}/"))
    assert "What it keeps" in page
    for link, count in (("events", 12), ("graph", 6), ("tasks", 5), ("patterns", 4), ("documents", 2)):
        assert f'href="{LUNA}/{link}/">' in page
        assert f"<b>{count}</b>" in page.partition(f'href="{LUNA}/{link}/">')[2][:60]
