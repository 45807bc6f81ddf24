"""Quality on the page of a context, what became of an item, and how feedback moved the numbers of a profile."""

import pytest
from playwright.sync_api import Page, expect

from agents.models import Agent
from assembly.models import Assembly, ProfileTuning, Purpose
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.feedback import FeedbackFacts, feedback_create
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.assembly.feedback.tuning_factories import measured
from tests.browser.conftest import sign_in
from tests.browser.page_checks import too_wide, violations_in_both_schemes

pytestmark = pytest.mark.browser


@pytest.fixture
def record(team: Team) -> Assembly:
    agent = Agent.objects.get(slug="luna")
    asked = AssemblyRequest(topic="the stage", profile="memory", entities=("Stage", "Ann"), purpose=Purpose.AGENT)
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly


@pytest.mark.deep
def test_the_summary_shows_the_measures_and_the_panel_how_far_an_item_got(
    page: Page, server: str, record: Assembly, complaints: list[str]
) -> None:
    sign_in(page, server)
    page.goto(f"{server}/contexts/{record.id}/")
    row = page.locator("#quality").get_by_role("row").filter(has_text="Completeness")
    expect(row.get_by_role("cell").first).to_have_text("0.50")
    assert violations_in_both_schemes(page) == []
    assert too_wide(page, 320, 390, 1440) == []
    page.goto(f"{server}/contexts/{record.id}/items/?item=0")
    states = page.locator(".item-states")
    expect(states.get_by_role("listitem")).to_have_count(4)
    assert violations_in_both_schemes(page) == []
    assert too_wide(page, 320, 390, 1440) == []


def test_feedback_is_given_on_the_summary_and_on_items(
    page: Page, server: str, record: Assembly, complaints: list[str]
) -> None:
    sign_in(page, server)
    page.goto(f"{server}/contexts/{record.id}/")
    feedback = page.locator("#feedback")
    expect(feedback).to_contain_text("Nobody has given feedback")
    feedback.get_by_label("Was this context useful?").select_option("Mostly")
    feedback.get_by_label("Note").fill("It named the right stage.")
    feedback.get_by_role("button", name="Give feedback").click()
    expect(page.locator(".message.success")).to_contain_text("Your feedback is stored")
    expect(page.locator("#feedback")).to_contain_text("It named the right stage.")
    assert violations_in_both_schemes(page) == []
    assert too_wide(page, 320, 390, 1440) == []
    page.get_by_role("link", name="Say which items were useful").click()
    expect(page.get_by_role("button", name="Were used")).to_be_disabled()
    page.locator("input.picker").first.check()
    expect(page.get_by_text("1 selected")).to_be_visible()
    assert violations_in_both_schemes(page) == []
    assert too_wide(page, 320, 390, 1440) == []
    page.get_by_role("button", name="Were used").click()
    expect(page.locator(".message.success")).to_contain_text("Your feedback is stored")
    page.locator("input.picker").first.check()
    page.get_by_role("button", name="Keep as a recall test").click()
    expect(page.locator(".message.success")).to_contain_text("It expects 1 item")


@pytest.mark.deep
def test_an_admin_sees_why_a_profile_was_tuned_and_resets_it(
    page: Page, server: str, record: Assembly, complaints: list[str]
) -> None:
    User.objects.filter(username="olga").update(is_admin=True)
    feedback_create(assembly=record, facts=FeedbackFacts(satisfaction=0.3), principal=SYSTEM)
    measured(contradiction_rate=0.2)
    measured(coherence_score=0.3, completeness=0.5)
    measured(coherence_score=0.6)
    sign_in(page, server)
    page.goto(f"{server}/profiles/memory/")
    tuning = page.locator("#tuning")
    expect(tuning.get_by_role("row").filter(has_text="Weight of coherence")).to_have_count(2)
    assert violations_in_both_schemes(page) == []
    assert too_wide(page, 320, 390, 1440) == []
    tuning.get_by_role("button", name="Reset tuning").click()
    expect(page.locator(".message.success")).to_contain_text("Tuning reset.")
    page.locator("#tuning").get_by_role("button", name="Switch off").click()
    expect(page.locator("#tuning").get_by_role("button", name="Switch on")).to_be_visible()
    assert [one.change for one in ProfileTuning.objects.order_by("-version")[:2]] == ["off", "reset"]
