"""This module loads the days of daily logs for calendars: a month or a week, and which days have a log."""

import calendar
import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from agents.models import Agent
from config.http.serializers import EARLIEST_YEAR, LATEST_YEAR, parse_date

WEEK = 7


@dataclass(frozen=True, slots=True)
class CalendarDay:
    """A day in the calendar of an agent. `is_shown` marks the day that the page is about."""

    date: datetime.date
    filled: bool
    is_today: bool
    is_shown: bool = False


@dataclass(frozen=True, slots=True)
class CalendarMonth:
    """A month in weeks that start on Monday; None stands for days of other months."""

    first: datetime.date
    weeks: Sequence[Sequence[CalendarDay | None]]
    filled: int
    """The number of days of the month that have a log."""

    @property
    def last(self) -> datetime.date:
        """The last day of the month."""
        return self.first.replace(day=calendar.monthrange(self.first.year, self.first.month)[1])

    @property
    def earlier(self) -> datetime.date:
        """The first day of the previous month."""
        return (self.first - datetime.timedelta(days=1)).replace(day=1)

    @property
    def later(self) -> datetime.date:
        """The first day of the next month."""
        return self.last + datetime.timedelta(days=1)


def parse_month(text: str) -> datetime.date | None:
    """Return the first day of the month in a text like `2026-11`; None if it is no month that Dossier supports."""
    first = parse_date(f"{text}-01")
    return first if first and EARLIEST_YEAR < first.year < LATEST_YEAR else None


def load_month(agent: Agent, first: datetime.date) -> CalendarMonth:
    """Return the month that begins on this day."""
    dates = [list(week) for week in calendar.Calendar().monthdatescalendar(first.year, first.month)]
    days = {day.date: day for day in load_days(agent, dates[0][0], dates[-1][-1])}
    weeks = [[days[date] if date.month == first.month else None for date in week] for week in dates]
    return CalendarMonth(first, weeks, sum(day.filled for week in weeks for day in week if day))


def load_week(agent: Agent, date: datetime.date) -> list[CalendarDay]:
    """Return the week of the day, from Monday on."""
    monday = date - datetime.timedelta(days=date.weekday())
    return load_days(agent, monday, monday + datetime.timedelta(days=WEEK - 1), shown=date)


def load_days(
    agent: Agent, first: datetime.date, last: datetime.date, shown: datetime.date | None = None
) -> list[CalendarDay]:
    """Return the days from the first to the last; one query."""
    today = agent.today(timezone.now())
    logs = agent.daily_logs.filter(date__range=(first, last)).exclude(content="")
    filled = set(logs.values_list("date", flat=True))
    dates = [first + datetime.timedelta(days=number) for number in range((last - first).days + 1)]
    return [CalendarDay(date, date in filled, date == today, date == shown) for date in dates]


def adjacent_days(date: datetime.date, today: datetime.date) -> tuple[datetime.date, datetime.date | None]:
    """Return the previous day and the next day; None instead of a day in the future."""
    after = date + datetime.timedelta(days=1)
    return date - datetime.timedelta(days=1), after if after <= today else None
