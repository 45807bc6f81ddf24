"""A job that compares items goes on when one of them fails, and others do not wait for those that failed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from agents.models import Agent
from assembly.conflicts import find
from assembly.conflicts.find import FIND_CONFLICTS, item_conflicts_find, noted_conflicts_find
from assembly.models import Conflict, UncomparedItem
from memories.jobs.services import JobStopped, RetryLater
from memories.models import Job, Memory
from teams.models import User
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, remember

pytestmark = pytest.mark.django_db
TEA = "Tea is served at noon."
Fail = Callable[..., None]


@pytest.fixture
def agent(agent: Agent) -> Agent:
    UncomparedItem.objects.all().delete()  # its files
    return agent


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Return a function that makes the comparison of these memories, or of all items, fail from now on."""

    def let_fail(*memories: Memory, error: Exception | None = None) -> None:
        ids = {memory.id for memory in memories}

        def find_or_fail(*, id_: UUID, **item: Any) -> list[Conflict]:
            if not ids or id_ in ids:
                raise error or RuntimeError("the embedder is down")
            return item_conflicts_find(id_=id_, **item)

        monkeypatch.setattr(find, "item_conflicts_find", find_or_fail)

    return let_fail


def queued() -> Job:
    noted_conflicts_find()
    return Job.objects.get(kind=FIND_CONFLICTS, status="queued")


def end(job: Job, **values: Any) -> None:
    Job.objects.filter(id=job.id).update(**{"status": "done", **values})


def compare(job: Job) -> None:
    find.find_conflicts(job, lambda _: None)


def items_of(job: Job) -> list[UUID]:
    return [UUID(id_) for _, id_ in job.arguments["items"]]


@pytest.mark.parametrize("place", range(3))
def test_an_item_that_fails_holds_up_no_other(
    agent: Agent, editor: User, fail: Fail, place: int, caplog: pytest.LogCaptureFixture
) -> None:
    memory = remember(agent, TEA)
    others = [["memory", str(remember(agent, text).id)] for text in (EIGHTY, NINETY)]
    job = queued()
    others.insert(place, ["memory", str(memory.id)])
    job.arguments["items"] = others
    fail(memory)
    compare(job)
    end(job)
    assert Conflict.objects.count() == 1
    assert str(memory.id) in caplog.text
    editor.refresh_from_db()
    assert editor.open_conflicts == 1
    again = queued()
    assert (items_of(again), again.steps) == ([memory.id], 1)
    with pytest.raises(RetryLater, match=r"1 items were not compared.*RuntimeError: the embedder is down"):
        compare(again)


def test_others_do_not_wait_for_a_job_that_is_tried_again_later(agent: Agent, fail: Fail) -> None:
    fail(remember(agent, TEA))
    failed = queued()
    with pytest.raises(RetryLater) as raised:
        compare(failed)
    assert raised.value.pause > timedelta(minutes=1)
    end(failed, status="queued", attempts=1)
    remember(agent, EIGHTY)
    noted_conflicts_find()
    job = Job.objects.get(kind=FIND_CONFLICTS, attempts=0)
    noted_conflicts_find()
    remember(agent, NINETY)
    noted_conflicts_find()
    assert Job.objects.filter(kind=FIND_CONFLICTS).count() == 2, "the new job is one to wait for"
    compare(job)
    end(job)
    end(failed, status="running", attempts=2)
    noted_conflicts_find()
    assert UncomparedItem.objects.count() == 1, "so is one that runs again"


def test_a_job_that_has_to_stop_stops(agent: Agent, fail: Fail) -> None:
    remember(agent, TEA)
    fail(error=JobStopped())
    with pytest.raises(JobStopped):
        compare(queued())
