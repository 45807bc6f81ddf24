"""What people do, from beginning to end."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from teams.models import Team, TeamFile, User
from teams.versioned_text.versioned_file import file_save
from tests.browser.conftest import PASSWORD, sign_in, sign_in_by_form
from tests.browser.editor_actions import publish_from_here

pytestmark = pytest.mark.browser


@pytest.fixture
def plain_page(browser: Browser) -> Iterator[Page]:
    """A browser without JavaScript."""
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


def test_from_signing_in_to_why_something_was_left_out(
    page: Page, server: str, team: Team, complaints: list[str]
) -> None:
    sign_in_by_form(page, server)
    page.get_by_role("link", name="Demo").first.click()
    page.get_by_role("link", name="Add Goals").click()
    page.wait_for_load_state()
    page.get_by_label("Text of Goals").fill("Ship **it** by March.")
    publish_from_here(page)
    expect(page.locator("[data-message]")).to_contain_text("Published version 2.")

    page.get_by_role("link", name="History").click()
    page.get_by_role("link", name="Version 1", exact=True).click()
    expect(page.get_by_text("This version is empty.")).to_be_visible()

    page.get_by_role("navigation", name="Main").get_by_role("link", name="Preview context").click()
    page.wait_for_load_state()  # without its scripts the page works, too, but otherwise
    page.get_by_label("Agent").select_option("Luna")
    expect(page.get_by_label("Team")).to_have_value("demo")
    page.get_by_label("Topic").fill("the stage")
    page.get_by_role("button", name="Preview context").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Luna · ")
    expect(page.locator("#left-out")).to_contain_text("the limit of Team memories is 5")

    page.wait_for_load_state()
    page.get_by_role("button", name="Verify").click()
    expect(page.locator("#replayed")).to_contain_text("✓ Verified: identical")
    expect(page.locator("#replayed")).to_be_focused()
    expect(page.locator("#live")).to_have_text("✓ Verified: identical")


@pytest.mark.deep
def test_with_the_keyboard_alone(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    page.goto(f"{server}/teams/demo/files/RULES/")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.get_by_label("Username").focus()
    page.keyboard.type("olga")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server}/teams/demo/files/RULES/")

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skips the navigation
    while page.evaluate("document.activeElement.id") != "text":
        page.keyboard.press("Tab")
    page.keyboard.type("- Never guess.")
    while "Review and publish" not in page.evaluate("document.activeElement.textContent"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Change summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-message]")).to_contain_text("Published version 2.")
    assert TeamFile.objects.get(team=team, file_key="RULES").content == "- Never guess."


def test_without_javascript(plain_page: Page, server: str, team: Team) -> None:
    page = plain_page
    sign_in_by_form(page, server)
    page.goto(f"{server}/preview/")
    page.get_by_label("Agent").select_option("Luna")
    page.get_by_label("Team").select_option("Demo")
    page.get_by_role("button", name="Preview context").click()
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("Verified: identical")).to_be_visible()
    page.get_by_role("button", name="Sign out").first.click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_leaving_with_unsaved_text_asks_first(page: Page, server: str, team: Team) -> None:
    sign_in(page, server)
    page.goto(f"{server}/rules/new/?as=text")
    page.wait_for_load_state()
    page.locator("#text").press_sequentially("x")
    asked: list[str] = []

    def stay(dialog: object) -> None:
        asked.append(dialog.type)  # type: ignore[attr-defined]
        dialog.accept()  # type: ignore[attr-defined]

    page.on("dialog", stay)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Home").click()
    page.wait_for_url(f"{server}/")
    assert asked == ["beforeunload"]


@pytest.mark.deep
def test_the_menu_of_a_phone(browser: Browser, server: str, team: Team) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    sign_in_by_form(page, server)
    page.get_by_text("Menu", exact=True).click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    page.get_by_text("Menu", exact=True).click()
    page.get_by_role("link", name="Contexts", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Contexts")
    context.close()


def test_copying_gives_the_exact_text(browser: Browser, server: str, team: Team) -> None:
    from assembly.models import Assembly
    from assembly.records.reader import content_of, load_record

    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    sign_in(page, server)
    assembly = Assembly.objects.get(topic="the stage")
    page.goto(f"{server}/contexts/{assembly.id}/exact/")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == content_of(load_record(assembly))
    context.close()


@pytest.mark.deep
def test_comparing_and_restoring(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    file = TeamFile.objects.get(team=team, file_key="GOALS")
    people = [User.objects.get(username=name).principal for name in ("olga", "tim")]
    texts = ("Ship by March.\n\nTell all.\n\n- One\n", "Ship by May.\n\nTell all.\n\n- Two\n")
    for number, (text, person) in enumerate(zip(texts, people, strict=True), 1):
        file = file_save(file=file, content=text, expected_version=number, author=person.author)
    sign_in(page, server)
    page.goto(f"{server}/teams/demo/files/GOALS/history/")
    page.get_by_role("radio", name="from version 2").check()
    page.get_by_role("radio", name="to version 3").check()
    page.get_by_role("button", name="Compare selected").click()
    expect(page.get_by_role("heading", name="2 changes")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("n")
    expect(page.locator("#change-1")).to_be_focused()
    page.keyboard.press("n")
    expect(page.locator("#change-2")).to_be_focused()
    expect(page.get_by_text("Change 2 of 2")).to_be_visible()
    page.keyboard.press("p")
    expect(page.locator("#change-1")).to_be_focused()

    page.get_by_label("Comment").fill("March it is.")
    page.get_by_role("button", name="Restore version 2").click()
    expect(page.locator("#live")).to_have_text("Restored version 2 as version 4.")
    expect(page.get_by_text("Restored version 2: March it is.")).to_be_visible()
    page.get_by_role("button", name="Undo restore (version 3)").click()
    expect(page.locator("#live")).to_have_text("Restored version 3 as version 5.")
    assert TeamFile.objects.get(team=team, file_key="GOALS").content == texts[1]


@pytest.mark.deep
def test_comparing_and_restoring_without_javascript(plain_page: Page, server: str, team: Team) -> None:
    page = plain_page
    file = TeamFile.objects.get(team=team, file_key="GOALS")
    olga = User.objects.get(username="olga").principal
    file_save(file=file, content="One.\n\nTwo.\n", expected_version=1, author=olga.author)
    sign_in(page, server)
    page.goto(f"{server}/teams/demo/files/GOALS/history/")
    page.get_by_role("link", name="Changes in version 2").click()
    page.get_by_role("link", name="Source", exact=True).click()
    expect(page.locator("#change-1")).to_contain_text("Two.")
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.locator("[data-message]")).to_contain_text("Restored version 1 as version 3.")
