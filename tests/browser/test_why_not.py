"""Why not …? From the list of contexts to the answer, with scripts and without them."""

import pytest
from playwright.sync_api import Browser, Page, expect

from assembly.models import Assembly
from teams.models import Team
from tests.browser.conftest import sign_in
from tests.browser.page_checks import too_wide, violations_in_both_schemes

pytestmark = pytest.mark.browser


def ask(page: Page, server: str, words: str) -> None:
    about = Assembly.objects.get(topic="the stage")
    page.goto(f"{server}/contexts/{about.id}/why-not/")
    page.get_by_label("Item").fill(words)
    page.get_by_role("button", name="Run").click()
    page.wait_for_url("**/why-not/?q=*")


def test_words_are_answered_and_the_answer_is_told(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    sign_in(page, server, "tim")
    ask(page, server, "stage number 0")
    answer = page.locator("#answer")
    expect(answer.locator(".told")).to_contain_text("Considered, but excluded.")
    expect(answer).to_contain_text("It would be included if Team memories had a limit of 7 items instead of 5.")
    expect(answer.locator("tr.itself")).to_contain_text("The stage number 0 is free")
    expect(answer.get_by_role("heading").first).to_be_focused()
    expect(page.locator("#live")).to_contain_text("Considered, but excluded.")
    assert violations_in_both_schemes(page) == []
    assert too_wide(page, 320, 1440) == []

    answer.get_by_role("link", name="The stage number 2 is free").first.click()
    expect(page.locator(".told")).to_contain_text("Included in full.")


@pytest.mark.deep
def test_the_same_without_scripts(browser: Browser, server: str, team: Team) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    sign_in(page, server)
    ask(page, server, "knowledge base")
    expect(page.locator(".told")).to_contain_text("Included, but not in full. Truncated:")
    expect(page.locator("#answer")).to_contain_text("more tokens for Knowledge (a cap of ")
    context.close()
