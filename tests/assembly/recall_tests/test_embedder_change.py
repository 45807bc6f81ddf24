"""After a change of the embedder, all recall tests are run; a failed one opens an alert, which a later pass closes."""

import pytest

from agents.models import Agent, AgentFile
from assembly.models import Alert, Assembly, Notification, RecallResult, RecallTest, RecallTrigger
from assembly.monitoring.new_contexts import follow_assemblies
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.recall_tests.embedder_change import RUN_RECALL_TESTS, recall_tests_run
from memories.embeddings.reembedding import embedder_switched
from memories.models import EmbeddingSpace, Job
from teams.models import Team, User
from teams.principal import SYSTEM
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
