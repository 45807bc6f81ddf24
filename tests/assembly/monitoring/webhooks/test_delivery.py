"""Sending messages to a real server: signed, again and again until it takes them, and bounded."""

import datetime
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone

from assembly.models import Webhook, WebhookDelivery, WebhookEvent
from assembly.monitoring.webhooks.delivery import (
    DELIVERY,
    RETRY_PAUSES,
    DeliveryNotGivenUp,
    deliveries_of,
    delivery_attempt,
    delivery_resend,
    delivery_run,
    delivery_status,
    event_announce,
    webhook_test,
)
from assembly.monitoring.webhooks.http_post import HIDDEN_FAULT, secret_new
from assembly.monitoring.webhooks.services import secret_of, webhook_secret_change
from config.http.encryption import encrypt
from config.http.errors import Invalid
from config.http.outbound.ssrf import FOR_WEBHOOKS, validate_url
from memories.jobs.services import KINDS, MAX_ATTEMPTS, RetryLater
from memories.models import Job, JobStatus
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.monitoring.webhooks.signature_check import signatures_hold
from tests.http_endpoints import Handler, closed_port, giving, serving

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _this_machine(settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]


@pytest.fixture
def webhook(db: None) -> Webhook:
    return Webhook.objects.create(
        label="Chat", url="http://127.0.0.1:1/", events=["records.damaged"], sealed_secret=encrypt(secret_new())
    )


def announced(webhook: Webhook, url: str) -> tuple[WebhookDelivery, Job]:
    """A message to that address, and the job that is to send it."""
    Webhook.objects.filter(id=webhook.id).update(url=url)
    event_announce(event=WebhookEvent.RECORDS_DAMAGED, data={"records": 1}, team_id=webhook.team_id)
    return WebhookDelivery.objects.latest("created"), Job.objects.latest("created")


def run(job: Job, attempt: int = 1) -> None:
    job.attempts = attempt
    KINDS[DELIVERY](job, lambda _steps: None)


def test_a_message_arrives_as_it_is_signed(webhook: Webhook) -> None:
    with serving(giving({"ok": True}, 202)) as endpoint:
        delivery, job = announced(webhook, endpoint.url)
        run(job)
    (seen,) = endpoint.seen
    assert seen.body == {"type": "records.damaged", "timestamp": seen.body["timestamp"], "data": {"records": 1}}
    assert seen.headers["Content-Type"] == "application/json"
    assert abs(int(seen.headers["webhook-timestamp"]) - time.time()) < 300
    assert signatures_hold(seen, delivery.body, secret_of(webhook)) == [True]
    delivery.refresh_from_db()
    assert (delivery.delivered, delivery.status, delivery.attempts, delivery.fault) == (True, 202, 1, "")
    assert (delivery.answer, seen.headers["webhook-id"]) == ('{"ok": true}', f"msg_{delivery.id.hex}")
    run(job, 2)
    assert len(endpoint.seen) == 1, "what was taken is not sent again"


def test_while_a_secret_is_changed_both_sign(webhook: Webhook) -> None:
    before = secret_of(webhook)
    changed = webhook_secret_change(webhook=webhook, expected_version=1, principal=SYSTEM)
    now = secret_of(changed)
    assert now != before
    with serving(giving({})) as endpoint:
        delivery, job = announced(webhook, endpoint.url)
        run(job)
        assert signatures_hold(endpoint.seen[0], delivery.body, now, before) == [True, True]
        Webhook.objects.update(before_until=timezone.now() - datetime.timedelta(seconds=1))
        delivery, job = announced(webhook, endpoint.url)
        run(job)
        assert signatures_hold(endpoint.seen[1], delivery.body, now) == [True]
    until = changed.before_until
    assert until
    assert abs(until - timezone.now() - datetime.timedelta(hours=24)) < datetime.timedelta(minutes=5)


