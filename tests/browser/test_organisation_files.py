"""An organisation admin edits organisation knowledge, sees what two agents would receive, and publishes it."""

import pytest
from playwright.sync_api import Browser, Page, expect

from agents.models import Agent
from agents.services import agent_create
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from tests.browser.conftest import sign_in
from tests.browser.page_checks import violations_in_both_schemes

pytestmark = pytest.mark.browser
TOPIC = "How do we write dates on a poster?"
TEXT = "# Dates\n\nDates on a poster are written as 3 December, without the year.\n\n# Prices\n\nPrices are in euros."
KNOWN = "Dates on a poster are written as 3 December"


@pytest.fixture
def agents(team: Team) -> list[Agent]:
    """Two agents whose profile has a section for organisation knowledge; only one of them works in a team."""
    Agent.objects.filter(slug="luna").update(profile="memory")
    return [Agent.objects.get(slug="luna"), agent_create(slug="otto", name="Otto", profile="memory")]


@pytest.fixture
def admin(team: Team) -> User:
    """Olga, as an admin of the organisation."""
    User.objects.filter(username="olga").update(is_admin=True)
    return User.objects.get(username="olga")


def context_of(agent: Agent) -> str:
    """The next context that the agent requests."""
    return assemble(agent=agent, principal=SYSTEM, asked=AssemblyRequest(topic=TOPIC)).content


def test_an_admin_publishes_what_two_agents_then_know(
    page: Page, server: str, admin: User, agents: list[Agent], complaints: list[str]
) -> None:
    sign_in(page, server)
    page.goto(f"{server}/")
    page.get_by_role("link", name="Organisation", exact=True).click()
    expect(page.get_by_role("heading", name="No organisation knowledge yet")).to_be_visible()
    page.get_by_role("link", name="New file").click()
    page.get_by_label("Title").fill("House style")
    page.get_by_role("button", name="Create file").click()
    page.wait_for_url(f"{server}/organisation/files/house-style/")

    page.get_by_label("Text of House style").fill(TEXT)
    expect(page.locator("#size")).to_contain_text("Contexts include the passages that fit their topic")
    expect(page.locator("#state")).to_contain_text("Draft saved")
    expect(page.locator("#draft-preview .told")).to_be_visible()
    page.locator("#draft-preview").get_by_role("link", name="Show impact").click()
    for agent in agents:
        page.get_by_label("Agent", exact=True).select_option(agent.slug)
        page.get_by_label("Topic").fill(TOPIC)
        page.get_by_role("button", name="Update").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Impact on contexts: {agent.name}")
        expect(page.locator("main")).to_contain_text("Organisation Knowledge")
        expect(page.locator("tr.added").filter(has_text=KNOWN)).to_be_visible()
        assert KNOWN not in context_of(agent)
    page.get_by_label("Agent", exact=True).select_option("*")
    page.get_by_role("button", name="Update").click()
    expect(page.locator("main .items")).to_contain_text("Luna")
    expect(page.locator("main .items")).to_contain_text("Otto")
    assert violations_in_both_schemes(page) == []

    page.get_by_role("link", name="Back to your draft").click()
    page.get_by_role("button", name="Review and publish").click()
    page.get_by_label("Change summary").fill("First")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("main")).to_contain_text("Published version 2.")
    for agent in agents:
        assert KNOWN in context_of(agent)


@pytest.mark.deep
def test_who_may_only_read_sees_the_text(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    organisation_file_create(key="house-style", title="House style", content=TEXT, principal=SYSTEM)
    sign_in(page, server, "tim")
    page.goto(f"{server}/organisation/")
    expect(page.get_by_role("link", name="New file")).to_have_count(0)
    page.get_by_role("link", name="House style").first.click()
    expect(page.locator("main")).to_contain_text(KNOWN)
    expect(page.get_by_role("link", name="Edit")).to_have_count(0)


@pytest.mark.deep
def test_it_can_be_written_without_scripts(browser: Browser, server: str, admin: User, agents: list[Agent]) -> None:
    organisation_file_create(key="house-style", title="House style", content=TEXT, principal=SYSTEM)
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/organisation/files/house-style/")
    page.locator("#text").fill(TEXT.replace("without the year", "with the year"))
    page.get_by_role("button", name="Show impact").click()
    page.get_by_label("Topic").fill(TOPIC)
    page.get_by_role("button", name="Update").click()
    expect(page.locator("main")).to_contain_text("with the year")
    page.get_by_role("button", name="Back to your text").click()
    page.get_by_role("button", name="Review and publish").click()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("main")).to_contain_text("Published version 2.")
    context.close()
