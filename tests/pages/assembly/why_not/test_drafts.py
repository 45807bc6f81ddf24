"""A remedy leads to a filled-in form, for whom may use it; nothing is saved before that."""

import html
import re

import pytest
from django.test import Client

from agents.models import Agent
from assembly.models import Assembly, StoredProfile, StoredRule
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record
from memories.models import Memory
from memories.services import MemoryFacts, memories_create
from teams.models import Membership, Role, Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.pages.conftest import SignedIn, text_of


@pytest.fixture
def outranked(agent: Agent, team: Team, owner: User) -> Assembly:
    facts = [MemoryFacts(kind="fact", text=f"The stage number {number} is free") for number in range(7)]
    memories_create(owner=team, facts=facts, principal=owner.principal)
    return assemble(agent=agent, team=team, principal=owner.principal, asked=AssemblyRequest(topic="stage")).assembly


def answer(browser: Client, context: Assembly) -> str:
    missing = re.search(
        r"\?ref=([^\"&]+)",
        text_of(browser.get(f"/contexts/{context.id}/items/?code=outranked&item=" + _excluded(context))),
    )
    assert missing
    return text_of(browser.get(f"/contexts/{context.id}/why-not/?ref={missing[1]}"))


def _excluded(context: Assembly) -> str:
    return str(next(at for at, one in enumerate(load_record(context).decisions) if one.code == "outranked"))


def buttons(page: str) -> dict[str, str]:
    """The addresses of the links of drafts, by their labels."""
    found = re.findall(r'<a class="btn small" href="([^"]+)">([^<]+)</a>', page.split("How to include it")[1])
    return {label: html.unescape(address) for address, label in found}


def test_the_limit_of_the_profile_that_cannot_be_changed_is_raised_in_a_copy(
    signed_in: SignedIn, admin: User, outranked: Assembly
) -> None:
    browser = signed_in(admin)
    drafts = buttons(answer(browser, outranked))
    draft = text_of(browser.get(drafts["Copy profile conversation with this change"]))
    assert re.search(r"key: team_knowledge,.*top_k: [67]\}", html.unescape(draft))
    assert "Nothing is saved yet." in draft
    assert not StoredProfile.objects.exists()


def test_a_profile_of_the_organisation_is_changed_itself(
    signed_in: SignedIn, admin: User, agent: Agent, team: Team, outranked: Assembly
) -> None:
    section = "{key: team_knowledge, heading: Known, layer: L4, source: team_memories, shape: lines, top_k: 2}"
    file_create(file=StoredProfile(name="short", content=f"sections:\n  - {section}\n"), author=SYSTEM.author)
    asked = AssemblyRequest(topic="stage", profile="short")
    told = assemble(agent=agent, team=team, principal=SYSTEM, asked=asked).assembly
    browser = signed_in(admin)
    address = buttons(answer(browser, told))["Change profile short"]
    assert re.search(r"top_k: [3-7]\}", html.unescape(text_of(browser.get(address))))
    assert "top_k: 2}" in StoredProfile.objects.get().content


def test_an_editor_pins_the_memory_and_writes_a_rule_a_viewer_does_neither(
    signed_in: SignedIn, owner: User, outsider: User, team: Team, outranked: Assembly
) -> None:
    page = answer(browser := signed_in(owner), outranked)
    assert not any("profile" in label for label in buttons(page))
    pin = re.search(r'action="(/memories/[^"]+/pin/)">.*?name="version" value="(\d+)"', page, re.DOTALL)
    assert pin
    assert "Memory pinned." in text_of(browser.post(pin[1], {"version": pin[2]}, follow=True))
    assert Memory.objects.filter(pinned=True).count() == 1
    Membership.objects.create(team=team, user=outsider, role=Role.VIEWER)
    seen = answer(signed_in(outsider), outranked)
    assert "/pin/" not in seen
    assert not [label for label in buttons(seen) if label != "Simulate and suggest"]


def test_a_rule_is_prepared_with_its_action(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    query = "what=boost&by=tag&value=blue&weight=2&owner=agent:luna"
    page = text_of(signed_in(owner).get(f"/rules/new/?{query}"))
    assert '<option value="boost" selected>' in page
    assert '<option value="tag" selected>' in page
    assert 'value="blue"' in page
    assert '<option value="agent:luna" selected>' in page
    assert not StoredRule.objects.exists()
    for nonsense in ("what=exclude&by=tag&value=x", "what=boost&by=tag&value=x&weight=y", "what=%00", "by=tag"):
        assert "boost" in text_of(signed_in(owner).get(f"/rules/new/?{nonsense}"))


def test_a_simulation_is_filled_in_from_the_address(signed_in: SignedIn, owner: User, outranked: Assembly) -> None:
    page = text_of(signed_in(owner).get(f"/contexts/{outranked.id}/what-if/?cap_knowledge=3500&max_tokens=700"))
    assert 'name="cap_knowledge" value="3500"' in page
    assert 'name="max_tokens" value="700"' in page
