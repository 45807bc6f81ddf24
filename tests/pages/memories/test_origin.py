"""Pages say where a text comes from, for the eye and for the ear, and what was removed from it."""

import pytest

from agents.models import Agent
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.models import Memory, Tool
from memories.services import MemoryFacts, agent_items_create, events_create, memory_create
from teams.models import Team, User
from teams.origin import Origin
from teams.principal import Principal
from teams.templatetags.words import ORIGINS
from teams.versioned_text.versioned_file import file_save
from tests.pages.conftest import SignedIn, text_of

KEY = Principal(kind="agent_key", name="Ada's key")


def tag(origin: Origin) -> str:
    """The tag of an origin as a page has it: the explanation is its tooltip, and is read out."""
    said = ORIGINS[origin]
    heard = f'<span class="visually-hidden">. {said}</span>'
    return f'<span class="tag plain" title="{said}">from {origin.label}{heard}</span>'


@pytest.fixture
def memory(agent: Agent) -> Memory:
    return memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Tours start at nine."), principal=KEY)


def test_every_origin_is_explained() -> None:
    assert [*ORIGINS] == [*Origin]


ADDRESSES = [
    "/memories/{0.id}/",
    "/memories/{0.id}/versions/",
    "/agents/{0.agent.slug}/memories/",
    "/agents/{0.agent.slug}/",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_memory_its_versions_and_the_list_show_its_origin(
    signed_in: SignedIn, teammate: User, memory: Memory, address: str
) -> None:
    assert tag(Origin.AGENT) in text_of(signed_in(teammate).get(address.format(memory)))


def test_the_versions_of_a_memory_have_their_own_origins(signed_in: SignedIn, editor: User, memory: Memory) -> None:
    browser, path = signed_in(editor), f"/memories/{memory.id}/"
    words = {"text": "Tours start at ten.", "kind": "fact", "salience": "0.5", "credibility": "0.5", "version": "1"}
    assert browser.post(f"{path}edit/", words).status_code == 302
    page = text_of(browser.get(f"{path}versions/"))
    assert page.index(tag(Origin.PERSON)) < page.index(tag(Origin.AGENT))
    assert tag(Origin.PERSON) in text_of(browser.get(f"{path}versions/2/"))
    assert tag(Origin.AGENT) in text_of(browser.get(f"{path}versions/1/"))


def test_the_history_of_a_file_shows_who_wrote_each_version(signed_in: SignedIn, owner: User, team: Team) -> None:
    file = team.files.get(file_key="GOALS")
    file_save(file=file, content="By Ada.", expected_version=1, author=KEY.author)
    browser = signed_in(owner)
    page = text_of(browser.get(f"/teams/{team.slug}/files/GOALS/history/"))
    assert page.index(tag(Origin.AGENT)) < page.index(tag(Origin.PERSON))
    assert tag(Origin.AGENT) in text_of(browser.get(f"/teams/{team.slug}/files/GOALS/history/2/"))


def test_items_and_events_show_their_origin(signed_in: SignedIn, teammate: User, agent: Agent) -> None:
    [tool] = agent_items_create(model=Tool, agent=agent, facts=[{"name": "search"}], principal=KEY)
    facts = {"type": "tool_result", "tool": "search", "content": {"hits": 9}}
    [event] = events_create(agent=agent, facts=[facts], principal=KEY)
    browser = signed_in(teammate)
    assert tag(Origin.AGENT) in text_of(browser.get(f"/agents/{agent.slug}/tools/{tool.id}/"))
    assert tag(Origin.TOOL) in text_of(browser.get(f"/agents/{agent.slug}/events/{event.id}/"))


def test_an_item_of_a_context_shows_its_origin(
    signed_in: SignedIn, owner: User, agent: Agent, team: Team, memory: Memory
) -> None:
    made = assemble(agent=agent, team=team, asked=AssemblyRequest(), principal=owner.principal)
    place = next(place for place, one in enumerate(made.decisions) if one.ref == memory.ref)
    page = text_of(signed_in(owner).get(f"/contexts/{made.assembly.id}/items/", {"item": place}))
    assert tag(Origin.AGENT) in page


def test_a_form_says_what_was_removed_from_its_texts(signed_in: SignedIn, editor: User, memory: Memory) -> None:
    words = {"text": "Tours\u200b start\u202e at ten.", "kind": "fact", "salience": "0.5", "credibility": "0.5"}
    browser = signed_in(editor)
    page = browser.post(f"/memories/{memory.id}/edit/", {**words, "version": "1"}, follow=True)
    assert "2 invisible characters were removed." in text_of(page)
    memory.refresh_from_db()
    assert memory.text == "Tours start at ten."
    assert "invisible" not in text_of(browser.get(f"/memories/{memory.id}/"))


def test_a_text_of_invisible_characters_is_explained(signed_in: SignedIn, editor: User, memory: Memory) -> None:
    words = {"text": "\u200b\u2060", "kind": "fact", "salience": "0.5", "credibility": "0.5", "version": "1"}
    page = signed_in(editor).post(f"/memories/{memory.id}/edit/", words)
    assert page.status_code == 422
    assert "The text has invisible characters only. Type it again." in text_of(page)
