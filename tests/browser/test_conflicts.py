"""Two texts contradict each other: no context carries both silently, a person decides, and undoes it."""

import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from agents.models import Agent
from assembly.conflicts.find import noted_conflicts_find
from assembly.conflicts.language_model import model_in_use
from assembly.models import Purpose
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import Team
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, conflict_between, remember, run_jobs
from tests.assembly.conflicts.language_model.onnx_models import BEEF, VEGAN, write_model
from tests.browser.conftest import sign_in
from tests.browser.page_checks import narrow_or_wide, violations_in_both_schemes

pytestmark = pytest.mark.browser
MARK = "(disputed: another text has another time)"
TOPIC = "When does the support line open?"


def included(team: Team) -> str:
    """The text of a new context of the agent."""
    agent = Agent.objects.get(slug="luna")
    asked = AssemblyRequest(topic=TOPIC, profile="memory", now=timezone.now(), purpose=Purpose.AGENT)
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).content


def is_disputed(context: str) -> bool:
    """Whether the context has one of both texts, with its mark."""
    return MARK in context and (EIGHTY in context) != (NINETY in context)


def open_conflict(page: Page, server: str) -> None:
    """From the start page to the conflict of both texts."""
    page.goto(server)
    page.get_by_role("link", name="to decide").click()
    photograph(page, "found")
    line = page.locator(".conflicts > li").filter(has_text=EIGHTY)
    line.get_by_role("link", name="Two texts name different times").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Two texts name different times")


def side(page: Page, text: str) -> Any:
    """The side of the page with this text."""
    return page.locator("section.text-side").filter(has_text=text)


def photograph(page: Page, name: str) -> None:
    """Take pictures, if SHOTS names a folder."""
    if folder := os.environ.get("SHOTS"):
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True)
        page.set_viewport_size({"width": 1280, "height": 720})


