"""Which days a question speaks of."""

import datetime

import pytest

from memories.search.dates import YEARS_BACK, DayRange, days_in

TODAY = datetime.date(2023, 10, 25)  # a Wednesday


def days(first: str, last: str = "") -> DayRange:
    return DayRange(datetime.date.fromisoformat(first), datetime.date.fromisoformat(last or first))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Ada do on 7 May 2023?", days("2023-05-07")),
        ("What did Ada do on the 7th of May, 2023?", days("2023-05-07")),
        ("What did Ada do on May 7, 2023?", days("2023-05-07")),
        ("What did Ada do on December 1,2022?", days("2022-12-01")),
        ("and on 2023-02-28", days("2023-02-28")),
        ("What happened in July 2023?", days("2023-07-01", "2023-07-31")),
        ("What happened in Sept. 2022?", days("2022-09-01", "2022-09-30")),
        ("July, 2023", days("2023-07-01", "2023-07-31")),
        ("What happened last May?", days("2023-05-01", "2023-05-31")),
        ("What happened last December?", days("2022-12-01", "2022-12-31")),
        ("What happens next March?", days("2024-03-01", "2024-03-31")),
        ("What happened in 2021?", days("2021-01-01", "2021-12-31")),
        ("what happened yesterday", days("2023-10-24")),
        ("the day before yesterday", days("2023-10-23")),
        ("What is due tomorrow?", days("2023-10-26")),
        ("last week", days("2023-10-16", "2023-10-22")),
        ("this month", days("2023-10-01", "2023-10-31")),
        ("next year", days("2024-01-01", "2024-12-31")),
        ("last month", days("2023-09-01", "2023-09-30")),
        ("three days ago", days("2023-10-22")),
        ("two weeks ago", days("2023-10-08", "2023-10-14")),
        ("a year ago", days("2022-01-01", "2022-12-31")),
        ("11 months ago", days("2022-11-01", "2022-11-30")),
        ("on Monday", days("2023-10-23")),
        ("last Wednesday", days("2023-10-18")),
        ("next Wednesday", days("2023-11-01")),
    ],
)
def test_dates_are_read_as_those_who_ask_today_mean_them(question: str, expected: DayRange) -> None:
    assert days_in(question, TODAY) == (expected,)


@pytest.mark.parametrize("question", ["What happened in May?", "What happened on 8 May?", "Who came in march?"])
def test_without_a_year_it_is_that_of_every_year(question: str) -> None:
    found = days_in(question, TODAY)
    assert [one.first.year for one in found] == list(range(2023 - YEARS_BACK, 2025))


def test_a_year_says_which_may_is_meant() -> None:
    named = days_in("Where was Jo between August 11 and August 15 2023?", TODAY)
    assert set(named) == {days("2023-08-11"), days("2023-08-15")}
    assert days_in("In 2022, what happened in June?", TODAY) == (days("2022-06-01", "2022-06-30"),)


@pytest.mark.parametrize(
    "question",
    [
        "", "   ", "Who may come?", "May I come?", "They march on.", "March on!", "31 June 2023", "30 February",
        "2023-02-31", "99999 days ago", "Was war mit dem Mai?", "去年发生了什么", "Room 20231", "version 2.1",
    ],
)  # fmt: skip
def test_what_is_no_date_is_none(question: str) -> None:
    assert days_in(question, TODAY) == ()


def test_nothing_breaks_at_the_ends_of_the_calendar() -> None:
    for today in (datetime.date.min, datetime.date.max):
        for question in ("yesterday", "tomorrow", "999 years ago", "last month", "on 3 May", "next week", "last week"):
            days_in(question, today)
