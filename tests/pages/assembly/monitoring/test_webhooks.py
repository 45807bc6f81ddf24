"""The pages of webhooks: registered, tried, changed and deleted by admins of their team."""

from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from assembly.models import Webhook, WebhookDelivery, WebhookEvent
from assembly.monitoring.webhooks.delivery import event_announce
from assembly.monitoring.webhooks.services import WebhookFacts, secret_of, webhook_create
from memories.jobs.services import MAX_ATTEMPTS
from memories.models import Job, JobStatus
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.http_endpoints import giving, serving
from tests.pages.conftest import SignedIn, text_of

URL = "https://93.184.216.34/hooks"
LIST, NEW = "/webhooks/", "/webhooks/new/"
FORM = {"label": "Chat", "team": "demo", "url": URL, "events": ["alert.opened"]}


@pytest.fixture
def webhook(team: Team) -> Webhook:
    return webhook_create(facts=WebhookFacts("Chat", URL, ("alert.opened",)), team="demo", principal=SYSTEM)


@pytest.fixture
def browser(signed_in: SignedIn, owner: User, team: Team) -> Client:
    """Of an admin of the team."""
    return signed_in(owner)


def pages_of(webhook: Webhook) -> tuple[list[str], list[str]]:
    """The addresses that show a page, and those that take what a form sends."""
    one = f"{LIST}{webhook.id}/"
    return [one, f"{one}edit/", f"{one}secret/"], [
        f"{one}{do}/" for do in ("secret/change", "test", "switch", "delete", f"messages/{webhook.id}/resend")
    ]


def test_one_is_registered_changed_switched_and_deleted(browser: Client) -> None:
    answer = browser.post(NEW, FORM, follow=True)
    webhook = Webhook.objects.get()
    one = f"{LIST}{webhook.id}/"
    assert answer.redirect_chain == [(f"{one}secret/", 302)]
    assert secret_of(webhook) in text_of(answer)
    changed = {**FORM, "label": "Pager", "version": 1, "events": ["alert.opened", "alert.closed"]}
    assert "Pager" in text_of(browser.post(f"{one}edit/", changed, follow=True))
    assert "Webhook disabled." in text_of(browser.post(f"{one}switch/", {"version": 2}, follow=True))
    assert browser.post(f"{one}switch/", {"version": 2, "on": "on"}).status_code == 412
    assert "Webhook enabled." in text_of(browser.post(f"{one}switch/", {"version": 3, "on": "on"}, follow=True))
    assert browser.post(f"{one}switch/", {"version": "odd"}).status_code == 412
    row = Webhook.objects.get()
    assert (row.label, row.events, row.editor_name) == ("Pager", ["alert.closed", "alert.opened"], "Olga Owner")
    assert "deleted." in text_of(browser.post(f"{one}delete/", follow=True))
    assert not Webhook.objects.exists()


def test_the_secret_is_on_its_page_alone(browser: Client, webhook: Webhook) -> None:
    one = f"{LIST}{webhook.id}/"
    secret = secret_of(webhook)
    for address in (LIST, one, f"{one}edit/"):
        assert secret not in text_of(browser.get(address))
    answer = browser.get(f"{one}secret/")
    assert secret in text_of(answer)
    assert "no-store" in answer["Cache-Control"]


def test_a_new_secret_counts_beside_the_old_one_for_a_day(browser: Client, webhook: Webhook) -> None:
    before = secret_of(webhook)
    page = text_of(browser.post(f"{LIST}{webhook.id}/secret/change/", {"version": 1}, follow=True))
    assert "It was changed recently. The previous one is valid until" in page
    assert before not in page
    assert secret_of(Webhook.objects.get()) in page
    assert browser.post(f"{LIST}{webhook.id}/secret/change/", {"version": 1}).status_code == 412


def test_a_secret_that_is_lost_is_said(browser: Client, webhook: Webhook) -> None:
    Webhook.objects.update(sealed_secret="gibberish")
    assert "SECRET_KEY was changed" in text_of(browser.get(f"{LIST}{webhook.id}/secret/"))


def test_a_test_says_what_came_of_it(
    browser: Client, signed_in: SignedIn, admin: User, webhook: Webhook, settings: Any
) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    address = f"{LIST}{webhook.id}/test/"
    with serving(giving(b"<script>alert(1)</script>")) as endpoint:
        Webhook.objects.update(url=endpoint.url)
        assert "The test message was delivered." in text_of(browser.post(address, follow=True)), (
            "a team's, in a private network"
        )
        Webhook.objects.update(team=None)
        browser = signed_in(admin)
        page = text_of(browser.post(address, follow=True))
    assert "The test message was delivered in" in page
    assert escape("<script>alert(1)</script>") in page
    with serving(giving({}, 404)) as endpoint:
        Webhook.objects.update(url=endpoint.url)
        page = text_of(browser.post(address, follow=True))
    assert "The test message was not delivered. It answered with status 404" in page
    assert [row.event for row in WebhookDelivery.objects.all()] == ["webhook.test"] * 3


