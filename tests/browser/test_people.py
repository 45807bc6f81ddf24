"""Accounts in a browser: switching off a team's only admin asks about the team, and a refused sign-in says so."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from teams.models import Team, User
from teams.sign_in.attempts import ACCOUNT_AT_SOURCE, SignInStep
from tests.browser.conftest import PASSWORD, sign_in

pytestmark = pytest.mark.browser


@pytest.mark.finding("6.8c")
def test_the_only_admin_of_a_team_is_switched_off_after_a_question(page: Page, server: str, team: Team) -> None:
    olga = User.objects.get(username="olga")
    User.objects.create_user("ada", PASSWORD, name="Ada Admin", is_admin=True)
    sign_in(page, server, "ada")
    page.goto(f"{server}/people/{olga.id}/")
    page.get_by_label("Active").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Olga Owner is the only admin of these teams: Demo.")
    assert Axe().run(page).response["violations"] == []
    box = page.get_by_role("group", name="Teams without an admin").get_by_label("Demo")
    expect(box).not_to_be_checked()
    box.check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[data-message]")).to_contain_text("Saved.")
    olga.refresh_from_db()
    assert not olga.is_active


@pytest.mark.finding("5.2a")
def test_a_refused_sign_in_is_the_same_page_with_a_sentence(page: Page, server: str, team: Team) -> None:
    statuses = []
    for _ in range(ACCOUNT_AT_SOURCE[SignInStep.PASSWORD].tokens + 1):
        page.goto(f"{server}/accounts/login/")
        page.get_by_label("Username").fill("olga")
        page.get_by_label("Password").fill("wrong")
        with page.expect_response(lambda response: response.request.method == "POST") as answered:
            page.get_by_role("button", name="Sign in").click()
        statuses.append(answered.value.status)
    assert statuses == [200] * (len(statuses) - 1) + [429]
    expect(page.get_by_text("Too many attempts. Wait a few minutes, then try again.")).to_be_visible()
    expect(page.get_by_label("Username")).to_have_value("olga")
