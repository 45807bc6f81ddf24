"""The page of one context: the lists and the text lead to each other, and go on without leaving it."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from agents.models import Agent
from assembly.models import Assembly
from assembly.records.reader import content_of, load_record
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
    page.get_by_role("link", name="In the text Knowledge Base").focus()
    page.keyboard.press("Enter")
    told = page.locator(".told:target")
    expect(told).to_contain_text("Paragraph 0: story and stage")
    expect(told).to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Why it is in: Knowledge Base")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("li:target")).to_contain_text("Cut to fit")
    page.get_by_role("link", name="The version that it came from: Knowledge Base").click()
    expect(page).to_have_url(f"{server}/agents/luna/files/KNOWLEDGE/history/2/")


def test_more_items_come_on_the_page_and_are_told(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    many = context_of_many(*luna(team), candidates=400)
    left_out = many.left_out
    sign_in(page, server)
    page.goto(f"{server}/contexts/{many.id}/")
    shown = page.locator("#left-out .items > li")
    expect(shown).to_have_count(8)
    page.locator("#left-out").get_by_role("link", name="Show 50 more").click()
    expect(shown).to_have_count(58)
    expect(shown.nth(8)).to_be_focused()
    expect(page.locator("#live")).to_have_text(f"Items 9 to 58 of {left_out}")
    page.locator("#left-out").get_by_role("link", name="Show 50 more").click()
    expect(shown).to_have_count(108)
    expect(shown.nth(58)).to_be_focused()


def test_items_are_found_without_javascript(browser: Browser, server: str, team: Team) -> None:
    many = context_of_many(*luna(team), candidates=400)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/contexts/{many.id}/")
    page.get_by_label("Words in it").fill("memory 117:")
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".items > li")).to_have_count(1)
    page.goto(f"{server}/contexts/{many.id}/")
    page.locator("#left-out").get_by_role("link", name="Show 50 more").click()
    expect(page.locator(".items > li")).to_have_count(50)
    context.close()


def test_a_long_text_goes_on_and_is_copied_whole(browser: Browser, server: str, team: Team) -> None:
    long = context_of_text(*luna(team), "harbour walk opens\n" * 10_526)
    content = content_of(load_record(long))
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/contexts/{long.id}/")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == content
    for _ in range(3):
        page.get_by_role("link", name="Show more of the text").last.click()
        expect(page.locator(".htmx-request")).to_have_count(0)
    expect(page.get_by_role("link", name="Show more of the text")).to_have_count(0)
    assert "".join(page.locator("code.exact").all_text_contents()) == content
    context.close()


def test_very_many_items_and_a_long_text_suit_everybody(
    page: Page, server: str, team: Team, complaints: list[str]
) -> None:
    many = context_of_many(*luna(team)).id
    long = context_of_text(*luna(team), "harbour walk opens\n" * 10_526).id
    sign_in(page, server)
    addresses = [f"/contexts/{many}/", f"/contexts/{many}/items/", f"/contexts/{many}/json/", f"/contexts/{long}/"]
    assert look_at(page, [server + address for address in addresses]) == []
