"""What serving processes do so that memory goes back: no garbage stays after a request, and operators may choose."""

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from config.server.memory_settings import (
    COLLECT_SECONDS,
    COLLECTIONS_PER_OLDER,
    SCHEDULED_THRESHOLDS,
    SECONDS_PER_COLLECTION,
    SETTINGS,
    THRESHOLDS,
    GarbageSchedule,
    child_environment,
    configure_garbage_collector,
    release_memory,
)

pytestmark = pytest.mark.finding("3a")


class Response:
    """Refers to itself, as those of the REST framework do."""

    def __init__(self) -> None:
        self.context = {"response": self}


@pytest.fixture
def seldom() -> Iterator[None]:
    thresholds = gc.get_threshold()
    configure_garbage_collector()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


@pytest.mark.parametrize(("seconds", "generations"), [(COLLECT_SECONDS / 2, 0), (COLLECT_SECONDS * 2, 2)])
def test_what_refers_to_itself_goes_with_the_request(seldom: None, seconds: float, generations: int) -> None:
    response = Response()
    for generation in range(generations):  # it grows old while the request computes
        gc.collect(generation)
    gone = ref(response)
    del response
    assert gone() is not None
    release_memory(seconds)
    assert gone() is None


def test_garbage_is_collected_once_small_requests_took_as_long_as_a_context() -> None:
    schedule = GarbageSchedule()
    due = [schedule.due_after(SECONDS_PER_COLLECTION * 0.6) for _ in range(4)]
    assert due == [None, 0, None, 0]


def test_older_generations_are_collected_less_often() -> None:
    schedule, (young, middle) = GarbageSchedule(), COLLECTIONS_PER_OLDER
    due = [schedule.due_after(SECONDS_PER_COLLECTION) for _ in range(young * middle)]
    assert [due.count(generation) for generation in range(3)] == [(young - 1) * middle, middle - 1, 1]


def test_what_is_collected_between_requests_makes_no_collection_within_them_costlier(seldom: None) -> None:
    gc.set_threshold(*SCHEDULED_THRESHOLDS)
    schedule, collected = GarbageSchedule(), list[int]()
    for _ in range(COLLECTIONS_PER_OLDER[0] - 1):
        gc.collect(schedule.due_after(SECONDS_PER_COLLECTION) or 0)

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            collected.append(info["generation"])

    gc.callbacks.append(note)
    kept = [[number] for number in range(THRESHOLDS[0] + 1_000)]
    gc.callbacks.remove(note)
    assert collected == [0]
    assert kept


def test_an_operator_may_set_the_allocator_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    assert child_environment({"ONE": "1"}).items() >= {**SETTINGS, "ONE": "1"}.items()
    monkeypatch.setenv("MALLOC_ARENA_MAX", "8")
    assert child_environment({})["MALLOC_ARENA_MAX"] == "8"
