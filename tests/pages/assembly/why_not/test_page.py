"""Why not …? The page: for those who may see the context, with an answer for whatever is typed."""

import re

import pytest

from agents.models import Agent
from agents.services import agent_create, agent_delete
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record
from memories.services import MemoryFacts, memories_create, memory_create
from teams.models import Team, User
from teams.services import team_create
from tests.pages.conftest import SignedIn, text_of


@pytest.fixture
def told(agent: Agent, team: Team, owner: User) -> Assembly:
    """A context of which three memories of the team are left out: five have a place."""
    facts = [MemoryFacts(kind="fact", text=f"The stage number {number} is <free>") for number in range(8)]
    memories_create(owner=team, facts=facts, principal=owner.principal)
    return assemble(agent=agent, team=team, principal=owner.principal, asked=AssemblyRequest()).assembly


def address(told: Assembly, query: str = "") -> str:
    return f"/contexts/{told.id}/why-not/{query}"


def test_a_viewer_is_told_why_and_what_would_bring_it_in(signed_in: SignedIn, teammate: User, told: Assembly) -> None:
    page = text_of(signed_in(teammate).get(address(told, "?q=the+stage+number+0")))
    assert "Considered, but excluded." in page
    assert "the limit of Team memories is 5" in page
    assert "It would be included if Team memories had a limit of 8 items instead of 5." in page
    assert "It would be included if it were pinned." in page
    assert "The stage number 4 is &lt;free&gt;" in page, "what stood around it"
    assert "<free>" not in page


def test_an_outsider_finds_no_such_page(signed_in: SignedIn, outsider: User, told: Assembly) -> None:
    assert signed_in(outsider).get(address(told)).status_code == 404
    assert signed_in(outsider).get(address(told, "?q=stage")).status_code == 404


def test_without_a_question_it_lists_what_is_left_out(signed_in: SignedIn, owner: User, told: Assembly) -> None:
    page = text_of(signed_in(owner).get(address(told)))
    links = re.findall(r'href="(/contexts/[^"]+why-not/\?ref=[^"]+)"', page)
    decisions = load_record(told).decisions
    assert len(links) == sum(not decision.included and decision.tokens_full > 0 for decision in decisions)
    followed = text_of(signed_in(owner).get(links[0].replace("&amp;", "&")))
    assert "Considered, but excluded." in followed


def test_what_is_in_says_why_it_is_in(signed_in: SignedIn, owner: User, told: Assembly) -> None:
    page = text_of(signed_in(owner).get(address(told, "?q=instructions")))
    assert "Included in full." in page
    assert "Required: Instructions is always included in full." in page
    assert "How to include it" not in page


def test_what_was_written_later_was_not_there_yet(signed_in: SignedIn, owner: User, team: Team, told: Assembly) -> None:
    memory_create(owner=team, facts=MemoryFacts(kind="fact", text="The curtain is red"), principal=owner.principal)
    page = text_of(signed_in(owner).get(address(told, "?q=curtain")))
    assert "Not considered." in page
    assert "It did not exist yet: it was written after this context." in page


def test_what_belongs_to_others_is_as_if_it_were_not_there(
    signed_in: SignedIn, admin: User, owner: User, told: Assembly
) -> None:
    far = team_create(slug="far", name="Far")
    secret = memory_create(owner=far, facts=MemoryFacts(kind="fact", text="Velvet secret"), principal=admin.principal)
    for person in (owner, admin):
        by_words = text_of(signed_in(person).get(address(told, "?q=velvet")))
        by_ref = text_of(signed_in(person).get(address(told, f"?ref=memory:{secret.id}")))
        nothing = text_of(signed_in(person).get(address(told, "?q=nowhere")))
        for page in (by_words, by_ref, nothing):
            assert "No candidate has this name, and no item has it today." in page
            assert "Velvet" not in page


def test_a_question_that_is_too_long_comes_back_with_its_fault(
    signed_in: SignedIn, owner: User, told: Assembly
) -> None:
    response = signed_in(owner).get(address(told, f"?q={'x' * 401}"))
    assert response.status_code == 422
    assert "at most 400 characters" in text_of(response)
    assert "x" * 401 in text_of(response)
    assert signed_in(owner).get(address(told, "?q=nul%00")).status_code == 422


def test_a_name_of_markup_is_shown_as_text(signed_in: SignedIn, owner: User, agent: Agent, told: Assembly) -> None:
    page = text_of(signed_in(owner).get(address(told, "?q=<script>alert(1)</script>")))
    assert "<script>alert" not in page


def test_the_agent_may_be_gone(signed_in: SignedIn, admin: User, team: Team, owner: User) -> None:
    other = agent_create(slug="brief", name="Brief", teams=[team])
    told = assemble(agent=other, team=team, principal=owner.principal, asked=AssemblyRequest()).assembly
    agent_delete(agent=other, principal=admin.principal)
    page = text_of(signed_in(admin).get(address(told, "?q=instructions")))
    assert "Empty." in page
