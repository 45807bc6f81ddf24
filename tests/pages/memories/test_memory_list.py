"""The list of memories: what is shown stands in the address and in a sentence."""

from dataclasses import replace

import pytest

from agents.models import Agent
from memories.models import Memory
from memories.services import MemoryFacts, facts_of, memories_create, memory_update
from teams.models import Team, User
from tests.pages.conftest import SignedIn, text_of

MEMORIES = "/agents/luna/memories/"


@pytest.fixture
def memories(agent: Agent, owner: User) -> dict[str, Memory]:
    """A pinned decision, a retired fact, an important preference."""
    said = {
        "decision": ("We promise no dates", 0.5),
        "fact": ("The bells ring at noon", 0.2),
        "preference": ("Mara likes lists", 0.9),
    }
    facts = [MemoryFacts(kind=kind, text=text, salience=salience) for kind, (text, salience) in said.items()]
    made = {memory.kind: memory for memory in memories_create(owner=agent, facts=facts, principal=owner.principal)}
    for kind, change in (("decision", {"pinned": True}), ("fact", {"retired_because": "They are repaired."})):
        memory_update(
            memory=made[kind], expected_version=1, facts=facts_of(made[kind]), superseded_by=None,
            principal=owner.principal, **change,
        )  # fmt: skip
    return made


SHOWN = {
    "": ({"decision", "fact", "preference"}, "All, newest first"),
    "?which=pinned": ({"decision"}, "Pinned memories, newest first"),
    "?which=retired": ({"fact"}, "Archived memories, newest first"),
    "?which=standing": ({"decision", "preference"}, "Active memories, newest first"),
    "?kind=fact": ({"fact"}, "All memories of kind “fact”, newest first"),
    "?q=bell&by=words": ({"fact"}, "All with the words “bell”, newest first"),
    "?q=bell&by=words&which=pinned": (set(), "Pinned memories with the words “bell”, newest first"),
    "?q=chimes&which=retired": ({"fact"}, "Archived memories, results for “chimes”"),
    "?which=nonsense&kind=none": ({"decision", "fact", "preference"}, "All, newest first"),
}


@pytest.mark.parametrize("query", SHOWN)
def test_the_list_shows_what_its_sentence_says(
    query: str, signed_in: SignedIn, teammate: User, memories: dict[str, Memory]
) -> None:
    kinds, sentence = SHOWN[query]
    page = text_of(signed_in(teammate).get(MEMORIES + query))
    assert sentence in page
    assert {kind for kind, memory in memories.items() if f"/memories/{memory.id}/" in page} == kinds


def test_the_most_important_come_first_page_by_page(
    signed_in: SignedIn, teammate: User, memories: dict[str, Memory]
) -> None:
    browser, address, order = signed_in(teammate), f"{MEMORIES}?order=salience&limit=1", []
    while address:
        response = browser.get(address)
        order += [memory.kind for memory in response.context["found"]]
        address = response.context["next"]
    assert order == ["preference", "decision", "fact"]


def test_the_list_takes_as_many_queries_for_many_as_for_few(
    signed_in: SignedIn, teammate: User, agent: Agent, owner: User, django_assert_num_queries: object
) -> None:
    browser = signed_in(teammate)
    browser.get(MEMORIES)
    for number in (1, 40):
        facts = [MemoryFacts(kind="fact", text=f"{number} {place}") for place in range(number)]
        memories_create(owner=agent, facts=facts, principal=owner.principal)
        with django_assert_num_queries(8):  # type: ignore[operator]
            browser.get(MEMORIES)


def test_a_memory_is_written_on_a_form(signed_in: SignedIn, editor: User, team: Team) -> None:
    browser = signed_in(editor)
    written = {"version": 0, "text": "We meet on Mondays.", "kind": "fact", "salience": "0.7", "credibility": "1"}
    response = browser.post("/teams/demo/memories/new/", written, follow=True)
    assert "Saved." in text_of(response)
    memory = Memory.objects.get(team=team)
    assert (memory.text, memory.salience, memory.occurred_at) == ("We meet on Mondays.", 0.7, None)
    refused = browser.post("/teams/demo/memories/new/", {**written, "kind": "Not one word", "salience": "7"})
    assert refused.status_code == 422
    assert "We meet on Mondays." in text_of(refused)


def test_a_page_says_what_memories_are_for_before_there_are_any(
    signed_in: SignedIn, editor: User, teammate: User, team: Team
) -> None:
    assert "Create a memory" in text_of(signed_in(editor).get("/teams/demo/memories/"))
    assert "Create a memory" not in text_of(signed_in(teammate).get("/teams/demo/memories/"))


def test_a_changed_memory_is_found_by_its_new_words(
    signed_in: SignedIn, owner: User, memories: dict[str, Memory]
) -> None:
    memory = memories["preference"]
    facts = replace(facts_of(memory), text="Mara likes tables")
    memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=owner.principal)
    assert str(memory.id) in text_of(signed_in(owner).get(f"{MEMORIES}?q=tables&by=words"))


@pytest.mark.finding("E21")
def test_a_semantic_search_offers_no_other_order(
    signed_in: SignedIn, teammate: User, memories: dict[str, Memory]
) -> None:
    browser = signed_in(teammate)
    found = text_of(browser.get(f"{MEMORIES}?q=bell&order=salience"))
    assert ">Similarity</option>" in found
    assert ">Importance</option>" not in found
    assert ">Importance</option>" in text_of(browser.get(f"{MEMORIES}?q=bell&by=words"))