def test_what_is_not_taken_is_sent_again_after_growing_pauses(webhook: Webhook) -> None:
    with serving(giving({"no": 1}, 500)) as endpoint:
        delivery, job = announced(webhook, endpoint.url)
        pauses = []
        for attempt in range(1, MAX_ATTEMPTS + 1):
            with pytest.raises(RetryLater) as later:
                run(job, attempt)
            pauses.append(later.value.pause)
        ids = {seen.headers["webhook-id"] for seen in endpoint.seen}
    assert pauses == [*RETRY_PAUSES, RETRY_PAUSES[-1]]
    assert all(before < after for before, after in pairwise(RETRY_PAUSES))
    assert len(ids) == 1, "the receiver knows it again"
    delivery.refresh_from_db()
    assert (delivery.delivered, delivery.attempts, delivery.status) == (False, 5, 500)
    assert delivery.fault == "It answered with status 500, which means that it did not take the message."


def _redirecting(handler: Handler) -> None:
    handler.answer(b"", 307, Location="http://127.0.0.1:1/elsewhere")


def _huge(handler: Handler) -> None:
    handler.begin(200)
    for _ in range(100):
        handler.wfile.write(b"\xc3\xa4\x00" * 10_000)


@pytest.mark.parametrize(
    ("behave", "status", "fault"),
    [
        (
            _redirecting,
            307,
            "It answered with status 307. Redirects are not followed: register the address it leads to.",
        ),
        (giving({}, 410), 410, "It answered with status 410, which means that it did not take the message."),
        (_huge, 200, ""),
    ],
)
def test_what_servers_do(behave: Callable[[Handler], None], status: int, fault: str, webhook: Webhook) -> None:
    with serving(behave) as endpoint:
        delivery, _job = announced(webhook, endpoint.url)
        delivery_attempt(delivery)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.fault, len(endpoint.seen)) == (status, fault, 1)
    assert len(delivery.answer) <= 500
    assert "\x00" not in delivery.answer


