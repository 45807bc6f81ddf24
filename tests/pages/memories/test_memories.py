"""Memories: the newest, and the nearest to a search."""

import pytest

from agents.models import Agent
from memories.services import MemoryFacts, memories_create
from teams.models import User
from tests.pages.conftest import SignedIn, text_of

MEMORIES = "/agents/luna/memories/"


@pytest.fixture
def memories(agent: Agent, owner: User) -> None:
    texts = ("The cat sleeps on the sofa", "Invoices are due in thirty days", "Kittens like milk")
    facts = [MemoryFacts(kind="fact", text=text) for text in texts]
    memories_create(owner=agent, facts=facts, principal=owner.principal)


def test_without_a_search_the_newest_come_first(signed_in: SignedIn, teammate: User, memories: None) -> None:
    page = text_of(signed_in(teammate).get(MEMORIES))
    assert "All, newest first" in page
    assert page.count('<th scope="row">') == 3


def test_a_search_puts_the_nearest_first(signed_in: SignedIn, teammate: User, memories: None) -> None:
    page = text_of(signed_in(teammate).get(f"{MEMORIES}?q=payment of bills"))
    assert page.index("Invoices") < page.index("Kittens")
    assert "similarity" in page


@pytest.mark.parametrize("query", ["%20", "%00", "x" * 2000, "%F0%9F%A6%84", "%22%27%3B--"])
def test_strange_searches_do_no_harm(query: str, signed_in: SignedIn, teammate: User, memories: None) -> None:
    assert signed_in(teammate).get(f"{MEMORIES}?q={query}").status_code == 200


def test_a_broken_cursor_is_explained(signed_in: SignedIn, teammate: User, memories: None) -> None:
    response = signed_in(teammate).get(f"{MEMORIES}?cursor=broken")
    assert response.status_code == 422
    assert "Use the cursor of `next` without changes, or omit it to start again." in text_of(response)
