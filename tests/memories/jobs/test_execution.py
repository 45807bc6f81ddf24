"""Jobs: sent on commit, done by one worker, counted, retried, given up, and seen while they run."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError
from uuid_utils.compat import uuid7

from agents.models import Agent
from memories.jobs import services
from memories.jobs.execution import WORKER_DIED, Lease, _dedicated_connection, job_run
from memories.jobs.services import (
    KINDS,
    MAX_ATTEMPTS,
    Advance,
    NeverRetry,
    NotParked,
    RetryLater,
    job_create,
    job_retry,
    jobs_resend_overdue,
)
from memories.models import Job, JobStatus
from teams.principal import SYSTEM
from teams.services import erase
from tests.concurrency import at_once
from tests.memories.jobs.waiting_messages import forget_messages, waiting_messages
from tests.postgres import cloned_database, connected_to

Register = Callable[[Callable[[Job, Advance], None]], None]


@pytest.fixture(scope="module")
def own_database(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A database in which commits happen, for all tests here: jobs and messages can be deleted."""
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        yield


@pytest.fixture(autouse=True)
def _empty_database(own_database: None) -> Iterator[None]:
    yield
    Job.objects.all().delete()
    forget_messages()


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> Register:
    """Registers what jobs of the kind `test` do."""
    return lambda function: monkeypatch.setitem(KINDS, "test", function)


def created(**facts: Any) -> Job:
    return job_create(**{"kind": "test", "arguments": {}, "agent": None, "principal": SYSTEM, **facts})


def now_of(job: Job) -> Job:
    return Job.objects.get(id=job.id)


def changed(job: Job, **facts: Any) -> Job:
    Job.objects.filter(id=job.id).update(**facts)
    return now_of(job)


def test_a_job_that_no_attempt_can_help_is_given_up_at_once(kind: Register) -> None:
    def never(job: Job, advance: Advance) -> None:
        raise NeverRetry("There is nothing to do it with.")

    kind(never)
    job = created()
    job_run(job_id=job.id)
    row = now_of(job)
    assert (row.status, row.attempts, row.error) == (JobStatus.PARKED, 1, "There is nothing to do it with.")
    assert row.finished_at


def test_a_job_that_knows_when_it_may_succeed_waits_so_long(kind: Register) -> None:
    def later(job: Job, advance: Advance) -> None:
        raise RetryLater("Nobody was there.", timedelta(hours=2))

    kind(later)
    job = created()
    job_run(job_id=job.id)
    row = now_of(job)
    assert (row.status, row.attempts, row.error) == (JobStatus.QUEUED, 1, "Nobody was there.")
    assert row.leased_until
    assert timedelta(hours=1) < row.leased_until - timezone.now() <= timedelta(hours=2)
    job_run(job_id=changed(job, attempts=MAX_ATTEMPTS - 1).id)
    assert (now_of(job).status, now_of(job).leased_until) == (JobStatus.PARKED, None)


def test_a_job_is_sent_by_its_id_once_it_is_committed() -> None:
    with transaction.atomic():
        job = created(arguments={"secret": "text"}, steps=3)
        assert waiting_messages() == []
    assert waiting_messages() == [[str(job.id)]]
    assert (job.status, job.attempts, job.steps, job.requested_by) == ("queued", 0, 3, "system")


def test_what_is_rolled_back_sends_nothing() -> None:
    with transaction.atomic():
        created()
        transaction.set_rollback(True)
    assert waiting_messages() == []
    assert not Job.objects.exists()


def test_a_broker_that_is_away_fails_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: object) -> None:
        raise OperationalError("the broker is away")

    with monkeypatch.context() as patch:
        patch.setattr(services, "wake", away)
        job = created()
    changed(job, leased_until=timezone.now())
    assert jobs_resend_overdue() == 1
    assert waiting_messages() == [[str(job.id)]]


def test_a_job_is_done_once(kind: Register) -> None:
    done = []
    kind(lambda job, _: done.append(job.arguments["number"]))
    job = created(arguments={"number": 7}, steps=2)
    for _ in range(3):
        job_run(job_id=job.id)
    assert done == [7]
    job = now_of(job)
    assert (job.status, job.attempts, job.steps_done, job.error, job.leased_until) == ("done", 1, 2, "", None)
    assert job.started_at is not None
    assert job.finished_at is not None


def test_a_job_that_is_gone_or_given_up_is_passed_over(kind: Register) -> None:
    kind(lambda *_: pytest.fail("it ran"))
    parked = changed(created(), status=JobStatus.PARKED, attempts=2)
    job_run(job_id=parked.id)
    job_run(job_id=uuid7())
    assert now_of(parked).attempts == 2


def test_of_two_workers_one_does_the_job_and_its_progress_is_seen_meanwhile(kind: Register) -> None:
    running, looked = threading.Event(), threading.Event()
    done = []

    def work(job: Job, advance: Advance) -> None:
        advance(1)
        running.set()
        assert looked.wait(10)
        done.append(job.id)

    def look() -> None:
        assert running.wait(10)
        job_run(job_id=job.id)  # returns at once
        assert (now_of(job).status, now_of(job).steps_done, now_of(job).attempts) == ("running", 1, 1)
        looked.set()

    kind(work)
    job = created(steps=2)
    at_once([lambda: job_run(job_id=job.id), look])
    assert done == [job.id]
    assert now_of(job).status == "done"


