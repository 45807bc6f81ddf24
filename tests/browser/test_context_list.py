"""The list of contexts: narrowed by its filters, a thing chosen by a part of its name, and taken away as a file."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agents.models import AgentFile
from assembly.models import Assembly
from teams.models import Team
from tests.browser.conftest import sign_in
from tests.browser.page_checks import too_wide, violations_in_both_schemes

pytestmark = pytest.mark.browser


@pytest.fixture
def listed(page: Page, server: str, team: Team, complaints: list[str]) -> Page:
    """Olga at the list."""
    sign_in(page, server)
    page.goto(f"{server}/contexts/")
    return page


def heading(page: Page, text: str) -> None:
    """What the results are, said and in focus."""
    expect(page.locator("#found h2").first).to_have_text(text)
    expect(page.locator("#found h2").first).to_be_focused()
    expect(page.locator("#live")).to_have_text(text)


def test_filters_read_as_a_sentence_and_the_list_is_taken_away(listed: Page, tmp_path: Path) -> None:
    page = listed
    page.get_by_label("Agent", exact=True).select_option("luna")
    page.get_by_label("Outcome", exact=True).select_option("excluded")
    page.get_by_role("searchbox", name="Search").fill("stage")
    page.keyboard.press("Enter")
    heading(page, "Agent: Luna, with excluded items, words: “stage”")
    expect(page.locator("#found tbody tr")).to_have_count(1)
    assert "outcome=excluded" in page.url
    page.reload()
    expect(page.get_by_role("searchbox", name="Search")).to_have_value("stage")
    page.get_by_role("link", name="Export").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Export contexts")
    assert violations_in_both_schemes(page) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").press("Enter")
    download.value.save_as(tmp_path / "list.csv")
    (row,) = csv.DictReader((tmp_path / "list.csv").read_text().splitlines())
    assert row["topic"] == "the stage"
    assert row["id"] == str(Assembly.objects.get(topic="the stage").id)


@pytest.mark.deep
def test_a_thing_is_chosen_by_a_part_of_its_name(listed: Page) -> None:
    page = listed
    page.get_by_text("More filters").click()
    told = page.get_by_label("Contains", exact=True)
    told.press_sequentially("knowl")
    expect(page.locator("#found h2")).to_have_text("Select a match for “knowl”")
    expect(told).to_be_focused()
    expect(page.locator("#live")).to_have_text("Select a match for “knowl”")
    assert "included_ref" not in page.url, "nothing is chosen yet"
    assert violations_in_both_schemes(page) == []
    assert too_wide(page, 320, 1280) == []
    choice = page.locator("#found").get_by_role("link", name="Knowledge")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    choice.focus()
    page.wait_for_timeout(500)
    assert not requests, "leaving the field does not replace the matches"
    page.keyboard.press("Enter")
    expect(page.locator("#found h2")).to_have_text("Contains: Knowledge of Luna")
    expect(page.locator("#found tbody tr")).to_have_count(1)
    file = AgentFile.objects.get(agent__slug="luna", file_key="KNOWLEDGE")
    expect(page.get_by_label("Contains", exact=True)).to_have_value(file.about)


@pytest.mark.deep
def test_a_thing_is_chosen_without_javascript(browser: Browser, server: str, team: Team) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/contexts/")
    page.get_by_text("More filters").click()
    page.get_by_label("Excluded item").fill("stage number 6")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("heading", name="Select a match for “stage number 6”")).to_be_visible()
    expect(page.get_by_text("Select a match below")).to_be_visible()
    page.get_by_role("link", name="The stage number 6 is free").click()
    expect(page.locator("#found h2")).to_contain_text("xcludes: “The stage number 6 is free”")
    context.close()
