"""The tasks that a newcomer tried, with the clicks that they may take, and by the keyboard alone.

Enter on a result counts as a click.

The clicks before are those of a newcomer in the first house: identity 11, correcting a memory 6, an account 7, which
days a file was cut 6 and one more for each context, a remedy could not be applied at all.
"""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from assembly.models import Assembly
from assembly.monitoring.new_contexts import follow_assemblies
from memories.models import Memory
from teams.models import Membership, Team, User
from tests.browser.conftest import sign_in

pytestmark = pytest.mark.browser


class Hand:
    """Somebody with a mouse, whose clicks are counted."""

    def __init__(self, page: Page, server: str) -> None:
        self.page, self.server, self.count = page, server, 0

    def click(self, on: Locator) -> None:
        self.press(on)
        self.page.wait_for_load_state()
        self.count += 1

    def press(self, on: Locator) -> None:
        on.click()

    def fill(self, on: Locator, text: str) -> None:
        on.fill(text)

    def choose(self, on: Locator, option: str) -> None:
        """Choose an option of a list, which counts as a click."""
        on.select_option(label=option)
        self.count += 1

    def find(self, words: str, result: str) -> None:
        """Open a result of Ctrl-K with Enter."""
        self.page.keyboard.press("Control+k")
        self.page.keyboard.type(words)
        expect(self.page.locator("#search-dialog-results").get_by_role("link", name=result).first).to_be_visible()
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("Enter")
        self.page.wait_for_load_state()
        self.count += 1


class Keyboard(Hand):
    """Somebody who has no mouse, and goes to everything with Tab."""

    def press(self, on: Locator) -> None:
        self._go_to(on)
        self.page.keyboard.press("Enter")

    def fill(self, on: Locator, text: str) -> None:
        self._go_to(on)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def choose(self, on: Locator, option: str) -> None:
        self._go_to(on)
        self.page.keyboard.type(option)
        expect(on.locator("option:checked")).to_have_text(option)
        self.count += 1

    def _go_to(self, on: Locator) -> None:
        expect(on).to_be_visible()
        for _ in range(MOST_STOPS):
            if on.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {on}.")


MOST_STOPS = 250
Begin = Callable[[str], Hand]


@pytest.fixture(params=[pytest.param(Hand, marks=pytest.mark.deep), Keyboard])
def begin(request: pytest.FixtureRequest, page: Page, server: str, team: Team, complaints: list[str]) -> Begin:
    def signed_in(username: str) -> Hand:
        sign_in(page, server, username)
        page.goto(f"{server}/")
        hand: Hand = request.param(page, server)
        return hand

    return signed_in


@pytest.mark.deep
def test_the_story_of_an_identity_takes_seven(begin: Begin) -> None:
    hand = begin("olga")
    page = hand.page
    hand.find("luna ident", "Identity")
    page.wait_for_load_state("networkidle")
    hand.fill(page.locator("#text"), "You are Luna, and you listen.")
    expect(page.locator("#draft-preview .told")).to_be_visible(timeout=20_000)  # what it changes stands beside the text
    hand.click(page.get_by_role("button", name="Review and publish"))
    hand.fill(page.get_by_label("Change summary"), "She listens")
    hand.click(page.get_by_role("button", name="Publish", exact=True))
    hand.click(page.get_by_role("link", name="History"))
    hand.click(page.get_by_role("button", name="Compare selected"))
    hand.click(page.get_by_role("button", name=re.compile("Restore version 1")))
    expect(page.locator("[data-message]")).to_be_visible()
    assert hand.count <= 7


def test_a_memory_is_corrected_in_three(begin: Begin) -> None:
    hand = begin("olga")
    page = hand.page
    hand.find("number 6", "The stage number 6 is free")
    hand.click(page.get_by_role("link", name="Edit", exact=True))
    hand.fill(page.get_by_label("Memory", exact=True), "The stage number 6 is taken")
    hand.click(page.get_by_role("button", name="Save"))
    expect(page.locator("[data-message]")).to_be_visible()
    assert Memory.objects.filter(text="The stage number 6 is taken").exists()
    assert hand.count <= 3


def test_an_account_with_a_role_takes_four(begin: Begin) -> None:
    User.objects.filter(username="olga").update(is_admin=True)
    hand = begin("olga")
    page = hand.page
    hand.click(page.locator(".side").get_by_role("link", name="People"))
    hand.fill(page.get_by_label("Name", exact=True), "Maya Brandt")
    hand.fill(page.get_by_label("Username", exact=True), "maya")
    hand.choose(page.locator("#id_team"), "Demo")
    hand.choose(page.locator("#id_role"), "Editor")
    hand.click(page.get_by_role("button", name="Create user"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Sign-in details of Maya Brandt")
    assert Membership.objects.get(user__username="maya").role == "editor"
    assert hand.count <= 4


@pytest.mark.deep
def test_on_which_days_a_file_was_cut_and_by_how_much_takes_three(begin: Begin) -> None:
    follow_assemblies(list(Assembly.objects.order_by("id")))
    hand = begin("olga")
    page = hand.page
    hand.click(page.locator(".side").get_by_role("link", name="Trends"))
    hand.choose(page.get_by_label("Agent", exact=True), "Luna")
    hand.click(page.get_by_role("button", name="Apply"))
    row = page.get_by_role("row").filter(has_text="Knowledge of Luna")
    expect(row).to_be_visible()
    assert re.search(r"\d,\d{3}", row.inner_text()), "the tokens that were lost"
    assert hand.count <= 3


@pytest.mark.deep
def test_a_remedy_is_applied_as_a_draft_in_three(begin: Begin) -> None:
    hand = begin("olga")
    page = hand.page
    page.goto(f"{hand.server}/contexts/")
    hand.press(page.get_by_role("row").filter(has_text="the stage").get_by_role("link"))  # the context is open
    left_out = page.locator("#left-out .items > li").filter(has_text="the limit of Team memories is 5").first
    hand.click(left_out.get_by_role("link", name="Explain"))
    hand.click(page.get_by_role("button", name="Pin memory").first)
    expect(page.locator("[data-message]")).to_have_text("Memory pinned.")
    assert Memory.objects.filter(pinned=True).count() == 1
    assert hand.count <= 3
