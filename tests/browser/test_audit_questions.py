"""What an admin asks of what an agent was told: each answered from the list of contexts, in at most four clicks."""

import re
from collections.abc import Iterator

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from teams.models import Team
from tests.assembly.simulation.time_travel.edit_story import clock_set
from tests.browser.conftest import sign_in

pytestmark = pytest.mark.browser
MOST_CLICKS = 4


class Clicks:
    """Somebody with a mouse, at the list of contexts: clicks are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def click(self, on: Locator) -> None:
        on.click()
        self.page.wait_for_load_state()
        self.count += 1

    def open(self, topic: str) -> None:
        """The context about it, from the list."""
        self.click(self.page.get_by_role("row").filter(has_text=topic).get_by_role("link"))
        expect(self.page.get_by_role("heading", level=1)).to_contain_text("Luna · ")


@pytest.fixture
def clicks(page: Page, server: str, team: Team, complaints: list[str]) -> Iterator[Clicks]:
    sign_in(page, server)
    page.goto(f"{server}/contexts/")
    clicking = Clicks(page)
    yield clicking
    assert clicking.count <= MOST_CLICKS


@pytest.mark.deep
def test_which_file_was_cut(clicks: Clicks) -> None:
    clicks.open("the stage")
    page = clicks.page
    expect(page.locator(".lead").first).to_contain_text("One text was truncated")
    expect(page.get_by_role("row").filter(has_text="Knowledge").last).to_contain_text("truncated: ")
    clicks.click(page.get_by_role("link", name="Show in text Knowledge"))
    expect(page.locator(".told:target mark")).to_have_text("... [truncated]")
    clicks.click(page.get_by_role("link", name="Open its version: Knowledge"))
    expect(page.get_by_text("Paragraph 29:")).to_be_visible()


def test_what_was_left_out_and_why(clicks: Clicks) -> None:
    clicks.open("the stage")
    left_out = clicks.page.locator("#left-out .items > li").filter(has_text="the limit of Team memories is 5").first
    expect(left_out).to_contain_text("The cut-off score is")
    clicks.click(left_out.get_by_text("Score", exact=False).locator("xpath=ancestor-or-self::summary"))
    expect(left_out.get_by_role("row").filter(has_text="Match of words in it and its neighbours")).to_be_visible()


@pytest.mark.deep
def test_does_it_replay_byte_for_byte(clicks: Clicks) -> None:
    clicks.open("the stage")
    clicks.click(clicks.page.get_by_role("button", name="Verify"))
    expect(clicks.page.locator("#replayed")).to_contain_text("✓ Verified: identical")
    expect(clicks.page.locator("#replayed code")).to_have_text(re.compile("[0-9a-f]{64}"))


def test_why_something_was_not_recalled(clicks: Clicks) -> None:
    clicks.open("the stage")
    page = clicks.page
    left_out = page.locator("#left-out .items > li").filter(has_text="the limit of Team memories is 5").first
    clicks.click(left_out.get_by_role("link", name="Explain"))
    expect(page.locator("#answer")).to_contain_text("Considered, but excluded.")
    expect(page.locator("#answer")).to_contain_text("It would be included if Team memories had a limit of")


@pytest.mark.deep
def test_what_it_would_be_told_today(clicks: Clicks) -> None:
    clicks.open("the stage")
    clicks.click(clicks.page.get_by_role("link", name="Re-run today"))
    expect(clicks.page.get_by_role("heading", level=1)).to_have_text("Re-run today: Luna")


@pytest.mark.deep
def test_what_the_agent_knew_on_another_day(clicks: Clicks, monkeypatch: pytest.MonkeyPatch, server: str) -> None:
    clock = clock_set(monkeypatch, timezone.now())
    then = clock.goes_on(hours=1)
    clock.goes_on(days=2)
    sign_in(clicks.page, server)  # after two days without a click, one is signed out
    clicks.page.reload()
    clicks.open("the stage")
    page = clicks.page
    clicks.click(page.get_by_role("link", name="View as of date"))
    expect(page.get_by_label("Topic")).to_have_value("the stage")
    page.get_by_label("Day").fill(f"{then:%Y-%m-%d}")
    page.get_by_label("Time").fill(f"{then:%H:%M}")
    clicks.click(page.get_by_role("button", name="Show"))
    expect(page.get_by_role("heading", name="the context of Luna would have used")).to_be_visible()


@pytest.mark.deep
def test_what_if_it_had_less_room(clicks: Clicks) -> None:
    clicks.open("the stage")
    page = clicks.page
    clicks.click(page.get_by_role("link", name="What if"))
    page.get_by_label("Budget in tokens").fill("500")
    clicks.click(page.get_by_role("button", name="Run", exact=True))
    expect(page.locator(".told")).to_contain_text(" tokens (")


@pytest.mark.deep
def test_how_two_contexts_differ(clicks: Clicks) -> None:
    clicks.open("the stage")
    page = clicks.page
    clicks.click(page.get_by_role("link", name="Compare with …"))
    clicks.click(page.locator("ul.items").get_by_role("link").first)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page).to_have_url(re.compile("after="))
