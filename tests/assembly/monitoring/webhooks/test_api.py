"""Webhooks over REST: of a team by its admins, of the organisation by its own; the secret stands nowhere else."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from agents.models import Agent
from assembly.models import Webhook, WebhookDelivery, WebhookEvent
from assembly.monitoring.webhooks.delivery import event_announce
from assembly.monitoring.webhooks.services import secret_of
from memories.jobs.services import MAX_ATTEMPTS
from memories.models import Job, JobStatus
from teams.models import Team, User
from tests.assembly.monitoring.webhooks.signature_check import signatures_hold
from tests.client import Api, errors_of, problem
from tests.http_endpoints import giving, serving
from tests.rights.test_tenancy import WEBHOOKS

pytestmark = pytest.mark.django_db

URL = "https://93.184.216.34/hooks"
BODY = {"team": "care", "label": "Chat", "url": URL, "events": ["alert.opened"]}


@pytest.fixture
def owner_api(owner: User, team: Team, as_person: Callable[[User], Api]) -> Api:
    return as_person(owner)


@pytest.fixture
def webhook(owner_api: Api) -> Webhook:
    """Of the team."""
    return Webhook.objects.get(id=owner_api.post("webhooks", BODY).json()["id"])


SEND = "deliveries/<uuid:delivery>/resend"


def test_every_address_is_tried_here() -> None:
    below = {f"webhooks/<uuid:id_>/{what}" for what in ("secret", "test", "deliveries", SEND)}
    assert {"webhooks", "webhooks/<uuid:id_>", *below} == WEBHOOKS


def test_the_story_of_a_webhook(owner_api: Api) -> None:
    made = owner_api.post("webhooks", BODY)
    one = f"webhooks/{made.json()['id']}"
    assert (made.status_code, made["Location"], made["ETag"]) == (201, f"/api/v1/{one}", '"1"')
    assert made.json().items() >= {**BODY, "active": True, "version": 1, "previous_secret_expires_at": None}.items()
    changed = owner_api.patch(one, {"active": False, "events": ["alert.closed", "alert.opened"]}, if_match='"1"')
    assert (changed.json()["active"], changed.json()["version"]) == (False, 2)
    assert owner_api.patch(one, {"active": False}, if_match='"2"').json()["version"] == 2, "nothing new, no version"
    assert [row["id"] for row in owner_api.get("webhooks").json()["results"]] == [made.json()["id"]]
    assert owner_api.get(one, if_none_match='"2"').status_code == 304
    assert problem(owner_api.patch(one, {"label": "X"})) == (428, "precondition_required")
    assert problem(owner_api.patch(one, {"label": "X"}, if_match='"7"')) == (412, "stale_version")
    assert problem(owner_api.delete(one, if_match='"7"')) == (412, "stale_version")
    assert owner_api.delete(one).status_code == 204
    assert problem(owner_api.get(one)) == (404, "not_found")


def test_a_secret_is_read_and_changed(webhook: Webhook, owner_api: Api) -> None:
    answer = owner_api.get(f"webhooks/{webhook.id}/secret")
    before = answer.json()["secret"]
    assert (before[:6], answer["Cache-Control"]) == ("whsec_", "no-store")
    changed = owner_api.post(f"webhooks/{webhook.id}/secret", idempotency_key="k").json()
    assert (changed["version"], changed["previous_secret_expires_at"] is None) == (2, False)
    owner_api.post(f"webhooks/{webhook.id}/secret", idempotency_key="k")
    now = owner_api.get(f"webhooks/{webhook.id}/secret").json()["secret"]
    assert now != before
    assert Webhook.objects.get().version == 2, "once"
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(t::text, '') FROM (TABLE webhooks) t")
        assert not any(secret[6:] in cursor.fetchone()[0] for secret in (now,))
        cursor.execute("SELECT string_agg(idempotent_requests::text, '') FROM idempotent_requests")
        assert "whsec_" not in cursor.fetchone()[0]
    Webhook.objects.update(sealed_secret="gibberish")
    assert problem(owner_api.get(f"webhooks/{webhook.id}/secret")) == (409, "conflict")


def test_no_other_answer_holds_the_secret(webhook: Webhook, owner_api: Api) -> None:
    one = f"webhooks/{webhook.id}"
    answers = [owner_api.get("webhooks"), owner_api.get(one), owner_api.patch(one, {"label": "X"}, if_match='"1"')]
    answers += [owner_api.get(f"{one}/deliveries"), owner_api.patch(one, {}, if_match='"1"')]
    for answer in answers:
        assert not any(
            word in answer.content.decode() for word in ("whsec_", secret_of(webhook)[6:], webhook.sealed_secret)
        )


def test_a_test_is_sent_and_stands_in_the_log(webhook: Webhook, admin_api: Api, settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    Webhook.objects.update(team=None)
    with serving(giving({"ok": 1})) as endpoint:
        admin_api.patch(f"webhooks/{webhook.id}", {"url": endpoint.url}, if_match='"1"')
        sent = admin_api.post(f"webhooks/{webhook.id}/test").json()
    assert (sent["delivered"], sent["status"], sent["response_body"], sent["event"]) == (
        True,
        200,
        '{"ok": 1}',
        "webhook.test",
    )
    assert signatures_hold(endpoint.seen[0], sent["body"], secret_of(webhook)) == [True]
    assert admin_api.get(f"webhooks/{webhook.id}/deliveries").json() == {"results": [sent], "next": None}


def test_a_message_that_was_given_up_is_sent_again_once(webhook: Webhook, owner_api: Api) -> None:
    event_announce(event=WebhookEvent.ALERT_OPENED, data={}, team_id=webhook.team_id)
    (waits,) = owner_api.get(f"webhooks/{webhook.id}/deliveries").json()["results"]
    assert (waits["abandoned"], waits["resends"]) == (False, [])
    send = f"webhooks/{webhook.id}/deliveries/{waits['id']}/resend"
    assert problem(owner_api.post(send)) == (409, "delivery_not_abandoned")
    Job.objects.update(status=JobStatus.PARKED, attempts=MAX_ATTEMPTS)
    assert owner_api.get(f"webhooks/{webhook.id}/deliveries").json()["results"][0]["abandoned"]
    sent = owner_api.post(send, idempotency_key="k")
    assert (sent.status_code, sent.json()["abandoned"]) == (202, False)
    assert [again["requested_by"]["name"] for again in sent.json()["resends"]] == ["Olga Owner"]
    assert owner_api.post(send, idempotency_key="k").json() == sent.json()
    assert problem(owner_api.post(send)) == (409, "delivery_not_abandoned")
    assert problem(owner_api.post(f"webhooks/{webhook.id}/deliveries/{UUID(int=7)}/resend")) == (404, "not_found")


def test_a_test_is_not_sent_again(webhook: Webhook, owner_api: Api) -> None:
    sent = WebhookDelivery.objects.create(webhook=webhook, event="webhook.test", body="{}", attempts=1)
    send = f"webhooks/{webhook.id}/deliveries/{sent.id}/resend"
    assert problem(owner_api.post(send)) == (409, "delivery_not_abandoned")


ONE = [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("GET", "/secret"), ("POST", "/secret"), ("POST", "/test")]
ONE += [("GET", "/deliveries"), ("POST", f"/deliveries/{UUID(int=7)}/resend")]


def statuses(api: Api, webhook: Webhook) -> set[tuple[int, str]]:
    return {problem(api.send(method, f"webhooks/{webhook.id}{path}", {}, if_match='"1"')) for method, path in ONE}


@pytest.mark.parametrize("who", ["outsider", "other_agent_api"])
def test_strangers_find_nothing(
    who: str, webhook: Webhook, as_person: Callable[[User], Api], request: pytest.FixtureRequest
) -> None:
    asking = request.getfixturevalue(who)
    api = asking if isinstance(asking, Api) else as_person(asking)
    assert statuses(api, webhook) == {(404, "not_found")}
    assert problem(api.post("webhooks", BODY)) == (404, "not_found")
    assert api.get("webhooks").json()["results"] == []


@pytest.mark.parametrize("who", ["teammate", "editor", "agent_api"])
def test_who_sees_the_team_but_does_not_manage_it_is_told_so(
    who: str, webhook: Webhook, agent: Agent, as_person: Callable[[User], Api], request: pytest.FixtureRequest
) -> None:
    asking = request.getfixturevalue(who)
    api = asking if isinstance(asking, Api) else as_person(asking)
    assert statuses(api, webhook) == {(403, "forbidden")}
    assert problem(api.post("webhooks", BODY)) == (403, "forbidden")
    assert api.get("webhooks").json()["results"] == []


def test_those_of_the_organisation_are_for_its_admins(owner_api: Api, admin_api: Api) -> None:
    made = admin_api.post("webhooks", {**BODY, "team": None})
    assert (made.status_code, made.json()["team"]) == (201, None)
    assert statuses(owner_api, Webhook.objects.get()) == {(404, "not_found")}
    assert problem(owner_api.post("webhooks", {**BODY, "team": None})) == (403, "forbidden")
    assert owner_api.get("webhooks").json()["results"] == []


def test_a_key_is_needed(webhook: Webhook, anonymous_api: Api) -> None:
    assert statuses(anonymous_api, webhook) == {(401, "not_authenticated")}
    assert problem(anonymous_api.post("webhooks", BODY)) == (401, "not_authenticated")


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("label", ["", " ", "l" * 81, "a\nb", 5, None, "a\x00b"]),
        ("url", ["", "x", "ftp://e.org", "https://10.0.0.1/", "http://93.184.216.34/", "https://u:p@e.org", 5, None]),
        ("events", [[], ["odd"], "alert.opened", None, [5], [["alert.opened"]], ["alert.opened"] * 11, {"a": 1}]),
        ("active", ["true", 1, None, []]),
    ],
)  # fmt: skip
def test_bad_values_are_named(field: str, values: list[Any], webhook: Webhook, owner_api: Api) -> None:
    for value in values:
        made = owner_api.post("webhooks", {**BODY, field: value})
        changed = owner_api.patch(f"webhooks/{webhook.id}", {field: value}, if_match='"1"')
        for answer in (made, changed):
            assert {name.partition(".")[0] for name in errors_of(answer)} == {field}
    assert Webhook.objects.get().version == 1


def test_there_are_so_many_and_no_more(webhook: Webhook, owner_api: Api) -> None:
    for number in range(19):
        Webhook.objects.create(team=webhook.team, label=f"W{number}", url=URL, events=[], sealed_secret="x")
    assert problem(owner_api.post("webhooks", BODY)) == (409, "conflict")


def test_a_team_that_goes_takes_its_webhooks_along(webhook: Webhook, owner_api: Api, admin_api: Api) -> None:
    WebhookDelivery.objects.create(webhook=webhook, event="alert.opened", body="{}")
    assert admin_api.delete("teams/care").status_code == 204
    assert not Webhook.objects.exists()
    assert not WebhookDelivery.objects.exists()


def test_lists_take_two_queries(
    webhook: Webhook, admin_api: Api, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(5):
        Webhook.objects.create(team=webhook.team, label=f"W{number}", url=URL, events=[], sealed_secret="x")
    admin_api.get("webhooks")
    with django_assert_num_queries(2):  # the key, the rows
        assert len(admin_api.get("webhooks").json()["results"]) == 6
