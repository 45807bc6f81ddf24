"""Trends: what a chart says stands in the table behind it, and each day leads to its contexts."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from assembly.models import Assembly, DayCount
from assembly.monitoring.new_contexts import follow_assemblies
from teams.models import Team
from tests.browser.conftest import sign_in
from tests.browser.page_checks import too_wide, violations_in_both_schemes

pytestmark = pytest.mark.browser


@pytest.fixture
def counted(team: Team) -> list[Assembly]:
    """The contexts of today, counted as a worker does it."""
    contexts = list(Assembly.objects.order_by("id"))
    follow_assemblies(contexts)
    return contexts


def test_the_table_behind_a_chart_says_the_same_and_leads_to_the_contexts(
    page: Page, server: str, counted: list[Assembly], complaints: list[str]
) -> None:
    sign_in(page, server)
    page.goto(f"{server}/trends/?days=7")
    expect(page.locator("svg.chart").first).to_be_visible()
    sheet = page.locator("section.trend").first
    fold = sheet.locator("summary").first
    fold.focus()
    page.keyboard.press("Enter")
    day = f"{timezone.now():%-d %B}"
    row = sheet.get_by_role("row").filter(has_text=day)
    expect(row).to_have_count(1)
    expect(row.get_by_role("cell").first).to_have_text(str(len(counted)))
    assert violations_in_both_schemes(page) == []
    assert too_wide(page, 320, 1280) == []
    row.get_by_role("link").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/contexts/?*")
    expect(page.locator("#found tbody tr")).to_have_count(len(counted))


@pytest.mark.deep
def test_how_far_back_is_chosen_and_kept_in_the_address(
    page: Page, server: str, counted: list[Assembly], complaints: list[str]
) -> None:
    sign_in(page, server)
    page.goto(f"{server}/agents/luna/trends/")
    page.get_by_label("Period").select_option("90 days")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_url("**/trends/?*days=90*")
    expect(page.get_by_label("Period")).to_have_value("90")
    expect(page.get_by_role("heading", level=1)).to_have_text("Trends of Luna")


@pytest.mark.deep
def test_the_values_of_a_day_are_shown_on_hover_and_by_the_keyboard(
    page: Page, server: str, counted: list[Assembly], complaints: list[str]
) -> None:
    for row in DayCount.objects.all():
        row.pk, row.day = None, row.day - timedelta(days=1)
        row.save()
    sign_in(page, server)
    page.goto(f"{server}/trends/?days=7")
    chart = page.locator("svg.chart").first
    value = page.locator("[data-value]").first
    today, yesterday = (chart.locator("a").nth(place) for place in (-1, -2))
    today.hover()
    expect(value).to_contain_text(f"{timezone.now():%-d %B}: Identity and Instructions (L1)")
    page.keyboard.press("Tab")
    for _ in range(60):
        if today.evaluate("bar => bar === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(today).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(yesterday).to_be_focused()
    expect(value).to_have_text(str(yesterday.get_attribute("aria-label")))
    page.keyboard.press("Home")
    expect(chart.locator("a").first).to_be_focused()
    assert violations_in_both_schemes(page) == []
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_url("**/contexts/?*")
    expect(page.locator("#found tbody tr")).to_have_count(len(counted))
