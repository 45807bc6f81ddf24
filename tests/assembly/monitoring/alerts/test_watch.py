"""Alerts: opened once for each change, closed when a later context has it no more, quiet while it comes and goes."""

from typing import Any

import pytest

from agents.models import Agent
from assembly.models import Alert, StoredRule, Webhook, WebhookDelivery, WebhookEvent
from assembly.monitoring.alerts.services import alert_resolve
from assembly.monitoring.new_contexts import follow_assemblies
from memories.models import Job
from teams.models import Team
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.assembly.conftest import write
from tests.assembly.monitoring.trends.count_factories import told

LONG = "\n\n".join(f"Paragraph {number}: " + "story and stage " * 40 for number in range(30))
pytestmark = pytest.mark.django_db


@pytest.fixture
def webhook(db: None) -> Webhook:
    """Which is told of everything."""
    return Webhook.objects.create(
        label="Chat", url="https://93.184.216.34/", events=WebhookEvent.values, sealed_secret="x"
    )


def alerts() -> list[tuple[str, str, bool]]:
    """Kind, name and whether it is open, the oldest first."""
    return [(alert.kind, alert.name, alert.is_open) for alert in Alert.objects.order_by("created", "id")]


def announced() -> list[str]:
    return list(WebhookDelivery.objects.order_by("created", "id").values_list("event", flat=True))


def test_a_file_that_is_cut_is_one_alert_however_often(luna: Agent, demo_team: Team, webhook: Webhook) -> None:
    write(luna, "KNOWLEDGE", LONG)
    contexts = [told(luna, demo_team, topic=f"acts {number}") for number in range(3)]
    for context in contexts:
        follow_assemblies([context])
    alert = Alert.objects.get()
    knowledge = luna.files.get(file_key="KNOWLEDGE")
    assert (alert.kind, alert.name, alert.thing) == ("file_cut", "Knowledge", f"agent_file:{knowledge.id}")
    assert (alert.cause, alert.context, alert.opened, alert.times) == ("3", contexts[0].id, contexts[0].created, 1)
    assert (alert.agent_slug, alert.team_slug, alert.profile_name) == ("luna", "demo", "conversation")
    assert alert.detail["why"].startswith("Truncated:")
    assert announced() == ["alert.opened"]
    assert Job.objects.filter(kind="webhook_delivery").count() == 1


def test_a_later_context_that_has_it_no_more_closes_it(luna: Agent, demo_team: Team, webhook: Webhook) -> None:
    write(luna, "KNOWLEDGE", LONG)
    follow_assemblies([told(luna, demo_team)])
    write(luna, "KNOWLEDGE", "Short.")
    elsewhere, later = told(luna), told(luna, demo_team)
    follow_assemblies([elsewhere])
    assert alerts() == [("file_cut", "Knowledge", True)], "contexts without the team say nothing about those with it"
    follow_assemblies([later])
    alert = Alert.objects.get()
    assert (alert.is_open, alert.closed, alert.closed_in) == (False, later.created, later.id)
    assert announced() == ["alert.opened", "alert.closed"]


def test_another_version_is_another_alert(luna: Agent, demo_team: Team, webhook: Webhook) -> None:
    for text in (LONG, LONG + "\n\nMore."):
        write(luna, "KNOWLEDGE", text)
        follow_assemblies([told(luna, demo_team)])
    assert alerts() == [("file_cut", "Knowledge", False), ("file_cut", "Knowledge", True)]
    assert announced() == ["alert.opened", "alert.opened", "alert.closed"]


def test_what_comes_and_goes_with_the_budgets_of_requests_is_told_of_once(
    luna: Agent, demo_team: Team, webhook: Webhook
) -> None:
    write(luna, "KNOWLEDGE", "Some words of knowledge. " * 20)
    for _ in range(3):
        follow_assemblies([told(luna, demo_team, max_tokens=90), told(luna, demo_team)])
    cut = Alert.objects.get(kind="file_cut")
    assert (cut.times, cut.is_open) == (3, False)
    assert announced().count("alert.opened") == announced().count("alert.closed") == Alert.objects.count()


def test_a_context_made_earlier_changes_nothing(luna: Agent, demo_team: Team) -> None:
    earlier = told(luna, demo_team)
    write(luna, "KNOWLEDGE", LONG)
    follow_assemblies([told(luna, demo_team)])
    follow_assemblies([earlier])
    assert alerts() == [("file_cut", "Knowledge", True)]


