"""The task stack when several push and pop at once, with real threads and real commits."""

from functools import partial

import pytest

from agents.models import Agent
from config.http.errors import Conflict
from memories.models import TaskFrame, TaskStatus
from memories.services import task_path, task_peek, task_pop, task_push
from teams.principal import SYSTEM
from tests.concurrency import at_once

pytestmark = pytest.mark.usefixtures("committed_database")

THREADS = 8


def push(agent: Agent, number: int) -> TaskFrame:
    return task_push(agent=agent, session=None, goal=f"Goal {number}", principal=SYSTEM)


def pop(agent: Agent, number: int) -> TaskFrame | None:
    try:
        return task_pop(agent=agent, session=None, result=f"Result {number}", principal=SYSTEM)
    except Conflict:
        return None


def test_pushes_at_once_lie_on_each_other(agent: Agent) -> None:
    frames = at_once([partial(push, agent, number) for number in range(THREADS)])
    assert sorted(frame.depth for frame in frames) == list(range(THREADS))
    path = task_path(agent=agent, session=None)
    assert [frame.depth for frame in path] == list(range(THREADS))
    assert [frame.parent_id for frame in path] == [None, *(frame.id for frame in path[:-1])]


def test_pops_at_once_take_one_frame_each(agent: Agent) -> None:
    for number in range(THREADS - 2):
        push(agent, number)
    popped = [frame for frame in at_once([partial(pop, agent, number) for number in range(THREADS)]) if frame]
    assert sorted(frame.depth for frame in popped) == list(range(THREADS - 2))
    assert set(TaskFrame.objects.values_list("status", "version")) == {(TaskStatus.COMPLETE, 2)}
    assert task_peek(agent=agent, session=None) is None


def test_pushes_and_pops_at_once_leave_a_stack(agent: Agent) -> None:
    push(agent, 0)
    jobs = [partial(push, agent, number) for number in range(1, 5)] + [
        partial(pop, agent, number) for number in range(4)
    ]
    done = at_once(jobs)
    popped = [frame for frame in done[4:] if frame]
    active = TaskFrame.objects.filter(status=TaskStatus.ACTIVE)
    assert active.count() == 5 - len(popped)
    path = task_path(agent=agent, session=None)
    assert {frame.id for frame in path} >= set(active.values_list("id", flat=True))
    assert [frame.depth for frame in path] == list(range(len(path)))
