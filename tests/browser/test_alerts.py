"""Alerts and webhooks: a file is cut, somebody looks after it, and a webhook that is made on its page is told of it."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from assembly.models import Assembly, Webhook, WebhookDelivery
from assembly.monitoring.new_contexts import follow_assemblies
from memories.jobs.services import MAX_ATTEMPTS
from memories.models import Job, JobStatus
from teams.models import Team
from tests.browser.conftest import sign_in
from tests.browser.page_checks import too_wide, violations_in_both_schemes
from tests.http_endpoints import Endpoint, giving, serving

pytestmark = pytest.mark.browser


@pytest.fixture
def receiver(settings: Any) -> Iterator[Endpoint]:
    """A server of somebody else's, on this machine."""
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    with serving(giving({"ok": True})) as endpoint:
        yield endpoint


def registered(page: Page, server: str, url: str) -> None:
    """Olga makes a webhook for her team, by the keyboard."""
    page.goto(f"{server}/webhooks/")
    page.get_by_role("link", name="Add webhook").click()
    page.get_by_label("Label").fill("Chat")
    page.get_by_label("URL").fill(url)
    page.get_by_label("URL").press("Enter")
    expect(page.locator("[data-message]")).to_contain_text("Give this secret to the receiver")


def test_an_alert_is_told_to_a_webhook_and_looked_after(
    page: Page, server: str, team: Team, receiver: Endpoint, complaints: list[str]
) -> None:
    sign_in(page, server)
    registered(page, server, receiver.url)
    follow_assemblies([Assembly.objects.get(topic="the stage")])
    page.goto(f"{server}/alerts/")
    line = page.locator(".items > li").filter(has_text="Truncated")
    expect(line).to_contain_text("Knowledge")
    assert violations_in_both_schemes(page) == []
    assert too_wide(page, 320, 1280) == []
    line.get_by_role("button", name="Acknowledge").press("Enter")
    expect(page.locator(".items > li").filter(has_text="acknowledged by Olga Owner")).to_have_count(1)
    page.locator(".items > li").filter(has_text="acknowledged by Olga Owner").get_by_role(
        "link", name="View context"
    ).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Luna · ")
    page.goto(f"{server}/webhooks/{Webhook.objects.get().id}/")
    expect(page.get_by_text("alert.opened").nth(1)).to_be_visible()
    page.get_by_role("button", name="Send test").press("Enter")
    expect(page.locator("[data-message]")).to_contain_text("The test message was delivered.")
    assert [seen.body["type"] for seen in receiver.seen] == ["webhook.test"]


@pytest.mark.deep
def test_what_was_given_up_is_sent_again_from_the_page(
    page: Page, server: str, team: Team, receiver: Endpoint, complaints: list[str]
) -> None:
    sign_in(page, server)
    registered(page, server, receiver.url)
    follow_assemblies(list(Assembly.objects.order_by("id")))
    WebhookDelivery.objects.update(attempts=MAX_ATTEMPTS, status=500, fault="It answered with status 500.")
    Job.objects.update(status=JobStatus.PARKED)
    page.goto(f"{server}/webhooks/{Webhook.objects.get().id}/")
    again = page.get_by_role("button", name="Resend")
    many = again.count()
    assert many
    assert violations_in_both_schemes(page) == []
    assert too_wide(page, 320, 1280) == []
    again.first.press("Enter")
    expect(page.locator("[data-message]")).to_contain_text("It will be sent again until it is delivered.")
    expect(page.get_by_text("Resent by Olga Owner,")).to_be_visible()
    expect(page.get_by_role("button", name="Resend")).to_have_count(many - 1)
