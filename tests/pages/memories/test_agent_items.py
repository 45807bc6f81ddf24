"""The pages of what an agent keeps: empty ones say what for, what is kept is shown as text, with few queries."""

from typing import Any

import pytest

from agents.models import Agent
from memories.models import Entity, Event, Pattern, TaskFrame, Thread, Tool
from memories.services.agent_item import agent_items_create
from teams.models import User
from tests.memories.worked_agent import Kept, keep
from tests.pages.conftest import SignedIn, text_of
from tests.pages.memories.item_addresses import LISTS, LUNA, at


@pytest.fixture
def kept(agent: Agent, owner: User) -> Kept:
    return keep(agent, owner.principal)


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


def test_nothing_that_is_kept_becomes_html(signed_in: SignedIn, agent: Agent, owner: User) -> None:
    bad = "<script>alert(1)</script>"
    by: dict[str, Any] = {"agent": agent, "principal": owner.principal}
    content = {"command": bad, "stdout": bad, bad: bad}
    [event] = agent_items_create(
        model=Event, facts=[{"type": "shell_exec", "content": content, "outcome": bad[:40]}], **by
    )
    [entity] = agent_items_create(
        model=Entity, facts=[{"name": bad, "type": bad[:60], "aliases": [bad], "properties": {bad: bad}}], **by
    )
    [pattern] = agent_items_create(model=Pattern, facts=[{"name": bad, "guidance": bad, "keywords": [bad]}], **by)
    [thread] = agent_items_create(model=Thread, facts=[{"title": bad, "summary": bad}], **by)
    [tool] = agent_items_create(model=Tool, facts=[{"name": bad, "description": bad, "schema": {"title": bad}}], **by)
    agent_items_create(model=TaskFrame, facts=[{"goal": bad, "result": bad}], **by)
    browser = signed_in(owner)
    pages = ("events/", f"events/{event.pk}/", "graph/", "entities/", f"entities/{entity.pk}/", "patterns/",
             f"patterns/{pattern.pk}/", "threads/", f"threads/{thread.pk}/", "tools/", f"tools/{tool.pk}/", "tasks/",
             f"entities/{entity.pk}/edit/", f"patterns/{pattern.pk}/delete/")  # fmt: skip
    for page in pages:
        shown = text_of(browser.get(f"{LUNA}/{page}"))
        assert "alert(1)" in shown, page
        assert "<script>alert" not in shown, page


QUERIES = {
    "events/": 7, "sessions/": 5, "sessions/{session}/": 8, "graph/": 8, "graph/?entity={entity}&depth=3": 11,
    "entities/": 7, "entities/{entity}/": 9, "patterns/": 6, "threads/": 6, "tools/": 6, "documents/": 6,
    "documents/{document}/": 16, "tasks/": 10,
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
    assert "Data" in page
    for link, count in (("events", 12), ("graph", 6), ("tasks", 5), ("patterns", 4), ("documents", 2)):
        assert f'href="{LUNA}/{link}/">' in page
        assert f"<b>{count}</b>" in page.partition(f'href="{LUNA}/{link}/">')[2][:60]
