"""Levels of detail on pages: in which forms agents may get a text, and in which an item is in a context."""

import re

import pytest

from agents.models import Agent, AgentFile
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record
from memories.embeddings.indexing import document_split
from memories.services import MemoryFacts, memories_create, memory_create
from memories.services.document import documents_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.long_texts import LONG, OTHER, extracted
from tests.pages.conftest import SignedIn, text_of


def forms_on(page: str) -> list[tuple[str, str]]:
    """The codes of the levels and their tokens, in the order of the page."""
    return re.findall(r"<code>(macro|micro|atomic)</code></p><span class=\"num\">([\d,]+) tokens?</span>", page)


@pytest.mark.parametrize("whose", ["owner", "teammate"])
def test_the_page_of_a_memory_shows_its_forms(
    request: pytest.FixtureRequest, whose: str, signed_in: SignedIn, agent: Agent
) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="message", text=LONG), principal=SYSTEM)
    page = text_of(signed_in(request.getfixturevalue(whose)).get(f"/memories/{memory.id}/"))
    assert "How agents may get this text" in page
    assert [code for code, _ in forms_on(page)] == ["macro", "micro", "atomic"]
    tokens = [int(number) for _, number in forms_on(page)]
    assert tokens == sorted(tokens)
    for short in extracted(LONG).values():
        assert short in page


def test_a_short_text_has_one_form(signed_in: SignedIn, agent: Agent, owner: User) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Tea."), principal=SYSTEM)
    page = text_of(signed_in(owner).get(f"/memories/{memory.id}/"))
    assert forms_on(page) == [("atomic", "3")]
    assert "it has no shorter form" in page


def test_the_history_of_a_file_shows_its_forms_and_that_of_an_empty_one_none(
    signed_in: SignedIn, agent: Agent, team: Team, owner: User
) -> None:
    file = AgentFile.objects.get(agent=agent, file_key="KNOWLEDGE")
    address = f"/agents/{agent.slug}/files/KNOWLEDGE/history/"
    file_save(file=file, content=LONG, expected_version=file.version, author=SYSTEM.author)
    page = text_of(signed_in(owner).get(address))
    assert [code for code, _ in forms_on(page)] == ["macro", "micro", "atomic"]
    file.refresh_from_db()
    file_save(file=file, content="", expected_version=file.version, author=SYSTEM.author)
    assert "How agents may get this text" not in text_of(signed_in(owner).get(address))


def test_the_page_of_a_document_shows_those_of_its_passages(signed_in: SignedIn, agent: Agent, owner: User) -> None:
    content = "\n\n".join([f"# Part {number}\n\n{LONG} {number}" for number in range(60)])
    (document,) = documents_create(agent=agent, facts=[{"path": "trip.md", "content": content}], principal=SYSTEM)
    address = f"/agents/{agent.slug}/documents/{document.id}/"
    assert "How agents may get this text" not in text_of(signed_in(owner).get(address)), "it is not split yet"
    document_split(id_=document.id)
    page = text_of(signed_in(owner).get(address))
    assert page.count("<summary>Line") == 20
    assert "The first 20 passages are shown." in page
    assert "trip.md:1" in page


def test_an_item_of_a_context_says_its_level(signed_in: SignedIn, agent: Agent, owner: User) -> None:
    texts = [LONG, OTHER, *(f"{LONG} {OTHER} {number}" for number in range(8))]
    memories_create(owner=agent, facts=[MemoryFacts(kind="message", text=text) for text in texts], principal=SYSTEM)
    asked = AssemblyRequest(topic="Who recommended the event?", profile="memory", max_tokens=250)
    assembly = assemble(agent=agent, principal=owner.principal, asked=asked).assembly
    levels = [decision.detail.get("lod") for decision in load_record(assembly).decisions]
    browser = signed_in(owner)
    page = text_of(browser.get(f"/contexts/{assembly.id}/items/?item={levels.index('macro')}"))
    assert "Level of detail: outline (macro). Tokens of the others: key sentences (micro) " in page
    plain = assemble(agent=agent, principal=owner.principal, asked=AssemblyRequest(topic="Tea")).assembly
    assert "Level of detail" not in text_of(browser.get(f"/contexts/{plain.id}/items/?item=0"))
