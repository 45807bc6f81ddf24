"""Previewing, listing, reading and replaying contexts."""

import re
from typing import Any
from uuid import uuid4

import pytest

from agents.models import Agent
from agents.services import agent_create, agent_delete
from assembly.models import Assembly, StoredProfile
from assembly.models.assembly import packed
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.records.reader import content_of, load_record
from assembly.sources.base import ConversationTurn
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.services import team_create
from teams.versioned_text.versioned_file import file_create, file_save
from tests.assembly.failing_sources import raising, replaced, sleeping
from tests.assembly.recorded_decisions import decided
from tests.pages.conftest import SignedIn, text_of


@pytest.fixture
def full(agent: Agent, team: Team, owner: User) -> Assembly:
    """A context with something cut, something outranked, and something left out."""
    file = agent.files.get(file_key="KNOWLEDGE")
    text = "\n\n".join(f"Paragraph {number}: " + "story and stage " * 40 for number in range(30))
    file_save(file=file, content=f"{text}\n\n... [truncated]", expected_version=1, author=owner.principal.author)
    facts = [MemoryFacts(kind="fact", text=f"The stage number {number} is <free>") for number in range(8)]
    memories_create(owner=team, facts=facts, principal=owner.principal)
    return assemble(agent=agent, team=team, principal=owner.principal, asked=AssemblyRequest()).assembly


def test_previewing_assembles_and_shows_the_context(
    signed_in: SignedIn, teammate: User, team: Team, agent: Agent
) -> None:
    data = {"agent": "luna", "team": "demo", "topic": "the stage", "max_tokens": "500", "profile": "research"}
    response = signed_in(teammate).post("/preview/", data, follow=True)
    assembly = Assembly.objects.get()
    assert response.redirect_chain == [(f"/contexts/{assembly.id}/", 302)]
    assert (assembly.topic, assembly.budget, assembly.requester_name) == ("the stage", 500, "Tim")
    assert assembly.profile_name == "research"
    assert "Context of Luna" in text_of(response)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"team": "other"}, "is not in Other"),
        ({"team": "hidden"}, "not one of the available choices"),
        ({"agent": "kit"}, "not one of the available choices"),
        ({"agent": ""}, "required"),
        ({"max_tokens": "200001"}, "less than or equal to 200000"),
        ({"max_tokens": "-1"}, "greater than or equal to 0"),
        ({"topic": "x" * 4001}, "at most 4000"),
        ({"topic": "nul \x00"}, "Null characters"),
    ],
)
def test_what_cannot_be_previewed_is_explained(
    change: dict[str, str], fault: str, signed_in: SignedIn, owner: User, agent: Agent
) -> None:
    team_create(slug="other", name="Other", principal=owner.principal)
    agent_create(slug="kit", name="Kit", teams=[team_create(slug="hidden", name="Hidden")])
    data = {"agent": "luna", "team": "demo", "topic": "", "max_tokens": "500", **change}
    response = signed_in(owner).post("/preview/", data)
    assert response.status_code == 422
    assert fault in text_of(response)
    assert not Assembly.objects.exists()


