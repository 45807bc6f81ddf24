"""Which hits stand close together, and which of them is the best there."""

import datetime

import numpy as np
import pytest

from memories.search.day_windows import MAX_WINDOWS, WINDOW_ROWS, best_of_windows, date_of, promising_windows
from memories.search.row_format import EPOCH, LAYOUT, Columns

MORNING = datetime.datetime(2026, 11, 21, 9, tzinfo=datetime.UTC)


def rows_at(*moments: datetime.datetime) -> Columns:
    rows = np.zeros(len(moments), dtype=LAYOUT)
    start = datetime.datetime.combine(EPOCH, datetime.time(), datetime.UTC)
    rows["at"] = [(moment - start) // datetime.timedelta(microseconds=1) for moment in moments]
    return rows


def minutes(*some: int) -> Columns:
    return rows_at(*(MORNING + datetime.timedelta(minutes=minute) for minute in some))


@pytest.mark.parametrize("date", ["1969-12-31", "1999-12-31", "2000-01-01", "2026-11-21"])
def test_the_date_of_a_row_is_that_of_its_moment(date: str) -> None:
    day = datetime.date.fromisoformat(date)
    last_moment = datetime.datetime.combine(day, datetime.time.max, datetime.UTC)
    rows = rows_at(datetime.datetime.combine(day, datetime.time(), datetime.UTC), last_moment)
    assert date_of(rows).tolist() == [(day - EPOCH).days] * 2


def test_a_short_day_is_one_stretch_and_the_best_come_first() -> None:
    a_day = 24 * 60
    hits = minutes(0, 5, a_day, a_day + 5, 2 * a_day)
    sample = minutes(-50 * a_day, 50 * a_day)
    best = best_of_windows(hits, np.array([1.0, 2.0, 5.0, 4.0, 3.0]), sample, owned=100)
    assert best.tolist() == [2, 4, 1]


def test_a_long_day_has_many_stretches() -> None:
    day = minutes(*range(500))
    best = best_of_windows(day, np.zeros(500), day[::10], owned=500)
    assert len(best) == pytest.approx(500 / WINDOW_ROWS, abs=2)


def test_equals_are_in_order_of_time() -> None:
    a_day = 24 * 60
    hits = minutes(*(day * a_day for day in range(30)))
    assert best_of_windows(hits, np.ones(30), hits, owned=30).tolist() == list(range(30))


def test_without_hits_there_are_no_stretches() -> None:
    nothing = minutes()
    assert best_of_windows(nothing, np.zeros(0), minutes(0, 1), owned=2).tolist() == []


@pytest.mark.parametrize(
    ("wanted", "behind", "expected"),
    [
        (1, 0.0, 1),
        (1, 1.5, 2),
        (2, 1.0, 3),
        (3, 0.0, 3),  # a hit that is not the best of its stretch takes a place among those that are wanted
        (4, 0.5, 4),
        (9, 0.0, 4),
    ],
)
def test_a_stretch_is_hopeful_that_is_not_far_behind(wanted: int, behind: float, expected: int) -> None:
    scores = np.array([9.0, 8.0, 7.5, 7.0, 1.0])
    best = np.array([0, 1, 3, 4])
    assert promising_windows(best, scores, behind=behind, wanted=wanted).tolist() == best[:expected].tolist()


def test_no_more_stretches_are_hopeful_than_can_be_read_unless_more_rows_are_wanted() -> None:
    scores = np.zeros(3 * MAX_WINDOWS)
    assert len(promising_windows(np.arange(len(scores)), scores, behind=1, wanted=20)) == MAX_WINDOWS
    assert len(promising_windows(np.arange(len(scores)), scores, behind=1, wanted=2 * MAX_WINDOWS)) == 2 * MAX_WINDOWS


def test_without_hits_no_stretch_is_hopeful() -> None:
    assert promising_windows(np.zeros(0, dtype=np.intp), np.zeros(0), behind=1, wanted=20).tolist() == []
