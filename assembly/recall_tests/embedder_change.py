"""After a change of the embedder, a job runs all recall tests, stores their results, and opens and closes alerts."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.dispatch import receiver
from django.utils import timezone

from assembly.engine.types import field_values
from assembly.models import Alert, AlertKind, RecallResult, RecallTest, RecallTrigger, WebhookEvent
from assembly.models.monitoring import MAX_NAME_CHARACTERS
from assembly.monitoring.alerts.recall_test_alerts import (
    passed_alerts_close,
    recall_test_thing,
)
from assembly.monitoring.alerts.watch import alerts_close, alerts_lock
from assembly.monitoring.webhooks.delivery import alert_announce
from assembly.notifications.services import alert_notify
from assembly.recall_tests.run import RecallRun, RunOutcome, run_test, runs_of
from assembly.recall_tests.services import results_store
from assembly.records.record import RecordOwners
from memories.embeddings.reembedding import embedder_switched
from memories.jobs.services import Advance, job_create, job_kind
from memories.models import Job
from teams.principal import SYSTEM

RUN_RECALL_TESTS = "run_recall_tests"


@receiver(embedder_switched, dispatch_uid="assembly.recall_tests")
def recall_tests_queue(model: str, **_: Any) -> None:
    """Create the job that runs all active recall tests, if there are any."""
    if RecallTest.objects.active().exists():
        job_create(kind=RUN_RECALL_TESTS, arguments={"embedder": model}, agent=None, principal=SYSTEM)


@job_kind(RUN_RECALL_TESTS)
def recall_tests_run(job: Job, advance: Advance) -> None:
    """Run the active recall tests that the job has not run yet. Each result is stored with its alert."""
    runs = _all_runs()
    Job.objects.filter(id=job.id).update(steps=len(runs))
    stored = RecallResult.objects.filter(trigger=RecallTrigger.EMBEDDER, created__gte=job.created)
    done = {*stored.values_list("test_id", "agent_id")}
    for run in runs:
        if (run.test.id, run.agent.id) not in done:
            _run_and_store(run, job.arguments["embedder"])
        advance(1)
    _close_alerts_without_run()


def _all_runs() -> Sequence[RecallRun]:
    """Return the runs of all active tests, as they are now."""
    return runs_of(list(RecallTest.objects.active().select_related("agent", "team").order_by("id")))


@transaction.atomic
def _close_alerts_without_run() -> None:
    """Close the open alerts that no run can close: the agent left the team, or the test went with its owner."""
    alerts_lock()
    current = {(recall_test_thing(run.test.id), run.agent.id) for run in _all_runs()}
    opened = Alert.objects.filter(kind=AlertKind.RECALL_TEST_FAILED, closed=None)
    alerts_close(alert for alert in opened if (alert.thing, alert.agent_id) not in current)


def _run_and_store(run: RecallRun, embedder: str) -> None:
    outcome = run_test(run)
    with transaction.atomic():
        alerts_lock()
        if not RecallTest.objects.active().filter(id=run.test.id).exists():
            return  # it was archived or deleted meanwhile, which closed its alerts
        results_store([outcome], trigger=RecallTrigger.EMBEDDER, principal=SYSTEM)
        if outcome.passed:
            passed_alerts_close(run.test, [run.agent.id])
            return
        alerts = Alert.objects.filter(
            kind=AlertKind.RECALL_TEST_FAILED, thing=recall_test_thing(run.test.id), agent_id=run.agent.id
        )
        if not alerts.filter(closed=None).exists():
            _open(outcome, embedder, alerts.filter(cause=embedder).first())


def _open(outcome: RunOutcome, embedder: str, closed: Alert | None) -> None:
    """Open an alert, or the closed one of the same embedder again, without another announcement."""
    run, now = outcome.run, timezone.now()
    detail = {"why": " ".join(outcome.reasons), "test": str(run.test.id), "embedder": embedder}
    if closed:
        closed.opened, closed.closed, closed.times, closed.detail = now, None, closed.times + 1, detail
        closed.sensitivity = outcome.sensitivity
        closed.save(update_fields=["opened", "closed", "times", "name", "detail", "sensitivity"])
        return
    alert = Alert.objects.create(
        **field_values(RecordOwners.of(run.agent, run.test.team)),
        profile_name=run.profile_name,
        kind=AlertKind.RECALL_TEST_FAILED,
        thing=recall_test_thing(run.test.id),
        cause=embedder,
        name=run.test.name[:MAX_NAME_CHARACTERS],
        detail=detail,
        sensitivity=outcome.sensitivity,
        opened=now,
    )
    alert_announce(event=WebhookEvent.ALERT_OPENED, alert=alert)
    alert_notify(alert)
