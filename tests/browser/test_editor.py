"""Stories of writing: from the first key to a version, with two people, without a network, a session or scripts."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from teams.models import Membership, Team
from teams.principal import Role
from teams.sign_in.models import BrowserSession
from tests.browser.conftest import PASSWORD, sign_in
from tests.browser.editor_actions import (
    GOALS,
    draft_of,
    goals,
    is_saved,
    open_goals,
    publish_from_here,
    published_by,
    state_of,
)
from tests.browser.page_checks import violations_in_both_schemes

pytestmark = pytest.mark.browser


@pytest.fixture
def other(browser: Browser, team: Team) -> Iterator[Page]:
    """The browser of a colleague, who may edit."""
    Membership.objects.filter(user__username="tim").update(role=Role.EDITOR)
    context = browser.new_context()
    yield context.new_page()
    context.close()


def test_from_the_first_key_to_a_version(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    text = open_goals(page, server)
    page.get_by_text("Example", exact=True).click()
    page.get_by_role("button", name="Use this example").click()
    expect(text).to_have_value("Ship the Q1 product demo by March 15.\n\n- Three acts, twelve minutes, one story\n"
        "- Every claim shown live, no slides\n- Two dress rehearsals with pilot customers")  # fmt: skip
    expect(page.get_by_role("button", name="Use this example")).to_be_hidden()
    is_saved(page)
    text.fill("Ship it by March.")
    text.select_text()
    page.get_by_role("button", name="Bold").click()
    expect(text).to_have_value("**Ship it by March.**")
    expect(page.locator("#size")).to_contain_text("4 words")
    is_saved(page)
    page.reload()
    expect(text).to_have_value("**Ship it by March.**")
    expect(page.get_by_text("your draft")).to_be_visible()
    assert goals(team).version == 1

    page.get_by_role("button", name="Formatted view").click()
    expect(page.locator("#preview strong")).to_have_text("Ship it by March.")
    publish_from_here(page, "The date")
    expect(page.locator("[data-message]")).to_contain_text("Published version 2.")
    expect(page.locator("#live")).to_contain_text("Published version 2.")
    assert goals(team).content == "**Ship it by March.**"
    assert goals(team).versions.get(version=2).note == "The date"
    assert draft_of() == ""


@pytest.mark.deep
def test_a_discarded_draft_comes_back(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    text = open_goals(page, server)
    text.fill("Precious")
    is_saved(page)
    text.fill("Precious and more")
    page.get_by_role("button", name="Discard draft").click()
    expect(page.locator("[data-message]")).to_contain_text("Draft discarded.")
    expect(text).to_have_value("")
    expect(page.locator("#other-text")).to_be_hidden()
    page.get_by_role("button", name="Restore").click()
    expect(text).to_have_value("Precious and more")


def test_two_people_at_once_lose_nothing(page: Page, other: Page, server: str, team: Team) -> None:
    published_by("olga", team, "one\ntwo\nthree")
    mine = open_goals(page, server)
    theirs = open_goals(other, server, "tim")
    expect(other.locator("#others")).to_have_text("Olga Owner is also editing")
    theirs.fill("one\ntwo\nTHREE")
    publish_from_here(other)
    expect(other.locator("[data-message]")).to_contain_text("Published version 3.")

    mine.fill("ONE\ntwo\nthree")
    expect(page.locator("#newer")).to_contain_text("Tim published version 3.")
    page.get_by_role("button", name="Review and publish").click()
    expect(page.get_by_role("alert").filter(has_text="Tim published version 3")).to_be_visible()
    expect(page.get_by_text("The changes are in different places")).to_be_visible()
    page.get_by_role("button", name="Merge", exact=True).click()
    field = page.get_by_label("Text of Goals")
    expect(field).to_have_value("ONE\ntwo\nTHREE")
    publish_from_here(page)
    expect(page.locator("[data-message]")).to_contain_text("Published version 4.")
    assert goals(team).content == "ONE\ntwo\nTHREE"


def test_two_people_change_one_line(page: Page, other: Page, server: str, team: Team) -> None:
    published_by("olga", team, "one\ntwo\nthree")
    mine = open_goals(page, server)
    open_goals(other, server, "tim").fill("one\ntwo by Tim\nthree")
    publish_from_here(other)
    mine.fill("one\ntwo by Olga\nthree")
    is_saved(page)
    page.get_by_role("button", name="Review and publish").click()
    place = page.get_by_role("group", name="Place 1 of 1")
    expect(place.get_by_text("two by Tim")).to_be_visible()
    assert violations_in_both_schemes(page) == []
    place.get_by_label("This text:").check()
    place.get_by_label("Text for place 1").fill("two by both")
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_label("Text of Goals")).to_have_value("one\ntwo by both\nthree")
    publish_from_here(page)
    expect(page.locator("[data-message]")).to_contain_text("Published version 4.")
    assert goals(team).content == "one\ntwo by both\nthree"


def test_a_network_lost_while_typing(context: BrowserContext, page: Page, server: str, team: Team) -> None:
    text = open_goals(page, server)
    text.fill("Before")
    is_saved(page)
    context.set_offline(True)
    text.fill("Before, and in the tunnel")
    expect(state_of(page)).to_contain_text("No connection. Your text is safe in this window")
    expect(page.locator("#live")).to_contain_text("No connection.")
    expect(page.locator("#trouble")).to_be_hidden()
    assert draft_of() == "Before"
    context.set_offline(False)
    is_saved(page)
    assert draft_of() == "Before, and in the tunnel"


@pytest.mark.deep
def test_a_laptop_closed_without_a_network(context: BrowserContext, page: Page, server: str, team: Team) -> None:
    text = open_goals(page, server)
    text.fill("Before")
    is_saved(page)
    context.set_offline(True)
    text.fill("In the tunnel")
    expect(state_of(page)).to_contain_text("No connection.")
    # A page that closes saves once more, and by then Chromium has forgotten that it is to be without a network.
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('no network')); }")
    page.close()
    context.set_offline(False)

    page = context.new_page()
    page.goto(f"{server}{GOALS}")
    text = page.get_by_label("Text of Goals")
    expect(text).to_have_value("Before")
    expect(page.get_by_role("heading", name="Recovered unsaved text")).to_be_visible()
    expect(page.locator("[data-other]")).to_have_text("In the tunnel")
    page.get_by_role("button", name="Swap").click()
    expect(text).to_have_value("In the tunnel")
    page.get_by_role("button", name="Keep this version").click()
    is_saved(page)
    assert draft_of() == "In the tunnel"


def test_a_session_that_ends_while_typing(context: BrowserContext, page: Page, server: str, team: Team) -> None:
    text = open_goals(page, server)
    text.fill("Before")
    is_saved(page)
    BrowserSession.objects.all().delete()
    text.fill("Before and after")
    expect(state_of(page)).to_contain_text("You were signed out. Your text is safe in this window.")
    assert draft_of() == "Before"
    with context.expect_page() as opened:
        page.get_by_role("link", name="Sign in in a new tab").click()
    tab = opened.value
    tab.get_by_label("Username").fill("olga")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    tab.wait_for_url(f"{server}/")
    tab.close()
    page.keyboard.press("Control+s")
    is_saved(page)
    assert draft_of() == "Before and after"
    publish_from_here(page)
    expect(page.locator("[data-message]")).to_contain_text("Published version 2.")


@pytest.mark.deep
def test_a_session_that_ends_without_scripts(browser: Browser, server: str, team: Team) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    open_goals(page, server).fill("\nPrecious <b>\n")
    BrowserSession.objects.all().delete()
    page.get_by_role("button", name="Review and publish").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("You were signed out, but your text is retained")
    with context.expect_page() as opened:
        page.get_by_role("link", name="Sign in in a new tab").click()
    tab = opened.value
    tab.get_by_label("Username").fill("olga")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    tab.wait_for_url(f"{server}/")
    page.get_by_role("button", name="Send again").click()
    # Signing in changed the token of forms, so the text comes back once more, with the new one.
    expect(page.get_by_role("heading", level=1)).to_contain_text("open for a long time, but your text is retained")
    page.get_by_role("button", name="Send again").click()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("[data-message]")).to_contain_text("Published version 2.")
    assert goals(team).content == "\nPrecious <b>\n"
    context.close()


@pytest.mark.deep
def test_two_windows_of_one_person(context: BrowserContext, page: Page, server: str, team: Team) -> None:
    text = open_goals(page, server)
    second = context.new_page()
    second.goto(f"{server}{GOALS}")
    text.fill("From the first window")
    is_saved(page)
    second.get_by_label("Text of Goals").fill("From the second window")
    expect(second.get_by_role("heading", name="You edited this text in another window")).to_be_visible()
    expect(second.locator("[data-other]")).to_have_text("From the first window")
    assert draft_of() == "From the first window"
    second.get_by_role("button", name="Keep this version").click()
    is_saved(second)
    assert draft_of() == "From the second window"
    second.reload()
    expect(second.locator("#set-aside")).to_have_text("From the first window")


def test_without_scripts(browser: Browser, server: str, team: Team) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    text = open_goals(page, server)
    text.fill("\n\nShip **it**.\n")
    page.get_by_role("button", name="Formatted view").click()
    expect(page.locator("#preview strong")).to_have_text("it")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved. Only you can see it.")).to_be_visible()
    assert draft_of() == "\n\nShip **it**.\n"
    expect(page.get_by_role("button", name="Bold")).to_be_hidden()
    publish_from_here(page, "Without scripts")
    expect(page.locator("[data-message]")).to_contain_text("Published version 2.")
    assert goals(team).content == "\n\nShip **it**.\n"
    context.close()


def test_with_the_keyboard_alone(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    open_goals(page, server).focus()
    page.keyboard.type("never guess")
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+b")
    expect(page.get_by_label("Text of Goals")).to_have_value("**never guess**")
    page.keyboard.press("Alt+F10")
    expect(page.get_by_role("button", name="Heading")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="Bold")).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Quotation")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Text of Goals")).to_have_value("- **never guess**")
    page.keyboard.press("Control+s")
    is_saved(page)
    page.keyboard.press("Control+Shift+p")
    expect(page.locator("#preview .prose")).to_be_visible()
    page.get_by_role("region", name="Formatted view").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Change summary")).to_be_focused()
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    expect(page.locator("[data-message]")).to_contain_text("Published version 2.")
    assert goals(team).content == "- **never guess**"


@pytest.mark.deep
def test_shortcuts_can_be_switched_off(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    open_goals(page, server)
    page.get_by_role("button", name="Shortcuts").click()
    page.get_by_label("Use these shortcuts in this browser").uncheck()
    page.get_by_role("button", name="Close").click()
    page.reload()
    page.wait_for_load_state()
    page.locator("h1").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_label("Text of Goals").fill("plain")
    page.get_by_label("Text of Goals").press("Control+b")
    expect(page.get_by_label("Text of Goals")).to_have_value("plain")


@pytest.mark.deep
def test_the_line_of_a_cut_is_drawn(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    sign_in(page, server)
    page.goto(f"{server}/agents/luna/files/KNOWLEDGE/")
    expect(page.locator("#size")).to_contain_text("/ 2,000 tokens: the last 15 paragraphs are truncated.")
    page.get_by_role("button", name="Formatted view").click()
    expect(page.locator(".cut-line")).to_have_count(1)
    expect(page.locator("p", has=page.locator(".cut-line"))).to_contain_text("Paragraph 15:")


@pytest.mark.deep
def test_axe_finds_nothing_in_any_state(page: Page, server: str, team: Team) -> None:
    text = open_goals(page, server)
    text.fill("Precious")
    is_saved(page)
    page.get_by_role("button", name="Discard draft").click()
    page.get_by_role("button", name="Shortcuts").click()
    found = violations_in_both_schemes(page)
    page.keyboard.press("Escape")
    text.fill("Mine")
    is_saved(page)
    page.get_by_role("button", name="Formatted view").click()
    expect(page.locator("#preview .prose")).to_be_visible()
    found += violations_in_both_schemes(page)
    page.goto(f"{server}{GOALS}?step=publish")
    found += violations_in_both_schemes(page)
    published_by("tim", team, "Theirs")
    page.goto(f"{server}{GOALS}?step=merge")
    found += violations_in_both_schemes(page)
    assert found == []


@pytest.mark.deep
def test_no_state_is_wider_than_a_small_phone(browser: Browser, server: str, team: Team) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 640})
    page = context.new_page()
    open_goals(page, server).fill("Mine")
    is_saved(page)
    published_by("tim", team, "Theirs" * 60)
    for step in ("", "?step=merge"):
        page.goto(f"{server}{GOALS}{step}")
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), step
    context.close()


LONG = "\n\n".join(f"Paragraph {number} about the stage." for number in range(80))


@pytest.mark.finding("E12")
def test_the_formatted_view_follows_the_text_and_is_closed(
    page: Page, server: str, team: Team, complaints: list[str]
) -> None:
    text = open_goals(page, server)
    text.fill(LONG)
    page.evaluate("window.scrollTo(0, 0)")
    view, button = page.locator("#preview"), page.get_by_role("button", name="Formatted view")
    button.click()
    expect(view).to_contain_text("Paragraph 79")
    expect(button).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("window.scrollY") < 300
    text.press("Control+End")
    page.keyboard.type(" **Now.**")
    expect(view.locator("strong")).to_have_text("Now.")
    page.wait_for_function("document.getElementById('preview').scrollTop > 100")
    button.click()
    expect(view).to_be_hidden()


@pytest.mark.finding("E11")
def test_on_a_phone_the_line_being_typed_is_seen(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    page.set_viewport_size({"width": 390, "height": 480})
    text = open_goals(page, server)
    text.fill(LONG)
    text.press("Control+End")
    page.keyboard.type(" more")
    bar = page.locator(".bottom").bounding_box()
    field = text.bounding_box()
    assert bar
    assert field
    assert bar["y"] >= field["y"] + field["height"] - 1, "nothing covers the text"


@pytest.mark.finding("E24")
def test_without_a_network_publishing_stays_on_the_page(
    context: BrowserContext, page: Page, server: str, team: Team
) -> None:
    text = open_goals(page, server)
    text.fill("Precious")
    is_saved(page)
    context.set_offline(True)
    page.get_by_role("button", name="Review and publish").click()
    expect(state_of(page)).to_contain_text("No connection.")
    expect(text).to_have_value("Precious")
    context.set_offline(False)
    page.get_by_role("button", name="Review and publish").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Publish")
