"""The page of alerts: what waits for whom, and what people do about it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from assembly.models import Alert
from teams.models import Team, User
from tests.assembly.monitoring.alerts.alert_factories import NOON, alert_on
from tests.pages.conftest import SignedIn, text_of

LIST = "/alerts/"


@pytest.fixture
def alert(agent: Agent, team: Team) -> Alert:
    return alert_on(agent, team)


@pytest.fixture
def browser(signed_in: SignedIn, editor: User) -> Client:
    return signed_in(editor)


def test_an_alert_leads_to_where_it_can_be_put_right(browser: Client, alert: Alert) -> None:
    page = text_of(browser.get(LIST))
    for words in (
        "1 alert is open.",
        '<a href="/agents/luna/files/KNOWLEDGE/">Luna: Knowledge truncated</a>',
        "Demo · conversation",
        "Cut to fit: 3 of 9 paragraphs are in whole.",
        f'href="/contexts/{alert.context}/"',
    ):
        assert words in page
    assert "1 open alert" in text_of(browser.get("/"))


@pytest.mark.parametrize(
    ("facts", "link"),
    [
        (
            {"kind": "section_missing", "thing": "identity", "name": "Identity"},
            '<a href="/agents/luna/files/IDENTITY/">Luna: Identity missing</a>',
        ),
        (
            {"kind": "file_left_out", "name": "Goals", "detail": {"why": "x", "file": "goals", "of": "team"}},
            '<a href="/teams/demo/files/GOALS/">Luna: Goals excluded</a>',
        ),
        (
            {"kind": "rule_not_kept", "name": "likes", "detail": {"why": "x", "rule": "likes"}},
            '<a href="/rules/likes/">Luna: rule likes not satisfied</a>',
        ),
        (
            {"kind": "budget_exceeded", "name": "Required sections"},
            '<p class="what">Luna: Required sections exceeds the budget',
        ),
    ],
)
def test_each_kind_has_its_words(facts: dict[str, Any], link: str, browser: Client, agent: Agent, team: Team) -> None:
    alert_on(agent, team, **{"detail": {"why": "x"}, **facts})
    assert link in text_of(browser.get(LIST))


def test_it_is_looked_after_settled_and_taken_up(browser: Client, alert: Alert) -> None:
    assert "acknowledged by Edda" in text_of(browser.post(f"{LIST}{alert.id}/acknowledge/", follow=True))
    page = text_of(browser.post(f"{LIST}{alert.id}/resolve/", follow=True))
    assert "Resolved: Luna: Knowledge truncated." in page
    assert "No alerts" in page
    assert "resolved by Edda" in text_of(browser.get(f"{LIST}?state=settled"))
    assert "open alert" not in text_of(browser.get("/"))
    browser.post(f"{LIST}{alert.id}/reopen/")
    assert Alert.objects.waiting().count() == 1


def test_what_is_so_no_more_waits_for_nobody(browser: Client, alert: Alert) -> None:
    Alert.objects.update(closed=NOON, closed_in=alert.context, times=3)
    assert "Knowledge truncated" not in text_of(browser.get(LIST))
    page = text_of(browser.get(f"{LIST}?state=closed"))
    assert "cleared since" in page
    assert "3 occurrences" in page


ACTIONS = ("acknowledge", "resolve", "reopen")


def test_who_may_only_read_has_no_buttons(alert: Alert, signed_in: SignedIn, teammate: User) -> None:
    reader = signed_in(teammate)
    page = text_of(reader.get(LIST))
    assert "Luna: Knowledge truncated" in page
    assert "/resolve/" not in page
    assert {reader.post(f"{LIST}{alert.id}/{done}/").status_code for done in ACTIONS} == {403}


def test_strangers_find_nothing(alert: Alert, signed_in: SignedIn, outsider: User, client: Client) -> None:
    stranger = signed_in(outsider)
    assert "Knowledge" not in text_of(stranger.get(f"{LIST}?state=all"))
    assert {stranger.post(f"{LIST}{alert.id}/{done}/").status_code for done in ACTIONS} == {404}
    assert {stranger.get(f"{LIST}{alert.id}/{done}/").status_code for done in ACTIONS} == {405}
    assert client.get(LIST).status_code == 302
    assert Alert.objects.get().settled is None


def test_filters_that_name_nothing_say_so(browser: Client, alert: Alert) -> None:
    for query in ("?agent=nobody", "?state=odd", "?team=nobody"):
        answer = browser.get(f"{LIST}{query}")
        assert answer.status_code == 200
        assert "No alerts match" in text_of(answer)
    assert browser.get(f"{LIST}?cursor=odd").status_code == 422


def test_webhooks_are_offered_to_those_who_manage_them(
    alert: Alert, browser: Client, signed_in: SignedIn, owner: User
) -> None:
    assert "/webhooks/" in text_of(signed_in(owner).get(LIST))
    assert "/webhooks/" not in text_of(browser.get(LIST))


def test_many_alerts_take_as_many_queries_as_one(
    browser: Client,
    agent: Agent,
    team: Team,
    django_assert_max_num_queries: Callable[[int], AbstractContextManager[Any]],
) -> None:
    for number in range(20):
        alert_on(agent, team, cause=str(number))
    # Session, person; choices of agents and teams; count, alerts; their agents, teams, what may be edited; webhooks.
    with django_assert_max_num_queries(10):
        browser.get(LIST)


@pytest.mark.finding("E23")
def test_an_acknowledgement_is_undone(browser: Client, alert: Alert) -> None:
    page = text_of(browser.post(f"{LIST}{alert.id}/acknowledge/", follow=True))
    assert "Undo acknowledge" in page
    assert "acknowledged by Edda" not in text_of(browser.post(f"{LIST}{alert.id}/reopen/", follow=True))
    alert.refresh_from_db()
    assert (alert.seen, alert.seen_by) == (None, "")


@pytest.mark.finding("E23")
def test_alerts_of_several_profiles_are_told_apart(browser: Client, agent: Agent, team: Team) -> None:
    for profile in ("conversation", "coding"):
        alert_on(agent, team, profile_name=profile)
    page = text_of(browser.get(LIST))
    assert "Demo · conversation" in page
    assert "Demo · coding" in page
    assert "<h1>Alerts</h1>" in text_of(browser.get(f"{LIST}?state=closed"))
