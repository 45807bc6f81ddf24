"""Redis and RabbitMQ as brokers: a message wakes a worker at once, and what a dead broker lost is done nevertheless."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from memories.jobs.services import job_create
from memories.models import Job, JobStatus
from teams.principal import SYSTEM
from tests.faults.processes import until
from tests.faults.worker import Command
from tests.scaling.debian_servers import rabbitmq, redis

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("committed_database")]

JOBS = 20
SENT = Job.objects.filter(kind="embed_missing")  # beside the periodic ones that the worker makes itself


@pytest.fixture(params=[redis, pytest.param(rabbitmq, marks=pytest.mark.deep)], ids=["Redis", "RabbitMQ"])
def broker(request: pytest.FixtureRequest) -> Iterator[str]:
    server: Callable[[], AbstractContextManager[str]] = request.param
    with server() as address:
        yield address


def test_jobs_are_done_by_workers_that_the_broker_wakes(broker: str) -> None:
    settings = {"CELERY_BROKER_URL": broker, "JOB_PATIENCE_SECONDS": "600"}  # so that no sweep sends them a second time
    worker = Command("work", "--concurrency=2", **settings)
    try:
        sender = Command("shell", "-c", SEND, **settings)
        assert "Traceback" not in sender.end()
        until(lambda: SENT.filter(status=JobStatus.DONE).count() == JOBS, seconds=120)
    finally:
        logged = worker.stop()
    assert "Traceback" not in logged
    assert set(SENT.values_list("attempts", flat=True)) == {1}


SEND = f"""
from memories.jobs.services import job_create
from teams.principal import SYSTEM
for _ in range({JOBS}):
    job_create(kind="embed_missing", arguments={{}}, agent=None, principal=SYSTEM)
"""


@pytest.mark.deep
def test_a_job_whose_message_was_lost_is_sent_again(broker: str) -> None:
    job = job_create(kind="embed_missing", arguments={}, agent=None, principal=SYSTEM)  # its message went elsewhere
    worker = Command("work", "--concurrency=1", CELERY_BROKER_URL=broker, JOB_PATIENCE_SECONDS="1")
    try:
        until(lambda: Job.objects.filter(pk=job.pk, status=JobStatus.DONE).exists(), seconds=120)
    finally:
        worker.stop()
