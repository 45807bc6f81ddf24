"""Ctrl-K opens the search on every page; the keyboard alone leads to the result."""

import pytest
from playwright.sync_api import Browser, Page, expect

from teams.models import Team
from tests.browser.conftest import sign_in
from tests.browser.page_checks import violations_in_both_schemes

pytestmark = pytest.mark.browser


def test_the_keyboard_leads_to_a_result(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    sign_in(page, server)
    page.goto(f"{server}/trends/")
    page.keyboard.press("Control+k")
    dialog = page.locator("#search-dialog")
    expect(dialog.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("luna ident")
    expect(dialog.get_by_role("link", name="Identity")).to_be_visible()
    assert violations_in_both_schemes(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{server}/agents/luna/files/IDENTITY/")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


@pytest.mark.deep
def test_the_link_works_without_scripts(browser: Browser, server: str, team: Team) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/trends/")
    page.locator(".side").get_by_role("link", name="Search").click()
    page.get_by_role("searchbox", name="Search").fill("luna")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("link", name="Luna luna")).to_be_visible()
    context.close()
