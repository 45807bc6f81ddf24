"""After a change of the embedder, all recall tests are run; a failed one opens an alert, which a later pass closes."""

from functools import partial
from typing import Any

import pytest

from agents.models import Agent, AgentFile, AgentTeam
from agents.services import agent_create
from assembly.models import (
    Alert,
    Assembly,
    Notification,
    RecallResult,
    RecallTest,
    RecallTrigger,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
)
from assembly.monitoring.new_contexts import follow_assemblies
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.services import profile_create, profile_delete
from assembly.profiles.shipped import SHIPPED
from assembly.recall_tests import embedder_change
from assembly.recall_tests.embedder_change import RUN_RECALL_TESTS, recall_tests_run
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.run import RecallRun, RunOutcome, run_test
from assembly.recall_tests.services import (
    RecallFacts,
    recall_test_archive,
    recall_test_create,
    recall_test_delete,
    recall_test_run,
)
from memories.embeddings.reembedding import embedder_switched
from memories.models import EmbeddingSpace, Job
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity, reading_as
from teams.versioned_text.versioned_file import file_save
from tests.assembly.recall_tests.conftest import RULE_TEXT
from tests.client import Api

pytestmark = pytest.mark.django_db


def run_for(model: str) -> None:
    embedder_switched.send(sender=EmbeddingSpace, model=model)
    recall_tests_run(Job.objects.filter(kind=RUN_RECALL_TESTS).latest("created"), lambda _steps: None)


def save(knowledge: AgentFile, content: str) -> None:
    knowledge.refresh_from_db()
    file_save(file=knowledge, content=content, expected_version=knowledge.version, author=SYSTEM.author)


def test_a_failed_test_opens_an_alert_and_a_pass_closes_it(
    refund_test: RecallTest, knowledge: AgentFile, editor: User, admin_api: Api
) -> None:
    save(knowledge, "Ask the finance team.")
    run_for("wordllama:128")
    alert = Alert.objects.get()
    assert (alert.kind, alert.thing, alert.cause) == (
        "recall_test_failed", f"recall_test:{refund_test.id}", "wordllama:128",
    )  # fmt: skip
    assert (alert.name, alert.agent_slug, alert.team_slug, alert.context) == ("Refunds", "ada", "care", None)
    assert alert.detail["why"] == "No candidate has this text."
    assert Notification.objects.filter(user=editor, alert=alert).exists()
    assert admin_api.get(f"alerts/{alert.id}").json()["assembly_id"] is None
    run_for("wordllama:128")
    assert Alert.objects.count() == 1
    save(knowledge, RULE_TEXT)
    run_for("wordllama:64")
    alert.refresh_from_db()
    assert alert.closed
    save(knowledge, "")
    run_for("wordllama:128")
    alert.refresh_from_db()
    assert alert.is_open
    assert alert.times == 2


def test_a_job_that_runs_twice_stores_each_result_once(refund_test: RecallTest) -> None:
    run_for("wordllama:128")
    job = Job.objects.get(kind=RUN_RECALL_TESTS)
    recall_tests_run(job, lambda _steps: None)
    assert [result.trigger for result in RecallResult.objects.all()] == [RecallTrigger.EMBEDDER]


def test_without_tests_there_is_no_job(agent: Agent) -> None:
    embedder_switched.send(sender=EmbeddingSpace, model="wordllama:128")
    assert not Job.objects.filter(kind=RUN_RECALL_TESTS).exists()


def test_later_contexts_do_not_close_the_alert(
    refund_test: RecallTest, knowledge: AgentFile, agent: Agent, team: Team
) -> None:
    save(knowledge, "Ask the finance team.")
    run_for("wordllama:128")
    told = assemble(agent=agent, team=team, asked=AssemblyRequest(), principal=SYSTEM).assembly
    follow_assemblies([Assembly.objects.get(id=told.id)])
    assert Alert.objects.get(kind="recall_test_failed").closed is None


@pytest.fixture
def alert(refund_test: RecallTest, knowledge: AgentFile) -> Alert:
    """An open alert about the test."""
    Webhook.objects.create(label="Chat", url="https://93.184.216.34/", events=WebhookEvent.values, sealed_secret="x")
    save(knowledge, "Ask the finance team.")
    run_for("wordllama:128")
    return Alert.objects.get()


def announced() -> list[str]:
    return [one.event for one in WebhookDelivery.objects.order_by("id")]


