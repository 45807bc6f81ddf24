"""Looking back in the browser: a day is chosen, its context read, its versions followed, and today's laid beside it."""

import datetime
from dataclasses import replace

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from agents.models import Agent
from memories.services import facts_of, memory_update
from teams.models import Team
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.simulation.time_travel.edit_story import Clock, clock_set
from tests.browser.conftest import sign_in

pytestmark = pytest.mark.browser


@pytest.fixture
def then(team: Team, monkeypatch: pytest.MonkeyPatch) -> datetime.datetime:
    """The end of the day on which all began; two days later, the goals and a memory say something else."""
    clock = clock_set(monkeypatch, timezone.now())
    then = clock.goes_on(hours=1)
    _go_on(clock, team)
    return then


def _go_on(clock: Clock, team: Team) -> None:
    clock.goes_on(days=2)
    goals = team.files.get(file_key="GOALS")
    file_save(file=goals, content="Ship it.", expected_version=goals.version, author=SYSTEM.author)
    memory = Agent.objects.get(slug="luna").memories.get()
    facts = replace(facts_of(memory), text="The stage is taken")
    memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)


def _look_back(page: Page, then: datetime.datetime) -> None:
    page.get_by_label("Day").fill(f"{then:%Y-%m-%d}")
    page.get_by_label("Time").fill(f"{then:%H:%M}")
    page.get_by_role("button", name="Show").click()


def test_what_it_knew_on_a_day_is_read_and_followed(
    page: Page, server: str, then: datetime.datetime, complaints: list[str]
) -> None:
    sign_in(page, server, "tim")
    page.goto(f"{server}/agents/luna/as-of/")
    _look_back(page, then)
    expect(page.get_by_role("heading", name="the context of Luna would have used")).to_be_visible()
    expect(page.locator("#exact")).to_contain_text("The stage number 0 is free")
    expect(page.locator("#exact")).not_to_contain_text("Ship it.")
    expect(page.locator("mark.cut")).to_have_text("... [truncated]")
    page.get_by_label("Compare with now").check()
    page.get_by_role("button", name="Show").click()
    changes = page.locator("section", has=page.get_by_role("heading", name="Differences from now"))
    expect(changes).to_contain_text("Version 1 then, version 2 now.")
    expect(page.locator("[data-changes]")).to_contain_text("Ship it.")
    page.locator("section", has_text="Versions used").get_by_role("link", name="Knowledge").click()
    expect(page).to_have_url(f"{server}/agents/luna/files/KNOWLEDGE/history/2/")


@pytest.mark.deep
def test_it_needs_no_script(browser: Browser, server: str, then: datetime.datetime) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    sign_in(page, server, "tim")
    page.goto(f"{server}/agents/luna/as-of/")
    _look_back(page, then + datetime.timedelta(days=30))
    expect(page.get_by_text("This time is in the future. Choose an earlier one.")).to_be_visible()
    expect(page.get_by_label("Day")).to_have_value(f"{then + datetime.timedelta(days=30):%Y-%m-%d}")
    _look_back(page, then)
    expect(page.locator("#exact")).to_contain_text("Rehearsed.")
