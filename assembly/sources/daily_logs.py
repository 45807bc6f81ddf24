"""The agent's daily logs of the last week."""

import datetime
from collections.abc import Sequence

from agents.models import DailyLog
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered, Situation

DAYS = 7
"""Today and the six days before, in the agent's time zone (seed: Siestai, "Daily files (7 days)")."""


def daily_logs(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """One candidate per day that has a log."""
    today = situation.agent.today(situation.now)
    logs = DailyLog.objects.filter(agent=situation.agent, date__range=(_days_before(today, DAYS - 1), today)).only(
        "id", "date", "content", "version"
    )
    candidates = [
        Candidate(ref=log.ref, section=section.key, text=log.content, date=log.date)
        for section in sections
        for log in logs
    ]
    return Gathered(candidates, DAYS * len(sections))


def _days_before(today: datetime.date, days: int) -> datetime.date:
    """The date so many days before, not earlier than the calendar begins."""
    return datetime.date.fromordinal(max(1, today.toordinal() - days))