def test_a_pass_on_request_closes_the_alert_of_the_agents_for_which_it_passes(
    refund_test: RecallTest, knowledge: AgentFile, alert: Alert, team: Team, editor: User
) -> None:
    agent_create(slug="ben", name="Ben", teams=[team])
    run_for("wordllama:128")
    recall_test_run(test=refund_test, principal=editor.principal)
    assert Alert.objects.filter(closed=None).count() == 2
    save(knowledge, RULE_TEXT)
    recall_test_run(test=refund_test, principal=editor.principal)
    assert [(one.agent_slug, one.is_open) for one in Alert.objects.order_by("agent_slug")] == [
        ("ada", False), ("ben", True),
    ]  # fmt: skip
    assert announced() == [WebhookEvent.ALERT_OPENED, WebhookEvent.ALERT_OPENED, WebhookEvent.ALERT_CLOSED]


def test_a_pass_for_somebody_who_reads_less_leaves_the_alert_open(
    refund_test: RecallTest, knowledge: AgentFile, alert: Alert, editor: User, owner: User
) -> None:
    alert.sensitivity = Sensitivity.RESTRICTED
    alert.save()
    save(knowledge, RULE_TEXT)
    for person, is_open in ((editor, True), (owner, False)):
        with reading_as(person.principal):
            recall_test_run(test=refund_test, principal=person.principal)
        assert Alert.everything.get().is_open is is_open


def test_archiving_closes_the_alert_whoever_does_it(refund_test: RecallTest, alert: Alert, editor: User) -> None:
    alert.sensitivity = Sensitivity.RESTRICTED
    alert.save()
    with reading_as(editor.principal):
        recall_test_archive(test=refund_test, archived=True, principal=editor.principal)
    assert Alert.everything.get().closed


def test_deleting_closes_the_alert(refund_test: RecallTest, alert: Alert, editor: User) -> None:
    recall_test_delete(test=refund_test, principal=editor.principal)
    assert Alert.objects.get().closed
    assert announced() == [WebhookEvent.ALERT_OPENED, WebhookEvent.ALERT_CLOSED]


@pytest.mark.parametrize("remove", [recall_test_delete, partial(recall_test_archive, archived=True)])
def test_a_test_that_is_taken_away_while_it_runs_opens_no_alert(
    refund_test: RecallTest, knowledge: AgentFile, remove: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_and_remove(run: RecallRun) -> RunOutcome:
        outcome = run_test(run)
        remove(test=refund_test, principal=SYSTEM)
        return outcome

    save(knowledge, "Ask the finance team.")
    monkeypatch.setattr(embedder_change, "run_test", run_and_remove)
    run_for("wordllama:128")
    assert not Alert.objects.exists()
    assert not RecallResult.objects.exists()


def test_the_next_change_closes_the_alert_of_an_agent_that_left_the_team(
    refund_test: RecallTest, alert: Alert, agent: Agent
) -> None:
    AgentTeam.objects.filter(agent=agent).delete()
    run_for("wordllama:64")
    assert Alert.objects.get().closed


def test_a_restricted_test_that_cannot_be_run_is_told_to_those_with_the_clearance_alone(
    agent: Agent, team: Team, editor: User, owner: User
) -> None:
    Webhook.objects.create(label="Chat", url="https://93.184.216.34/", events=WebhookEvent.values, sealed_secret="x")
    house = SHIPPED["operations"].replace("name: operations", "name: house")
    profile_create(name="house", content=house, principal=SYSTEM)
    facts = RecallFacts(
        name="Dismissal of Ms Roth", profile="house", expectations=[Expectation("exclude", text="Ms Roth leaves")]
    )
    recall_test_create(agent=agent, team=team, facts=facts, principal=SYSTEM, sensitivity=Sensitivity.RESTRICTED)
    for missing in (True, False, True):
        if missing:
            profile_delete(name="house", principal=SYSTEM)
        else:
            profile_create(name="house", content=house, principal=SYSTEM)
        run_for("wordllama:128")
        alert = Alert.everything.get()
        assert (alert.is_open, alert.sensitivity, alert.name) == (missing, Sensitivity.RESTRICTED, facts.name)
    assert alert.times == 2
    assert {one.sensitivity for one in RecallResult.everything.all()} == {Sensitivity.RESTRICTED}
    assert {one.user for one in Notification.objects.all()} == {owner}
    assert not WebhookDelivery.objects.exists()
    assert Api(person=editor.principal).get(f"alerts/{alert.id}").status_code == 404
