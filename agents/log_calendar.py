"""Days of daily logs as pages show them: a month, a week, which of them have a log."""

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
    """A day of an agent. `is_shown` is the one that a page is about."""

    date: datetime.date
    filled: bool
    is_today: bool
    is_shown: bool = False


@dataclass(frozen=True, slots=True)
class CalendarMonth:
    """A month by weeks, from Monday on; None stands for days of other months."""

    first: datetime.date
    weeks: Sequence[Sequence[CalendarDay | None]]
    filled: int
    """So many of its days have a log."""

    @property
    def last(self) -> datetime.date:
        """Its last day."""
        return self.first.replace(day=calendar.monthrange(self.first.year, self.first.month)[1])

    @property
    def earlier(self) -> datetime.date:
        """The first day of the month before."""
        return (self.first - datetime.timedelta(days=1)).replace(day=1)

    @property
    def later(self) -> datetime.date:
        """The first day of the month after."""
        return self.last + datetime.timedelta(days=1)


def parse_month(text: str) -> datetime.date | None:
    """The first day of the month that `2026-11` names; None for what names no month that Dossier knows."""
    first = parse_date(f"{text}-01")
    return first if first and EARLIEST_YEAR < first.year < LATEST_YEAR else None


def load_month(agent: Agent, first: datetime.date) -> CalendarMonth:
    """The month that begins on that day."""
    dates = [list(week) for week in calendar.Calendar().monthdatescalendar(first.year, first.month)]
    days = {day.date: day for day in load_days(agent, dates[0][0], dates[-1][-1])}
    weeks = [[days[date] if date.month == first.month else None for date in week] for week in dates]
    return CalendarMonth(first, weeks, sum(day.filled for week in weeks for day in week if day))


def load_week(agent: Agent, date: datetime.date) -> list[CalendarDay]:
    """The week of the day, from Monday on."""
    monday = date - datetime.timedelta(days=date.weekday())
    return load_days(agent, monday, monday + datetime.timedelta(days=WEEK - 1), shown=date)


def load_days(
    agent: Agent, first: datetime.date, last: datetime.date, shown: datetime.date | None = None
) -> list[CalendarDay]:
    """The days from the first to the last, with one query."""
    today = agent.today(timezone.now())
    logs = agent.daily_logs.filter(date__range=(first, last)).exclude(content="")
    filled = set(logs.values_list("date", flat=True))
    dates = [first + datetime.timedelta(days=number) for number in range((last - first).days + 1)]
    return [CalendarDay(date, date in filled, date == today, date == shown) for date in dates]


def adjacent_days(date: datetime.date, today: datetime.date) -> tuple[datetime.date, datetime.date | None]:
    """The day before, and the day after, unless that is still to come."""
    after = date + datetime.timedelta(days=1)
    return date - datetime.timedelta(days=1), after if after <= today else None
