"""Memories in a real browser: the story of somebody who tidies up, with and without scripts; days by keyboard."""

import datetime

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from agents.models import Agent
from agents.services import daily_log_append
from assembly.models import Assembly, Purpose
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.models import Memory
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from tests.browser.conftest import sign_in

pytestmark = pytest.mark.browser

TEXTS = (
    "The tour starts at the ferry stage, not at the chapel steps.",
    "Tours start at the ferry stage and not at the chapel steps.",
    "The bells ring at noon.",
)


@pytest.fixture
def luna(team: Team) -> Agent:
    agent, olga = Agent.objects.get(slug="luna"), User.objects.get(username="olga").principal
    memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text=text) for text in TEXTS], principal=olga)
    assemble(
        agent=agent,
        team=team,
        principal=olga,
        asked=AssemblyRequest(topic="Where does the tour start?", purpose=Purpose.AGENT),
    )
    return agent


def tidy_up(page: Page, server: str) -> None:
    """Find a memory, edit it, pin it, merge its twin into it, and retire another with a reason."""
    page.goto(f"{server}/agents/luna/memories/")
    page.get_by_role("searchbox", name="Search").fill("Where do tours begin?")
    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_role("link", name=TEXTS[0]).click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Memory").fill("The tour starts at the ferry stage.")
    page.get_by_label("Change summary").fill("Shorter.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved as version 2.").first).to_be_visible()
    page.get_by_role("button", name="Pin").click()
    expect(page.get_by_text("Memory pinned.").first).to_be_visible()

    page.get_by_role("link", name="Memories").click()
    page.get_by_role("link", name="Merge duplicates").click()
    page.get_by_role("checkbox", name="The tour starts at the ferry stage.").check()
    page.get_by_role("checkbox", name=TEXTS[1]).check()
    page.get_by_role("button", name="Compare selected").click()
    page.get_by_role("radio", name="The tour starts at the ferry stage.").check()
    page.get_by_role("button", name="Merge").click()
    expect(page.get_by_text("this memory supersedes 1 other").first).to_be_visible()

    page.get_by_role("link", name="Memories").click()
    page.get_by_role("link", name=TEXTS[2]).click()
    page.get_by_role("link", name="Archive").click()
    page.get_by_label("Reason").fill("They are being repaired.")
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("Archived: “They are being repaired.”")).to_be_visible()


def look_back(page: Page, server: str) -> None:
    """See the versions of the memory, and a context that used it."""
    kept = Memory.objects.get(pinned=True)
    page.goto(f"{server}/memories/{kept.id}/")
    expect(page.get_by_role("region", name="Versions").get_by_role("listitem")).to_have_count(4)
    page.get_by_role("link", name="Version 2", exact=True).click()
    expect(page.get_by_text(TEXTS[0])).to_be_visible()
    expect(page.get_by_text("Shorter.")).to_be_visible()
    page.get_by_role("link", name="This memory").click()
    page.get_by_role("region", name="Used in contexts").get_by_role("link").first.click()
    expect(page).to_have_url(f"{server}/contexts/{kept_context()}/")
    page.goto(f"{server}/memories/{kept.id}/")
    page.get_by_role("button", name="Restore them").click()
    expect(page.get_by_text("Restored: all").first).to_be_visible()


def kept_context() -> str:
    return str(Assembly.objects.get(topic="Where does the tour start?").id)


def test_somebody_tidies_up(page: Page, server: str, luna: Agent, complaints: list[str]) -> None:
    sign_in(page, server)
    tidy_up(page, server)
    look_back(page, server)


@pytest.mark.deep
def test_the_same_without_scripts_on_a_phone(browser: Browser, server: str, luna: Agent) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 640})
    page = context.new_page()
    sign_in(page, server)
    tidy_up(page, server)
    look_back(page, server)
    context.close()


@pytest.mark.deep
def test_days_are_found_by_keyboard(page: Page, server: str, luna: Agent, complaints: list[str]) -> None:
    olga = User.objects.get(username="olga").principal
    daily_log_append(agent=luna, date=datetime.date(2026, 2, 10), text="The bells were late.", principal=olga)
    sign_in(page, server)
    page.goto(f"{server}/agents/luna/logs/?month=2026-03")
    page.get_by_role("link", name="← February").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="10 February: has a log").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Tuesday, 10 February 2026")
    page.get_by_role("link", name="Daily logs").click()
    page.get_by_role("searchbox").fill("bells")
    page.keyboard.press("Enter")
    expect(page.locator("mark")).to_have_text("bells")


@pytest.mark.finding("E22")
def test_leaving_a_form_asks_before_its_text_is_lost(page: Page, server: str, team: Team) -> None:
    sign_in(page, server)
    page.goto(f"{server}/agents/luna/memories/new/")
    page.get_by_label("Memory", exact=True).fill("Precious")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_timeout(300)
    assert asked == ["beforeunload"]
    expect(page.get_by_label("Memory", exact=True)).to_have_value("Precious")
