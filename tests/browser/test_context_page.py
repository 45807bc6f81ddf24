"""The page of one context: the lists and the text lead to each other, and go on without leaving it."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from agents.models import Agent
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import content_of, load_record
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from tests.assembly.large_record import context_of_many, context_of_text
from tests.browser.conftest import sign_in
from tests.browser.test_every_page import look_at

pytestmark = pytest.mark.browser


def luna(team: Team) -> tuple[Agent, Team, Any]:
    return Agent.objects.get(slug="luna"), team, User.objects.get(username="olga").principal


def test_from_an_item_to_its_place_in_the_text_and_back(
    page: Page, server: str, team: Team, complaints: list[str]
) -> None:
    sign_in(page, server)
    page.goto(f"{server}/contexts/{Assembly.objects.get(topic='the stage').id}/")
    page.get_by_role("link", name="Show in text Knowledge").focus()
    page.keyboard.press("Enter")
    told = page.locator(".told:target")
    expect(told).to_contain_text("Paragraph 0: story and stage")
    expect(told).to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Explain: Knowledge")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#item-details")).to_contain_text("Truncated")
    page.locator("#item-details").get_by_role("link", name="Open its version").click()
    expect(page).to_have_url(f"{server}/agents/luna/files/KNOWLEDGE/history/2/")


def test_items_are_filtered_sorted_and_selected_on_the_page(
    page: Page, server: str, team: Team, complaints: list[str]
) -> None:
    many = context_of_many(*luna(team), candidates=400)
    sign_in(page, server)
    page.goto(f"{server}/contexts/{many.id}/")
    page.get_by_role("link", name="Items", exact=True).click()
    page.get_by_label("Items", exact=True).select_option("out")
    expect(page.locator("#found h2").first).to_have_text(f"{many.left_out:,} items")
    rows = page.locator(".items-table tbody tr")
    expect(rows).to_have_count(50)
    page.get_by_role("link", name="Tokens").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Tokens")
    expect(page).to_have_url(re.compile("sort=-tokens&which=out"))
    expect(page.locator(".htmx-settling")).to_have_count(0)  # before that, its links load whole pages
    rows.nth(3).get_by_role("link").press("Enter")
    expect(page.locator("#item-details")).to_be_focused()
    expect(rows.nth(3)).to_have_attribute("aria-current", "true")
    expect(page.locator("#item-details").get_by_role("link", name="Explain")).to_be_visible()
    page.go_back()
    expect(page.locator("tr[aria-current]")).to_have_count(0)
    page.get_by_role("link", name="Next").click()
    expect(rows).to_have_count(50)


@pytest.mark.deep
def test_items_are_found_without_javascript(browser: Browser, server: str, team: Team) -> None:
    many = context_of_many(*luna(team), candidates=400)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/contexts/{many.id}/items/")
    page.get_by_label("Words").fill("memory 117:")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".items-table tbody tr")).to_have_count(1)
    page.locator(".items-table tbody a").click()
    expect(page.locator("#item-details").get_by_role("link", name="Explain")).to_be_visible()
    context.close()


@pytest.mark.deep
def test_a_long_text_goes_on_and_is_copied_whole(browser: Browser, server: str, team: Team) -> None:
    long = context_of_text(*luna(team), "harbour walk opens\n" * 10_526)
    content = content_of(load_record(long))
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/contexts/{long.id}/exact/")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == content
    for _ in range(3):
        page.get_by_role("link", name="Show more text").last.click()
        expect(page.locator(".htmx-request")).to_have_count(0)
    expect(page.get_by_role("link", name="Show more text")).to_have_count(0)
    assert "".join(page.locator("code.exact").all_text_contents()) == content
    context.close()


@pytest.mark.deep
def test_very_many_items_and_a_long_text_suit_everybody(
    page: Page, server: str, team: Team, complaints: list[str]
) -> None:
    many = context_of_many(*luna(team)).id
    long = context_of_text(*luna(team), "harbour walk opens\n" * 10_526).id
    sign_in(page, server)
    tabs = ("", "items/", "items/?item=7", "json/", "rules-and-sources/")
    addresses = [*(f"/contexts/{many}/{tab}" for tab in tabs), f"/contexts/{long}/exact/"]
    assert look_at(page, [server + address for address in addresses]) == []


@pytest.mark.deep
def test_a_second_round_is_told_beside_the_sources(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    agent, _, principal = luna(team)
    stages = [MemoryFacts(kind="fact", text=f"The stage number {number} is free") for number in range(7, 40)]
    facts = [MemoryFacts(kind="fact", text="Otto Brandt has the key of the hall."), *stages]
    memories_create(owner=agent, facts=facts, principal=principal)
    asked = AssemblyRequest(topic="the stage", profile="memory", entities=("Otto Brandt",))
    made = assemble(agent=agent, team=team, asked=asked, principal=principal).assembly
    sign_in(page, server)
    address = f"{server}/contexts/{made.id}/rules-and-sources/"
    page.goto(address)
    sheet = page.locator("section", has=page.get_by_role("heading", name="Second round"))
    expect(sheet).to_contain_text("further items were found")
    expect(sheet).to_contain_text("Otto Brandt")
    expect(sheet.get_by_role("row", name=re.compile("Memories of the agent"))).to_be_visible()
    assert look_at(page, [address]) == []


@pytest.mark.deep
def test_terms_are_explained_by_a_press(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    sign_in(page, server)
    page.goto(f"{server}/contexts/{Assembly.objects.get(topic='the stage').id}/")
    for name, answer in (("token", "pieces of words"), ("layer", "seven layers"), ("profile", "which sections")):
        page.get_by_role("button", name=re.compile(name)).press("Enter")
        expect(page.locator(f"#term-{name}")).to_contain_text(answer)
        expect(page.locator(f"#term-{name}")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(f"#term-{name}")).to_be_hidden()
