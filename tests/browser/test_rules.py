"""A rule from its first word to its last effect by keyboard alone; its form without scripts, and on small screens."""

from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from agents.models import Agent
from assembly.models import StoredRule
from assembly.rules.services import rule_create
from teams.models import Team
from teams.principal import SYSTEM
from tests.browser.conftest import sign_in
from tests.browser.page_checks import too_wide, violations_in_both_schemes

pytestmark = pytest.mark.browser

MOST_STOPS = 80


def reach(page: Page, target: Locator, key: str = "Tab") -> None:
    """Press the key until the focus is there, as somebody without a mouse does."""
    expect(target).to_be_visible()
    for _ in range(MOST_STOPS):
        if target.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"The keyboard does not reach {target}.")


def press(page: Page, name: str, role: Literal["button", "link"] = "button", key: str = "Tab") -> None:
    reach(page, page.get_by_role(role, name=name, exact=True), key)
    page.keyboard.press("Enter")


def fill(page: Page, label: str, text: str) -> None:
    """Type into a field; in a select, the beginning of an option's name chooses it."""
    reach(page, page.get_by_label(label, exact=True))
    page.keyboard.type(text)


def what_luna_is_told(page: Page, server: str, topic: str) -> None:
    """A new context of Luna in her team."""
    page.goto(f"{server}/preview/")
    page.wait_for_load_state()
    reach(page, page.get_by_label("Agent"))
    page.keyboard.type("Luna")
    expect(page.get_by_label("Team")).to_have_value("demo")
    fill(page, "Topic (optional)", topic)
    press(page, "Preview context")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Luna · ")