def test_the_chosen_agents_only_team_is_chosen_with_it(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    team_create(slug="other", name="Other", principal=owner.principal)
    page = text_of(signed_in(owner).get("/preview/?agent=luna"))
    assert '<option value="demo" selected>' in page
    assert "Other" not in page
    assert "Other" in text_of(signed_in(owner).get("/preview/"))


def test_the_headline_says_what_happened(signed_in: SignedIn, owner: User, full: Assembly) -> None:
    page = text_of(signed_in(owner).get(f"/contexts/{full.id}/"))
    assert re.search(r"<h1>Luna · \d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC</h1>", page)
    told = r"Preview for Luna: [\d,]+ of 16,000 tokens\. "
    assert re.search(told + "One text was truncated and three items were excluded", page)
    assert "Ranked 6; the limit of Team memories is 5" in page
    assert "paragraphs are included." in page
    assert "3 low rank" in page


def test_the_exact_text_is_all_there_and_marked_where_it_was_cut(
    signed_in: SignedIn, owner: User, full: Assembly
) -> None:
    import html

    page = text_of(signed_in(owner).get(f"/contexts/{full.id}/exact/"))
    shown = page.split('id="exact">')[1].split("</code>")[0]
    assert html.unescape(re.sub(r"</?(span|mark|a)\b[^>]*>", "", shown)) == content_of(load_record(full))
    assert shown.count("<mark") == 1
    assert '<mark class="cut">... [truncated]</mark>' in shown


def test_left_out_items_link_to_the_pinned_version(signed_in: SignedIn, owner: User, full: Assembly) -> None:
    page = text_of(signed_in(owner).get(f"/contexts/{full.id}/exact/"))
    assert "/agents/luna/files/KNOWLEDGE/history/2/" in page


def test_a_context_over_its_budget_says_so_loudly(signed_in: SignedIn, owner: User, team: Team, agent: Agent) -> None:
    small = assemble(agent=agent, team=team, principal=owner.principal, asked=AssemblyRequest(max_tokens=1)).assembly
    page = text_of(signed_in(owner).get(f"/contexts/{small.id}/"))
    assert f"{small.tokens - 1} tokens over the budget." in page
    assert "The required sections exceed the budget, so nothing else is included." in page


def test_a_late_source_is_named_and_its_time_is_drawn(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced(monkeypatch, "daily_logs", sleeping)
    replaced(monkeypatch, "team_memories", raising)
    asked = AssemblyRequest(budgets=RequestBudgets(time_ms=2_000))
    late = assemble(agent=agent, team=team, principal=owner.principal, asked=asked).assembly
    browser = signed_in(owner)
    summary = text_of(browser.get(f"/contexts/{late.id}/"))
    page = text_of(browser.get(f"/contexts/{late.id}/rules-and-sources/"))
    assert re.search(r'Daily logs <span class="tag bad">late</span>', page)
    assert re.search(r'Memories of the team <span class="tag bad">failed</span>', page)
    outcomes = re.findall(r'<td class="outcome"><span class="tag bad">([^<]+)</span>', summary)
    assert outcomes == ["source late", "source failed"], "these sections are empty for a reason"
    assert "It timed out, so its items are missing in the context." in page
    assert "Daily logs: It timed out" in summary, "the warning, above all"
    assert "LookupError" not in page, "a class's name says nothing to staff"
    assert page.count('<svg class="waterfall') == len(late.sources)
    assert page.count('<svg class="waterfall late"') == 2
    numbers = [float(number) for bar in re.findall(r'class="took" x="(\d+)" width="(\d+)"', page) for number in bar]
    assert all(0 <= number <= 1000 for number in numbers)


def test_older_records_have_no_times_to_draw(signed_in: SignedIn, owner: User, full: Assembly) -> None:
    full.id = uuid4()
    full.body = packed({**full.contents, "sources": [{"name": "daily_logs", "count": 1, "limit": 7, "ms": 3}]})
    full.save(force_insert=True)
    page = text_of(signed_in(owner).get(f"/contexts/{full.id}/rules-and-sources/"))
    assert "Daily logs" in page
    assert '<svg class="waterfall' not in page


def test_what_was_made_shorter_says_from_what_to_what(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent
) -> None:
    section = "{key: turns, heading: Turns, layer: L6, source: turns, shape: turns}"
    content = f"over_budget: [compact]\nsections:\n  - {section}\n"
    file_create(file=StoredProfile(name="short", content=content), author=owner.principal.author)
    said = "The stage is made of oak. It stands in the hall. The hall has a stage of oak and a door. " * 4
    turns = tuple(ConversationTurn("user", f"{number}. {said}") for number in range(6))
    asked = AssemblyRequest(profile="short", history=turns, max_tokens=520)
    shorter = assemble(agent=agent, team=team, principal=owner.principal, asked=asked).assembly
    (decision, *_) = decided(shorter, code="compacted")
    page = text_of(signed_in(owner).get(f"/contexts/{shorter.id}/items/?code=compacted&item=0"))
    position = re.findall(r'<tr id="item-(\d+)"', page)[0]
    page = text_of(signed_in(owner).get(f"/contexts/{shorter.id}/items/?item={position}"))
    assert re.search(rf"{decision.tokens} tokens,\s+shortened from {decision.tokens_full}", page)


def test_the_list_says_what_each_warning_is(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced(monkeypatch, "daily_logs", raising)
    assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(max_tokens=1))
    for address in ("/contexts/", "/"):
        page = text_of(signed_in(owner).get(address))
        assert '<span class="tag bad">over budget</span>' in page
        assert '<span class="tag bad">source failed</span>' in page


def test_an_empty_context_has_a_page(signed_in: SignedIn, owner: User, team: Team) -> None:
    bare = agent_create(slug="bare", name="Bare", teams=[team])
    empty = assemble(agent=bare, principal=owner.principal, asked=AssemblyRequest(max_tokens=0)).assembly
    page = text_of(signed_in(owner).get(f"/contexts/{empty.id}/exact/"))
    assert "The text is empty." in page


def test_replaying_says_that_the_bytes_match(signed_in: SignedIn, teammate: User, full: Assembly) -> None:
    browser, address = signed_in(teammate), f"/contexts/{full.id}/replay/"
    assert "Verified: identical" in text_of(browser.post(address, follow=True))
    part = text_of(browser.post(address, headers={"HX-Request": "true"}))
    assert "Verified: identical" in part
    assert "<html" not in part


def test_a_record_that_was_tampered_with_is_not_shown_as_the_truth(
    signed_in: SignedIn, owner: User, full: Assembly
) -> None:
    # History cannot be changed, so the damaged record is another one; an encrypted body is bound to its record.
    full.id, full.sha256, full.body = uuid4(), bytes(32), packed(full.contents)
    full.save(force_insert=True)
    page = text_of(signed_in(owner).get(f"/contexts/{full.id}/"))
    assert "Integrity check failed" in page
    assert "Integrity check failed. Contact your administrator." in text_of(
        signed_in(owner).post(f"/contexts/{full.id}/replay/", follow=True)
    )


def test_the_text_is_downloaded_byte_for_byte(signed_in: SignedIn, teammate: User, full: Assembly) -> None:
    response = signed_in(teammate).get(f"/contexts/{full.id}/text/")
    assert response.content == content_of(load_record(full)).encode()
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert 'filename="luna-' in response["Content-Disposition"]


def test_a_context_outlives_its_agent_for_admins(
    signed_in: SignedIn, admin: User, owner: User, agent: Agent, full: Assembly
) -> None:
    agent_delete(agent=agent, principal=admin.principal)
    page = text_of(signed_in(admin).get(f"/contexts/{full.id}/"))
    assert "(deleted)" in page
    assert "/agents/luna/" not in page
    assert signed_in(owner).get(f"/contexts/{full.id}/").status_code == 404


def test_the_list_is_filtered_by_its_address(signed_in: SignedIn, owner: User, team: Team, full: Assembly) -> None:
    kit = agent_create(slug="kit", name="Kit", teams=[team])
    assemble(agent=kit, principal=owner.principal, asked=AssemblyRequest(topic="about kites"))
    browser = signed_in(owner)
    assert "about kites" in text_of(browser.get("/contexts/"))
    assert "about kites" not in text_of(browser.get("/contexts/?agent=luna"))
    assert "about kites" not in text_of(browser.get("/contexts/?team=demo"))
    assert "about kites" not in text_of(browser.get("/contexts/?outcome=truncated"))
    assert "about kites" in text_of(browser.get("/contexts/?agent=kit&team=&outcome="))


@pytest.mark.parametrize("query", ["agent=nobody", "agent=%00", "outcome=nonsense", "team=' OR 1=1"])
def test_a_filter_that_means_nothing_lists_nothing(
    query: str, signed_in: SignedIn, owner: User, full: Assembly
) -> None:
    page = text_of(signed_in(owner).get(f"/contexts/?{query}"))
    assert "Invalid filter" in page
    assert str(full.id) not in page


def test_the_list_goes_on(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    for topic in ("first", "second", "third"):
        assemble(agent=agent, principal=owner.principal, asked=AssemblyRequest(topic=topic))
    browser = signed_in(owner)
    page = text_of(browser.get("/contexts/?limit=2&agent=luna"))
    assert "third" in page
    assert "first" not in page
    following = re.findall(r'href="(/contexts/\?[^"]*cursor[^"]*)"', page)[0].replace("&amp;", "&")
    assert "first" in text_of(browser.get(following))
    assert "agent=luna" in following


def test_the_pages_take_few_queries(
    signed_in: SignedIn, owner: User, full: Assembly, django_assert_num_queries: Any
) -> None:
    browser = signed_in(owner)
    with django_assert_num_queries(12):
        browser.get(f"/contexts/{full.id}/")
    with django_assert_num_queries(8):
        browser.get("/preview/?agent=luna")
