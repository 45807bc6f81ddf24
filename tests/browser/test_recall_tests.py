"""A context is kept as a test; a draft that breaks it is seen before publishing, and refused with which and why."""

import pytest
from playwright.sync_api import Browser, Page, expect

from assembly.models import Assembly, RecallTest
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.services import RecallFacts, recall_test_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.drafts import draft_save
from teams.versioned_text.versioned_file import file_save
from tests.browser.conftest import sign_in
from tests.browser.page_checks import too_wide, violations_in_both_schemes

pytestmark = pytest.mark.browser

GOALS = "Ship the demo."
REASON = "It is in the published version of Goals, and not in the draft."


def goals_test(team: Team) -> RecallTest:
    goals = team.files.get(file_key="GOALS")
    file_save(file=goals, content=GOALS, expected_version=goals.version, author=SYSTEM.author)
    facts = RecallFacts(name="Goals are known", topic="goals", expectations=[Expectation("include", text=GOALS)])
    return recall_test_create(agent=None, team=team, facts=facts, principal=SYSTEM)


def broken_draft(team: Team) -> None:
    goals, olga = team.files.get(file_key="GOALS"), User.objects.get(username="olga")
    text = "Rehearse twice."
    draft_save(person_id=olga.id, about=goals.about, content=text, based_on=goals.version, expected_revision=0)


def test_a_context_is_kept_as_a_test_edited_and_run(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    agent = team.agents.get(slug="luna")
    told = assemble(agent=agent, team=team, asked=AssemblyRequest(topic="the stage"), principal=SYSTEM).assembly
    before = Assembly.objects.count()
    sign_in(page, server)
    page.goto(f"{server}/contexts/{told.id}/")
    page.get_by_role("button", name="Keep this as a test").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Edit recall test")
    expect(page.get_by_text("Expected now")).to_be_visible()
    assert violations_in_both_schemes(page) == []
    page.get_by_label("Name").fill("The stage is known")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Run now").click()
    expect(page.locator("[data-message]")).to_contain_text("The recall test passes.")
    assert violations_in_both_schemes(page) + too_wide(page, 320, 1440) == []
    assert Assembly.objects.count() == before


def test_a_draft_that_breaks_a_test_is_seen_and_refused(
    page: Page, server: str, team: Team, complaints: list[str]
) -> None:
    goals_test(team)
    broken_draft(team)
    sign_in(page, server)
    page.goto(f"{server}/teams/demo/files/GOALS/?step=publish")
    panel = page.locator("#recalled")
    expect(panel).to_contain_text("1 of 1 recall test fails.")
    expect(panel).to_contain_text(REASON)
    expect(panel).to_contain_text("It passes without this change.")
    assert violations_in_both_schemes(page) + too_wide(page, 320, 1440) == []
    page.get_by_role("button", name="Refuse publishing if it breaks a test").click()
    expect(page.locator("[data-message]")).to_have_text(
        "This text cannot be published any more if it breaks a recall test."
    )
    page.goto(f"{server}/teams/demo/files/GOALS/?step=publish")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text(f"“Goals are known” for Luna: “{GOALS}”: {REASON}")
    assert team.files.get(file_key="GOALS").content == GOALS
    complaints[:] = [one for one in complaints if "409" not in one]


@pytest.mark.deep
def test_the_same_without_scripts(browser: Browser, server: str, team: Team) -> None:
    goals_test(team)
    broken_draft(team)
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 800})
    page = context.new_page()
    sign_in(page, server)
    page.goto(f"{server}/teams/demo/files/GOALS/?step=publish")
    page.get_by_role("link", name="Run recall tests").click()
    expect(page.locator("#recalled")).to_contain_text(REASON)
    context.close()


@pytest.mark.deep
def test_a_rule_is_tried_in_its_editor(page: Page, server: str, team: Team, complaints: list[str]) -> None:
    goals_test(team)
    sign_in(page, server)
    page.goto(f"{server}/rules/new/?as=text")
    page.get_by_label("Scope").select_option("team:demo")
    page.locator("#text").fill("then: {exclude: [{source: team_files}]}\n")
    page.get_by_role("button", name="Run recall tests").click()
    expect(page.locator("#recalled")).to_contain_text("1 of 1 recall test fails.")
    expect(page.locator("#recalled")).to_contain_text("Excluded by the rule")
    expect(page.locator("#text")).to_have_value("then: {exclude: [{source: team_files}]}\n")