@pytest.mark.deep
def test_a_rule_by_keyboard_alone(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    sign_in(page, server)
    page.goto(f"{server}/rules/")
    page.wait_for_load_state()
    press(page, "New rule", "link")
    page.wait_for_url(f"{server}/rules/new/")
    page.wait_for_load_state()

    fill(page, "Name", "no-rehearsals")
    fill(page, "Scope", "Luna")
    reach(page, page.get_by_label("Create disabled"))
    page.keyboard.press("Space")
    fill(page, "Description (optional)", "Rehearsals say nothing of stages.")
    fill(page, "Words in the topic (optional)", "stage\nbackdrop")
    fill(page, "Action", "Exclude")
    fill(page, "Target", "Daily")
    expect(page.get_by_label("Value")).to_be_hidden()

    press(page, "Test rule")
    heading = page.locator("#tried h2")
    expect(heading).to_be_focused()
    expect(heading).to_have_text("The rule matches 1 of the last 2 contexts. 1 would change.")
    expect(page.locator("#live")).to_have_text(heading.inner_text())
    expect(page.locator("#tried")).to_contain_text("Daily logs: Excluded by the rule “no-rehearsals”.")
    assert not StoredRule.objects.exists()

    press(page, "Create rule", key="Shift+Tab")
    page.wait_for_url(f"{server}/rules/no-rehearsals/")
    expect(page.locator("[data-message]")).to_contain_text("Rule created, but disabled.")
    expect(page.get_by_text("If the topic contains “stage” or “backdrop”:")).to_be_visible()
    press(page, "Enable")
    expect(page.locator("[data-message]")).to_have_text("Rule enabled.")

    what_luna_is_told(page, server, "the stage once more")
    applied = page.locator("section", has=page.get_by_role("heading", name="Rules that matched"))
    press(page, "Rules and sources", role="link")
    expect(applied).to_contain_text("no-rehearsals, version 2")
    press(page, "Text", role="link")
    expect(page.locator("#exact")).not_to_contain_text("Rehearsed.")

    page.goto(f"{server}/rules/no-rehearsals/")
    page.wait_for_load_state()
    press(page, "Disable")
    expect(page.locator("[data-message]")).to_have_text("Rule disabled.")
    what_luna_is_told(page, server, "the stage at last")
    press(page, "Rules and sources", role="link")
    expect(page.get_by_text("No rule matched.")).to_be_visible()
    press(page, "Text", role="link")
    expect(page.locator("#exact")).to_contain_text("Rehearsed.")


@pytest.mark.deep
def test_lines_are_added_and_a_form_becomes_a_text_and_a_form_again(
    page: Page, server: str, team: Team, complaints: list[str]
) -> None:
    sign_in(page, server)
    page.goto(f"{server}/rules/new/")
    page.wait_for_load_state()
    fill(page, "Name", "own")
    fill(page, "Target", "Files")
    fill(page, "Value", "GOALS")
    press(page, "Add action")
    second = page.get_by_role("group", name="Action 2")
    expect(second).to_be_focused()
    expect(page.locator("#live")).to_have_text("One more action was added.")
    reach(page, second.get_by_label("Action", exact=True))
    page.keyboard.type("Boost")
    reach(page, second.get_by_label("Target"))
    page.keyboard.type("Items with tag")
    reach(page, second.get_by_label("Value"))
    page.keyboard.type("ops")
    reach(page, second.get_by_label("Weight"))
    page.keyboard.type("0.5")

    press(page, "YAML", key="Shift+Tab")
    text = page.get_by_label("Text of the rule")
    expected = "then:\n  always_include:\n  - path: GOALS\n  boost:\n  - tag: ops\n    weight: 0.5\n"
    expect(text).to_have_value(expected)
    expect(page.get_by_label("Name")).to_have_value("own")
    reach(page, text)
    page.keyboard.press("Control+End")
    page.keyboard.type("  exclude: [{source: turns}] # enough")
    expect(page.locator("#check")).to_contain_text("valid")
    press(page, "Form", key="Shift+Tab")
    expect(page.get_by_text("The form would lose the comments of the text.")).to_be_visible()
    expect(text).to_have_value(f"{expected}  exclude: [{{source: turns}}] # enough")
    reach(page, text)
    page.keyboard.press("Control+End")
    for _ in range(len(" # enough")):
        page.keyboard.press("Backspace")
    press(page, "Form", key="Shift+Tab")
    expect(page.get_by_role("group", name="Action 3").get_by_label("Target")).to_have_value("source:turns")


@pytest.mark.deep
def test_leaving_what_was_filled_in_asks_first(page: Page, server: str, team: Team) -> None:
    sign_in(page, server)
    page.goto(f"{server}/rules/new/")
    page.wait_for_load_state()
    asked: list[str] = []

    def leave(dialog: object) -> None:
        asked.append(dialog.type)  # type: ignore[attr-defined]
        dialog.accept()  # type: ignore[attr-defined]

    page.on("dialog", leave)
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_url(f"{server}/rules/")
    assert asked == []
    page.goto(f"{server}/rules/new/")
    page.wait_for_load_state()
    page.get_by_label("Action", exact=True).select_option("exclude")
    expect(page.get_by_text("Not saved yet.")).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_url(f"{server}/rules/")
    assert asked == ["beforeunload"]


def test_without_javascript(browser: Browser, server: str, team: Team) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/rules/new/")
    page.get_by_label("Target").select_option("path")
    page.get_by_label("Value").fill("KNOWLEDGE")
    page.get_by_role("button", name="Add action").click()
    expect(page.get_by_label("Value").first).to_have_value("KNOWLEDGE")
    line = page.get_by_role("group", name="Action 2")
    line.get_by_label("Action", exact=True).select_option("exclude")
    line.get_by_label("Target").select_option("source:daily_logs")
    page.get_by_role("button", name="Test rule").click()
    expect(page.locator("#tried")).to_contain_text("2 of the last 2 contexts")
    page.get_by_label("Name").fill("own")
    page.get_by_role("button", name="Create rule").click()
    expect(page.locator("[data-message]")).to_contain_text("Rule created and active.")
    page.get_by_role("button", name="Test rule").click()
    expect(page.locator("#tried")).to_contain_text("2 of the last 2 contexts")
    context.close()


@pytest.mark.deep
def test_form_text_and_trial_suit_everybody(page: Page, server: str, team: Team) -> None:
    rule_create(name="quiet", content=FULL, owner=Agent.objects.get(), principal=SYSTEM)
    sign_in(page, server)
    found = []
    for address in ("/rules/quiet/", "/rules/quiet/edit/", "/rules/quiet/edit/?as=text"):
        page.goto(server + address)
        page.wait_for_load_state()
        page.get_by_role("button", name="Test rule").click()
        expect(page.locator("#tried h2")).to_be_focused()
        for width in (1440, 390, 320):
            page.set_viewport_size({"width": width, "height": 900})
            found += violations_in_both_schemes(page) + too_wide(page, width)
    assert found == []


FULL = """\
description: Everything that a form can say.
when:
  task_contains: [stage]
  agent: [luna]
  between: {weekdays: [mon, tue, wed, thu, fri, sat, sun], hours: '00:00-23:59'}
then:
  always_include: [{path: GOALS}, {memory_kind: fact}]
  boost: [{source: team_memories, weight: 2.5}]
  exclude: [{source: daily_logs}]
"""