def test_what_fails_is_tried_again_and_then_given_up(kind: Register, caplog: pytest.LogCaptureFixture) -> None:
    kind(lambda job, _: job.arguments["missing"])
    job = created(steps=2)
    for attempt in range(1, MAX_ATTEMPTS):
        job_run(job_id=job.id)
        found = now_of(job)
        assert (found.status, found.attempts, found.error) == ("queued", attempt, "KeyError: 'missing'")
        assert found.leased_until is not None
        assert found.leased_until > timezone.now()
    job_run(job_id=job.id)
    found = now_of(job)
    assert (found.status, found.attempts, found.leased_until) == ("parked", MAX_ATTEMPTS, None)
    assert found.finished_at is not None
    assert "KeyError" in caplog.text


def test_a_failure_is_forgotten_when_the_next_attempt_succeeds(kind: Register) -> None:
    outcomes = iter([ValueError("no luck\0"), None])

    def sometimes(*_: object) -> None:
        if error := next(outcomes):
            raise error

    kind(sometimes)
    job = created()
    job_run(job_id=job.id)
    assert now_of(job).error == "ValueError: no luck"
    job_run(job_id=job.id)
    assert (now_of(job).status, now_of(job).error, now_of(job).attempts) == ("done", "", 2)


def test_what_fails_leaves_nothing_of_a_half_done_transaction(kind: Register) -> None:
    def half(*_: object) -> None:
        with transaction.atomic():
            created(kind="effect")
            raise RuntimeError

    kind(half)
    job = created()
    job_run(job_id=job.id)
    assert not Job.objects.filter(kind="effect").exists()


def test_a_job_whose_worker_died_each_time_is_given_up(kind: Register) -> None:
    kind(lambda *_: pytest.fail("it ran"))
    job = changed(created(), status=JobStatus.RUNNING, attempts=MAX_ATTEMPTS)
    job_run(job_id=job.id)
    assert (now_of(job).status, now_of(job).error) == ("parked", WORKER_DIED)


def test_an_unknown_kind_is_named() -> None:
    job = created(kind="levitate")
    job_run(job_id=job.id)
    assert "knows no job called levitate" in now_of(job).error


def test_a_worker_that_is_asked_to_stop_puts_the_job_back_without_counting(kind: Register) -> None:
    steps = []

    def work(_: Job, advance: Advance) -> None:
        for step in range(3):
            steps.append(step)
            advance(1)

    kind(work)
    job = created(steps=3)
    job_run(job_id=job.id, is_stopping=lambda: len(steps) == 2)
    assert steps == [0, 1]
    assert (now_of(job).status, now_of(job).attempts) == ("queued", 0)
    assert jobs_resend_overdue() == 1
    job_run(job_id=job.id)
    assert (now_of(job).status, now_of(job).attempts, now_of(job).steps_done) == ("done", 1, 3)


def test_a_job_ends_when_its_agent_is_deleted_meanwhile(kind: Register, agent: Agent) -> None:
    after = []

    def work(_: Job, advance: Advance) -> None:
        erase("agents", agent.id, SYSTEM)
        advance(1)
        after.append("went on")

    kind(work)
    job_run(job_id=created(agent=agent).id)
    assert after == []
    assert not Job.objects.exists()


def test_the_lease_of_a_dead_worker_can_be_taken_at_once() -> None:
    job = created()
    with _dedicated_connection() as dying, _dedicated_connection() as other:
        assert Lease(dying, job.id, bool).take()
        assert not Lease(other, job.id, bool).take()
        with dying.cursor() as cursor, connection.cursor() as killer:
            cursor.execute("SELECT pg_backend_pid()")
            killer.execute("SELECT pg_terminate_backend(%s, 5000)", cursor.fetchone())
        assert Lease(other, job.id, bool).take()
    assert now_of(job).attempts == 2


def test_the_sweep_sends_again_what_was_silent_for_too_long() -> None:
    now = timezone.now()
    past, future = now - timedelta(seconds=1), now + timedelta(seconds=60)
    due = [Job.objects.create(kind="never sent")]  # as after a crash between commit and message
    due += [Job.objects.create(kind="lost", leased_until=past)]
    due += [Job.objects.create(kind="dead", leased_until=past, status=JobStatus.RUNNING, attempts=1)]
    Job.objects.create(kind="just sent", leased_until=future)
    Job.objects.create(kind="running", leased_until=future, status=JobStatus.RUNNING)
    Job.objects.create(kind="done", status=JobStatus.DONE)
    Job.objects.create(kind="abandoned", status=JobStatus.PARKED)
    assert sum(at_once([jobs_resend_overdue] * 4)) == 3
    assert sorted(waiting_messages()) == sorted([str(job.id)] for job in due)
    assert jobs_resend_overdue() == 0


def test_a_job_that_was_given_up_can_be_started_anew(kind: Register) -> None:
    kind(lambda *_: None)
    job = created(steps=1)
    with pytest.raises(NotParked):
        job_retry(job=job)
    changed(job, status=JobStatus.PARKED, attempts=MAX_ATTEMPTS, error="bad luck", finished_at=timezone.now())
    again = job_retry(job=job)
    assert (again.status, again.attempts, again.steps_done, again.finished_at) == ("queued", 0, 0, None)
    assert waiting_messages() == [[str(job.id)]] * 2
    job_run(job_id=job.id)
    assert now_of(job).status == "done"