def test_a_server_that_does_not_answer_is_not_waited_for(webhook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assembly.monitoring.webhooks.http_post.SECONDS", 0.3)
    with serving(lambda handler: handler.wait_until_gone()) as endpoint:
        delivery, _job = announced(webhook, endpoint.url)
        delivery_attempt(delivery)
        assert endpoint.gone.wait(10)
    assert (delivery.status, delivery.fault) == (None, "It did not answer within 0 seconds.")


def test_nobody_there(webhook: Webhook) -> None:
    delivery, _job = announced(webhook, f"http://127.0.0.1:{closed_port()}/")
    delivery_attempt(delivery)
    assert (delivery.status, delivery.fault) == (None, "It could not be reached.")


def test_private_addresses_are_refused_at_every_message(webhook: Webhook, settings: Any) -> None:
    with serving(giving({})) as endpoint:
        delivery, _job = announced(webhook, endpoint.url)
        settings.WEBHOOK_ALLOWED_NETWORKS = []
        delivery_attempt(delivery)
    assert endpoint.seen == []
    assert "private or reserved network" in delivery.fault


def test_a_secret_that_cannot_be_read_is_said(webhook: Webhook) -> None:
    Webhook.objects.update(sealed_secret="gibberish")
    delivery, _job = announced(webhook, "http://127.0.0.1:1/")
    delivery_attempt(delivery)
    assert "SECRET_KEY was changed" in delivery.fault


@pytest.mark.parametrize("gone", ["deleted", "off"])
def test_nothing_is_sent_to_one_that_is_off_or_gone(gone: str, webhook: Webhook) -> None:
    with serving(giving({})) as endpoint:
        _delivery, job = announced(webhook, endpoint.url)
        if gone == "off":
            Webhook.objects.update(active=False)
        else:
            webhook.delete()
        run(job)
    assert endpoint.seen == []
    assert WebhookDelivery.objects.exists() is (gone == "off")


def test_what_was_given_up_arrives_as_the_same_message_once(webhook: Webhook) -> None:
    with serving(giving({}, 500)) as endpoint:
        delivery, job = announced(webhook, endpoint.url)
        with pytest.raises(RetryLater):
            run(job, MAX_ATTEMPTS)
    Job.objects.update(status=JobStatus.PARKED)
    with serving(giving({})) as healed:
        Webhook.objects.update(url=healed.url)
        delivery_resend(delivery=WebhookDelivery.objects.get(), principal=SYSTEM)
        with pytest.raises(DeliveryNotGivenUp):
            delivery_resend(delivery=WebhookDelivery.objects.get(), principal=SYSTEM)
        for _ in range(2):
            run(Job.objects.get())
    assert [seen.headers["webhook-id"] for seen in healed.seen] == [endpoint.seen[0].headers["webhook-id"]]
    told = delivery_status(deliveries_of(webhook).get(id=delivery.id))
    assert (told.delivery.delivered, told.delivery.attempts, told.given_up) == (True, 2, False)
    assert [again.by_name for again in told.sent_again] == ["Dossier"]


def test_a_test_is_sent_at_once_also_while_it_is_off(webhook: Webhook) -> None:
    with serving(giving({})) as endpoint:
        Webhook.objects.update(url=endpoint.url, active=False)
        delivery = webhook_test(webhook=Webhook.objects.get(), principal=SYSTEM)
    assert delivery.delivered
    assert endpoint.seen[0].body["type"] == "webhook.test"
    assert not Job.objects.exists()


def test_the_log_forgets_after_thirty_days(webhook: Webhook) -> None:
    delivery, _job = announced(webhook, "http://127.0.0.1:1/")
    WebhookDelivery.objects.update(created=timezone.now() - datetime.timedelta(days=31))
    announced(webhook, "http://127.0.0.1:1/")
    assert not WebhookDelivery.objects.filter(id=delivery.id).exists()
    assert WebhookDelivery.objects.count() == 1


def test_the_kind_of_job_is_registered() -> None:
    assert KINDS[DELIVERY] is delivery_run


@pytest.mark.finding("6.6")
def test_networks_of_external_sources_are_not_open_to_webhooks(webhook: Webhook, settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS, settings.EXTERNAL_ALLOWED_NETWORKS = [], ["127.0.0.0/8"]
    with serving(giving({})) as endpoint:
        delivery, _job = announced(webhook, endpoint.url)
        delivery_attempt(delivery)
    assert endpoint.seen == []
    assert "WEBHOOK_ALLOWED_NETWORKS" in delivery.fault
    with pytest.raises(Invalid, match="private or reserved network"):
        validate_url(endpoint.url, FOR_WEBHOOKS)


def _nobody(_handler: Handler) -> None:
    raise ConnectionAbortedError


@pytest.mark.finding("6.6")
@pytest.mark.parametrize("behave", [giving({}, 404), giving({"secret": 1}, 500), _nobody, None])
def test_an_admin_of_a_team_learns_nothing_of_a_private_network(
    behave: Callable[[Handler], None] | None, webhook: Webhook, team: Team
) -> None:
    webhook.team = team
    webhook.save()
    if behave:
        with serving(behave) as endpoint:
            delivery, _job = announced(webhook, endpoint.url)
            delivery = webhook_test(webhook=delivery.webhook, principal=SYSTEM)
    else:
        delivery, _job = announced(webhook, f"http://127.0.0.1:{closed_port()}/")
        delivery = webhook_test(webhook=delivery.webhook, principal=SYSTEM)
    told = (delivery.status, delivery.answer, delivery.ms, delivery.delivered, delivery.fault)
    assert told == (None, "", None, False, HIDDEN_FAULT)


@pytest.mark.finding("6.6")
def test_an_admin_of_a_team_learns_that_it_was_taken(webhook: Webhook, team: Team) -> None:
    webhook.team = team
    webhook.save()
    with serving(giving({"secret": 1})) as endpoint:
        delivery, _job = announced(webhook, endpoint.url)
        delivery_attempt(delivery)
    assert (delivery.status, delivery.answer, delivery.ms, delivery.delivered) == (None, "", None, True)


@pytest.mark.finding("6.7")
def test_the_message_that_is_logged_names_a_webhook_by_its_id(webhook: Webhook) -> None:
    Webhook.objects.update(label="<svg onload=alert(1)>")
    _delivery, job = announced(webhook, f"http://127.0.0.1:{closed_port()}/")
    with pytest.raises(RetryLater) as later:
        run(job)
    assert str(later.value) == f"Webhook {webhook.id}: It could not be reached."