def test_opened_and_closed_in_one_batch(luna: Agent, demo_team: Team, webhook: Webhook) -> None:
    write(luna, "KNOWLEDGE", LONG)
    first = told(luna, demo_team)
    write(luna, "KNOWLEDGE", "Short.")
    follow_assemblies([first, told(luna, demo_team)])
    assert alerts() == [("file_cut", "Knowledge", False)]
    assert announced() == ["alert.opened", "alert.closed"]


def test_a_section_that_must_be_there_and_is_empty(luna: Agent, demo_team: Team) -> None:
    write(luna, "IDENTITY", " \n")
    follow_assemblies([told(luna, demo_team), told(luna, demo_team, topic="acts")])
    alert = Alert.objects.get()
    assert (alert.kind, alert.thing, alert.name) == ("section_missing", "identity", "Identity")
    assert alert.detail["why"] == "There is no text in Identity, which must always be there."
    write(luna, "IDENTITY", "You are Luna.")
    follow_assemblies([told(luna, demo_team)])
    assert alerts() == [("section_missing", "Identity", False)]


def test_a_section_that_must_be_there_and_whose_source_failed(luna: Agent, demo_team: Team) -> None:
    write(luna, "IDENTITY", "")
    context = told(luna, demo_team)
    for report in context.sources:
        report["code"] = "SOURCE_TIMEOUT" if report["name"] == "agent_files" else None
    follow_assemblies([context])
    alert = Alert.objects.get(thing="identity")
    assert (alert.cause, alert.detail["why"][:29]) == ("SOURCE_TIMEOUT", "Its source did not answer, so")


def test_more_than_the_budget_and_files_without_room(luna: Agent, demo_team: Team) -> None:
    found = [told(luna, demo_team, max_tokens=budget) for budget in (1, 2)]
    follow_assemblies(found)
    kinds = [(kind, name) for kind, name, _ in alerts()]
    assert ("budget_exceeded", "Required sections") in kinds
    assert ("file_left_out", "Goals") in kinds
    assert ("file_left_out", "Knowledge") in kinds
    assert len(kinds) == len(set(kinds)), "another budget is no other cause"
    follow_assemblies([told(luna, demo_team)])
    assert not Alert.objects.filter(closed=None).exists()


def test_a_rule_that_is_not_kept(luna: Agent, demo_team: Team) -> None:
    content = "then: {always_include: [{memory_kind: preference}]}"
    file_create(file=StoredRule(name="likes", content=content, agent=luna), author=SYSTEM.author)
    follow_assemblies([told(luna, demo_team, max_tokens=15)])
    alert = Alert.objects.get(kind="rule_not_kept")
    assert (alert.thing, alert.cause, alert.name) == ("rule:likes", "1", "likes")
    follow_assemblies([told(luna, demo_team)])
    assert Alert.objects.get(kind="rule_not_kept").closed


def test_what_is_settled_stays_settled_while_nothing_changes(luna: Agent, demo_team: Team) -> None:
    write(luna, "KNOWLEDGE", LONG)
    follow_assemblies([told(luna, demo_team)])
    alert_resolve(alert=Alert.objects.get(), principal=SYSTEM)
    follow_assemblies([told(luna, demo_team, topic="acts")])
    assert not Alert.objects.waiting().exists()
    write(luna, "KNOWLEDGE", LONG + "\n\nMore.")
    follow_assemblies([told(luna, demo_team)])
    assert Alert.objects.waiting().count() == 1


def test_the_message_says_what_it_is_about_and_nothing_that_was_told(
    luna: Agent, demo_team: Team, webhook: Webhook
) -> None:
    write(luna, "KNOWLEDGE", LONG)
    context = told(luna, demo_team)
    follow_assemblies([context])
    body = WebhookDelivery.objects.get().body
    assert '"type":"alert.opened"' in body
    for words in ('"agent":"luna"', '"team":"demo"', '"kind":"file_cut"', '"name":"Knowledge"', str(context.id)):
        assert words in body
    assert "story and stage" not in body


@pytest.mark.parametrize(
    ("facts", "told_of_it"),
    [
        ({}, True),
        ({"active": False}, False),
        ({"events": ["alert.closed"]}, False),
        ({"team": "other"}, False),
        ({"team": "demo"}, True),
    ],
)
def test_webhooks_are_told_what_they_want_to_know(
    facts: dict[str, Any], told_of_it: bool, luna: Agent, demo_team: Team, webhook: Webhook
) -> None:
    other = Team.objects.create(slug="other", name="Other")
    if "team" in facts:
        facts = {"team": {"demo": demo_team, "other": other}[facts["team"]]}
    Webhook.objects.update(**facts)
    write(luna, "KNOWLEDGE", LONG)
    follow_assemblies([told(luna, demo_team)])
    assert WebhookDelivery.objects.exists() is told_of_it
