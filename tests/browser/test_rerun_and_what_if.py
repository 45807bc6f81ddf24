"""What would it be told today, and what if? With scripts and without them."""

import pytest
from playwright.sync_api import Browser, Page, expect

from agents.models import Agent
from assembly.models import Assembly, Proposal
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.models import Memory
from memories.services import memory_update
from memories.services.memory import facts_of
from teams.models import Team, User
from teams.versioned_text.versioned_file import file_save
from tests.browser.conftest import sign_in
from tests.browser.page_checks import violations_in_both_schemes

pytestmark = pytest.mark.browser

PLAN = "\n\n".join(["Open the stage in May, and tell everybody about it in good time."] * 12)


@pytest.fixture
def told(team: Team) -> Assembly:
    """A context of before two changes."""
    olga = User.objects.get(username="olga").principal
    luna = Agent.objects.get(slug="luna")
    asked = AssemblyRequest(topic="the stage", max_tokens=3_000)
    assembly = assemble(agent=luna, team=team, principal=olga, asked=asked).assembly
    goals = team.files.get(file_key="GOALS")
    file_save(file=goals, content=PLAN, expected_version=1, author=olga.author, note="the plan for spring")
    memory = Memory.objects.filter(team=team).order_by("id")[2]
    memory_update(
        memory=memory,
        expected_version=1,
        facts=facts_of(memory),
        superseded_by=None,
        retired_because="It was sold.",
        principal=olga,
    )
    return assembly


def test_today_explains_what_changed_since(page: Page, server: str, told: Assembly, complaints: list[str]) -> None:
    sign_in(page, server)
    page.goto(f"{server}/contexts/{told.id}/rerun/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Re-run today: Luna")
    since = page.locator(".since li")
    expect(since.filter(has_text="Goals: version 1 → version 2 by Olga Owner")).to_be_visible()
    expect(since.filter(has_text="This memory was archived by Olga Owner")).to_contain_text("It was sold.")
    page.locator(".text-diff > summary").click()
    expect(page.locator("tr.added").filter(has_text="Open the stage in May").first).to_be_visible()
    assert violations_in_both_schemes(page) == []
    since.first.get_by_role("link").click()
    page.wait_for_url("**/history/compare/?from=1&to=2")


def test_what_if_is_looked_at_and_kept(page: Page, server: str, told: Assembly, complaints: list[str]) -> None:
    sign_in(page, server)
    page.goto(f"{server}/contexts/{told.id}/what-if/")
    page.get_by_label("Budget in tokens").fill("500")
    page.get_by_text("Section limits").click()
    page.get_by_label("Maximum tokens of Team memories").fill("30")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".basis")).to_contain_text("Calculated from the record.")
    expect(page.locator(".told")).to_contain_text(" tokens (")
    expect(page.get_by_label("Budget in tokens")).to_have_value("500")
    assert violations_in_both_schemes(page) == []
    page.get_by_label("Comment").fill("Half of it is enough for a chat")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/proposals/**")
    expect(page.locator(".said")).to_have_text("Half of it is enough for a chat")
    page.get_by_role("button", name="Accept").click()
    expect(page.locator("[data-message]")).to_contain_text("Accepted.")
    assert Proposal.objects.get().status == "accepted"


@pytest.mark.deep
def test_the_same_without_scripts(browser: Browser, server: str, told: Assembly) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/contexts/{told.id}/what-if/")
    page.get_by_label("Topic").fill("the weather")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".basis")).to_contain_text("Read again, as of now.")
    page.get_by_role("link", name="Compare with another").click()
    page.get_by_label("URL or ID of a context").fill(f"{server}/contexts/{told.id}/")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".told")).to_have_text("Both texts are identical.")
    context.close()


WIDTHS = (320, 390, 768, 1024, 1100, 1280, 1366, 1440, 2560)
TABLES_TOO_WIDE = """() => [...document.querySelectorAll('main table')].filter(table => {
    const sheet = table.closest('.table, .sheet').getBoundingClientRect();
    const own = table.getBoundingClientRect();
    return !table.closest('.table') && table.checkVisibility() && own.right > sheet.right + 1;
}).map(table => table.className)"""


@pytest.mark.finding("E3")
def test_tables_stay_within_their_sheets(page: Page, server: str, told: Assembly, complaints: list[str]) -> None:
    sign_in(page, server)
    found = []
    for path in ("", "what-if/?max_tokens=500", "rerun/"):
        page.goto(f"{server}/contexts/{told.id}/{path}")
        if "?" in path:
            page.get_by_label("Budget in tokens").fill("500")
            page.get_by_role("button", name="Run", exact=True).click()
            expect(page.locator(".basis")).to_be_visible()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append(f"{path or 'context'} at {width}: the page is too wide")
            found += [f"{path or 'context'} at {width}: {name}" for name in page.evaluate(TABLES_TOO_WIDE)]
    assert found == [], "\n".join(found)
