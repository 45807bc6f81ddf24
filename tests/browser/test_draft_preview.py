"""Before publishing: what the text would cut and push out, from the editor, with scripts and without them."""

import pytest
from playwright.sync_api import Browser, Page, expect

from teams.models import Team, User
from teams.versioned_text.drafts import Draft, draft_save
from tests.browser.conftest import sign_in
from tests.browser.page_checks import violations_in_both_schemes

pytestmark = pytest.mark.browser

LONG = "\n\n".join(f"Goal {number}: " + "ship the demo on the stage " * 60 for number in range(42))
COSTS = "Knowledge would be truncated: the last "


def look(page: Page, server: str, text: str) -> None:
    """Write a text into the editor and ask what it would change."""
    page.goto(f"{server}/teams/demo/files/GOALS/")
    page.wait_for_load_state("networkidle")
    page.locator("#text").fill(text)
    page.get_by_role("button", name="Show impact").click()
    page.wait_for_url(f"{server}/teams/demo/files/GOALS/preview/")


def test_what_is_written_shows_what_it_would_cut(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    sign_in(page, server)
    look(page, server, LONG)
    expect(page.get_by_role("heading", level=1)).to_have_text("Impact on contexts: Luna")
    expect(page.locator(".told")).to_contain_text(COSTS)
    expect(page.locator("tr.added").filter(has_text="Goal 0: ship the demo")).to_be_visible()
    assert violations_in_both_schemes(page) == []

    page.get_by_label("Budget in tokens").fill("20000")
    page.get_by_role("button", name="Update").click()
    expect(page.locator(".told")).to_contain_text("No content is displaced.")

    page.get_by_role("button", name="Back to your text").click()
    expect(page.locator("#text")).to_have_value(LONG)
    assert team.files.get(file_key="GOALS").version == 1


@pytest.mark.deep
def test_the_same_without_scripts(browser: Browser, server: str, team: Team) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    sign_in(page, server)
    look(page, server, LONG)
    expect(page.locator(".told")).to_contain_text(COSTS)
    page.get_by_label("Topic").fill("the stage")
    page.get_by_role("button", name="Update").click()
    expect(page.locator(".told")).to_contain_text(COSTS)
    page.get_by_role("button", name="Back to your text").click()
    expect(page.locator("#text")).to_have_value(LONG)
    context.close()


@pytest.mark.deep
def test_the_panel_follows_the_draft_and_leaves_the_writer_alone(
    page: Page, server: str, team: Team, complaints: list[str]
) -> None:
    olga, goals = User.objects.get(username="olga"), team.files.get(file_key="GOALS")
    draft_save(person_id=olga.id, about=goals.about, content="Ship it.", based_on=1, expected_revision=0)
    sign_in(page, server)
    page.goto(f"{server}/teams/demo/files/GOALS/")
    panel = page.locator("#draft-preview")
    expect(panel).to_contain_text("No content is displaced.")
    page.locator("#text").focus()
    Draft.objects.update(content=LONG)
    page.evaluate("document.body.dispatchEvent(new Event('dossier:draft-saved'))")
    expect(panel).to_contain_text(COSTS)
    expect(page.locator("#live")).to_contain_text(COSTS)
    expect(page.locator("#text")).to_be_focused()
    assert violations_in_both_schemes(page) == []
    panel.get_by_role("link", name="Show impact").click()
    expect(page.locator(".told")).to_contain_text(COSTS)


def test_the_step_before_publishing_says_what_changes_for_agents(
    page: Page, server: str, team: Team, complaints: list[str]
) -> None:
    sign_in(page, server)
    page.goto(f"{server}/agents/luna/files/IDENTITY/")
    page.locator("#text").fill("You are Luna. " * 40)
    page.get_by_role("button", name="Review and publish").click()
    panel = page.locator("#draft-preview")
    expect(panel.locator(".told")).to_be_visible()
    expect(panel).to_contain_text("Identity")