def test_two_memories_contradict_each_other(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    agent = Agent.objects.get(slug="luna")
    remember(agent, EIGHTY)
    remember(agent, NINETY)
    noted_conflicts_find()
    run_jobs()
    assert is_disputed(before := included(team))
    sign_in(page, server)
    open_conflict(page, server)
    expect(page.get_by_text(TOPIC)).to_be_visible()
    photograph(page, "open")
    assert violations_in_both_schemes(page) == []
    assert narrow_or_wide(page) == []
    page.get_by_label("Reason").fill("The new hours began in May.")
    side(page, EIGHTY).get_by_role("button", name="This one holds").click()
    expect(page.locator("[data-message]")).to_contain_text("Decided.")
    expect(page.get_by_text("Decided by Olga Owner").first).to_contain_text("The new hours began in May.")
    photograph(page, "decided")
    assert violations_in_both_schemes(page) == []
    decided = included(team)
    assert EIGHTY in decided
    assert NINETY not in decided
    assert f"{MARK}\n{EIGHTY}" not in decided
    page.get_by_role("button", name="Undo decision").click()
    expect(page.locator("[data-message]")).to_contain_text("The conflict is open again")
    assert included(team) == before
    side(page, NINETY).get_by_role("button", name="This one holds").click()
    expect(page.locator("[data-message]")).to_contain_text("Decided.")
    assert NINETY in (decided := included(team))
    assert EIGHTY not in decided


@pytest.mark.deep
def test_a_memory_is_edited_so_that_both_agree(page: Page, server: str, team: Team) -> None:
    agent = Agent.objects.get(slug="luna")
    remember(agent, EIGHTY)
    remember(agent, NINETY)
    noted_conflicts_find()
    run_jobs()
    sign_in(page, server)
    open_conflict(page, server)
    first = side(page, EIGHTY)
    first.get_by_text("Edit", exact=False).first.click()
    first.get_by_label("New text").fill("The support line opens at 7 in the morning.")
    photograph(page, "edit")
    first.get_by_role("button", name="Save this text").click()
    expect(page.locator(".fault")).to_contain_text("The texts still contradict each other.")
    expect(first.get_by_label("New text")).to_have_value("The support line opens at 7 in the morning.")
    photograph(page, "edit-refused")
    assert violations_in_both_schemes(page) == []
    assert narrow_or_wide(page) == []
    first.get_by_label("New text").fill(NINETY)
    page.get_by_label("Reason").fill("The new hours began in May.")
    first.get_by_role("button", name="Save this text").click()
    expect(page.locator("[data-message]")).to_contain_text("Decided.")
    expect(page.get_by_text("One of the texts was edited to agree with the other one.")).to_be_visible()
    photograph(page, "edited")
    assert EIGHTY not in included(team)
    page.get_by_role("button", name="Undo decision").click()
    expect(page.locator("[data-message]")).to_contain_text("The conflict is open again")
    assert is_disputed(included(team))


@pytest.mark.deep
def test_a_person_sees_that_an_edited_text_still_contradicts_the_other_one(
    page: Page, server: str, team: Team, tmp_path: Path, settings: Any
) -> None:
    model_in_use._model_of.cache_clear()
    settings.CONFLICT_MODEL_FOLDER = write_model(tmp_path / "tiny-nli")
    agent, no_beef = Agent.objects.get(slug="luna"), "The school canteen never cooks beef stew."
    conflict = conflict_between(remember(agent, BEEF), remember(agent, no_beef), kind="negation", cue="“never” in one")
    sign_in(page, server)
    page.goto(f"{server}/conflicts/{conflict.id}/")
    denying = side(page, no_beef)
    denying.get_by_text("Edit", exact=False).first.click()
    denying.get_by_label("New text").fill(VEGAN)
    denying.get_by_role("button", name="Save this text").click()
    expect(page.get_by_text("The edited text is being compared more closely")).to_be_visible()
    photograph(page, "edit-pending")
    run_jobs()
    page.reload()
    expect(page.get_by_text("The edited text still contradicts the other one")).to_be_visible()
    photograph(page, "edit-contradicts")
    assert violations_in_both_schemes(page) == []
    assert narrow_or_wide(page) == []
    page.get_by_role("link", name="Decide on the edited text").click()
    expect(side(page, VEGAN).get_by_role("button", name="This one holds")).to_be_visible()
    settings.CONFLICT_MODEL_FOLDER = None
    call_command("find_conflicts", verbosity=0)
    run_jobs()
    page.reload()
    expect(page.get_by_text("Detection no longer finds it")).to_be_visible()
    photograph(page, "not-found")
    assert violations_in_both_schemes(page) == []
    assert narrow_or_wide(page) == []
    page.goto(f"{server}/conflicts/?status=gone")
    expect(page.locator(".conflicts").get_by_text("not found again")).to_be_visible()
    photograph(page, "not-found-list")


@pytest.mark.deep
def test_a_file_contradicts_a_memory(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    remember(Agent.objects.get(slug="luna"), EIGHTY)
    file = team.files.get(file_key="CONTEXT")
    file_save(file=file, content=f"# Hours\n\n{NINETY}", expected_version=file.version, author=SYSTEM.author)
    noted_conflicts_find()
    run_jobs()
    assert is_disputed(before := included(team))
    sign_in(page, server)
    page.goto(f"{server}/teams/demo/files/CONTEXT/")
    expect(page.get_by_text("This text is disputed: another one contradicts it.")).to_be_visible()
    photograph(page, "editor")
    page.get_by_role("link", name="Compare both").click()
    expect(side(page, NINETY)).to_contain_text("Background of Demo")
    photograph(page, "file")
    side(page, EIGHTY).get_by_role("button", name="This one holds").click()
    expect(page.locator("[data-message]")).to_contain_text("Decided.")
    decided = included(team)
    assert EIGHTY in decided
    assert NINETY not in decided
    page.get_by_role("button", name="Undo decision").click()
    expect(page.locator("[data-message]")).to_contain_text("The conflict is open again")
    assert included(team) == before
    side(page, NINETY).get_by_role("link", name="Edit").click()
    page.get_by_label("Text of Background").wait_for()
    page.get_by_role("link", name="Compare both").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Two texts name different times")


@pytest.mark.deep
def test_many_are_decided_at_once_without_scripts(browser: Browser, server: str, team: Team) -> None:
    agent = Agent.objects.get(slug="luna")
    for room in ("hall", "shop", "café"):
        conflict_between(
            remember(agent, f"The {room} closes at 8 in the evening."), remember(team, f"The {room} closes at 9.")
        )
    page = browser.new_context(java_script_enabled=False).new_page()
    sign_in(page, server)
    page.goto(f"{server}/conflicts/")
    expect(page.get_by_role("link", name="Conflicts 3").first).to_be_visible()
    photograph(page, "list")
    for box in page.locator(".picker").all():
        box.check()
    page.get_by_role("button", name="The newer holds").click()
    expect(page.locator("[data-message]")).to_have_text("Decided that the newer text holds: 3.")
    expect(page.get_by_role("heading", name="Nothing to decide")).to_be_visible()
    photograph(page, "undo")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-message]")).to_have_text("Undone: 3.")
    expect(page.locator(".picker")).to_have_count(3)
    page.context.close()