@pytest.fixture
def given_up(webhook: Webhook) -> WebhookDelivery:
    """A message that nobody took."""
    event_announce(event=WebhookEvent.ALERT_OPENED, data={"name": "Knowledge"}, team_id=webhook.team_id)
    refused = {"attempts": MAX_ATTEMPTS, "status": 500, "fault": "It answered with status 500."}
    WebhookDelivery.objects.update(**refused)
    Job.objects.update(status=JobStatus.PARKED)
    return WebhookDelivery.objects.get()


def test_what_was_given_up_is_sent_again(browser: Client, webhook: Webhook, given_up: WebhookDelivery) -> None:
    one = f"{LIST}{webhook.id}/"
    assert "abandoned" in text_of(browser.get(one))
    address = f"{one}messages/{given_up.id}/resend/"
    assert address in text_of(browser.get(one))
    page = text_of(browser.post(address, follow=True))
    assert "It will be sent again until it is delivered." in page
    assert "Resent by Olga Owner" in page
    assert "5 attempts" in page, "the history stays"
    assert address not in page
    assert "It is delivered or being delivered already." in text_of(browser.post(address, follow=True))
    assert list(Job.objects.values_list("status", "attempts")) == [("queued", 0)]


def test_nothing_is_sent_again_while_it_is_off(browser: Client, webhook: Webhook, given_up: WebhookDelivery) -> None:
    Webhook.objects.update(active=False)
    assert "To resend it, enable the webhook first." in text_of(browser.get(f"{LIST}{webhook.id}/"))
    assert browser.post(f"{LIST}{webhook.id}/messages/{given_up.id}/resend/").status_code == 409
    assert Job.objects.get().status == JobStatus.PARKED


def test_the_log_is_read_in_as_many_queries_however_long(
    browser: Client, webhook: Webhook, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        event_announce(event=WebhookEvent.ALERT_OPENED, data={}, team_id=webhook.team_id)
    browser.get(f"{LIST}{webhook.id}/")
    with django_assert_max_num_queries(10):
        assert text_of(browser.get(f"{LIST}{webhook.id}/")).count("A worker will send it soon.") == 12


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"label": " "}, "This field is required."),
        ({"url": "https://10.0.0.1/"}, "private or reserved network"),
        ({"url": "nonsense"}, "Write the URL like"),
        ({"events": []}, "This field is required."),
        ({"events": ["odd"]}, "Select a valid choice."),
        ({"team": "nobody"}, "Select a valid choice."),
        ({"team": ""}, "This field is required."),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_lost(changes: dict[str, Any], words: str, browser: Client) -> None:
    answer = browser.post(NEW, {**FORM, **changes})
    assert answer.status_code == 422
    assert words in text_of(answer)
    assert "Chat" in text_of(answer) or "label" in changes
    assert not Webhook.objects.exists()


def test_two_who_change_it_at_once_both_know(browser: Client, webhook: Webhook) -> None:
    edit = f"{LIST}{webhook.id}/edit/"
    browser.post(edit, {**FORM, "version": 1, "label": "Theirs"})
    answer = browser.post(edit, {**FORM, "version": 1, "label": "Mine", "events": ["alert.closed", "alert.opened"]})
    page = text_of(answer)
    assert (
        answer.status_code,
        "Someone changed it meanwhile. Review the current values, then save again to replace them." in page,
    ) == (422, True)
    assert 'value="Mine"' in page
    assert 'name="version" value="2"' in page
    assert page.count("checked") == 2


def test_admins_of_the_organisation_register_for_all(signed_in: SignedIn, admin: User, team: Team) -> None:
    signed_in(admin).post(NEW, {**FORM, "team": ""})
    assert Webhook.objects.get().team is None


@pytest.mark.parametrize(("who", "expected"), [("teammate", 403), ("editor", 403), ("outsider", 404)])
def test_others_neither_see_nor_change_it(
    who: str, expected: int, webhook: Webhook, signed_in: SignedIn, request: pytest.FixtureRequest
) -> None:
    other = signed_in(request.getfixturevalue(who))
    shown, sent = pages_of(webhook)
    assert {other.get(address).status_code for address in shown} == {expected}
    assert {other.post(address, {"version": 1}).status_code for address in sent} == {expected}
    assert {other.get(LIST).status_code, other.get(NEW).status_code, other.post(NEW, FORM).status_code} == {403}
    assert Webhook.objects.get().version == 1


def test_one_of_the_organisation_is_not_there_for_admins_of_teams(browser: Client, webhook: Webhook) -> None:
    Webhook.objects.update(team=None)
    assert browser.get(f"{LIST}{webhook.id}/").status_code == 404
    assert "No webhooks" in text_of(browser.get(LIST))


def test_who_is_not_signed_in_is_sent_to_sign_in(client: Client, webhook: Webhook) -> None:
    for address in (LIST, NEW, *pages_of(webhook)[0]):
        assert client.get(address).status_code == 302


@pytest.mark.finding("E8")
def test_deleting_asks_first(browser: Client, webhook: Webhook) -> None:
    assert f'href="/webhooks/{webhook.id}/delete/"' in text_of(browser.get(f"/webhooks/{webhook.id}/"))
    assert "Its secret and its deliveries are deleted." in text_of(browser.get(f"/webhooks/{webhook.id}/delete/"))
    assert Webhook.objects.exists()
