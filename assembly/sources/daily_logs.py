"""This source returns the agent's daily logs of the last week."""

import datetime
from collections.abc import Sequence

from agents.models import DailyLog
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import MAX_BYTES, GatherContext, SourceQuery, SourceResult
from config.db.statements import Rows, Statement

DAYS = 7
"""Today and the six days before, in the agent's time zone (seed: Siestai, "Daily files (7 days)")."""


LOGS_SQL = """
SELECT id, version, date, content FROM (
    SELECT *, sum(octet_length(content)) OVER (ORDER BY date DESC) - octet_length(content) AS newer
    FROM daily_logs WHERE agent_id = %(agent)s AND date BETWEEN %(first)s AND %(last)s
) AS logs WHERE newer < %(most)s
"""


def daily_logs(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """One candidate per day that has a log, as long as all newer ones are less than MOST_BYTES."""
    return daily_logs_query(gather_context, sections).alone()


def daily_logs_query(gather_context: GatherContext, sections: Sequence[Section]) -> SourceQuery:
    """The statement that reads them."""
    first, last = log_days(gather_context)
    days = {"first": first, "last": last}

    def gathered(rows: Rows) -> SourceResult:
        candidates = [
            Candidate(ref=DailyLog.ref_of(log_id, version), section=section.key, text=content, date=date)
            for section in sections
            for log_id, version, date, content in rows
        ]
        return SourceResult(candidates, DAYS * len(sections))

    loaders = {"date": datetime.date.fromisoformat}
    return SourceQuery(
        Statement(LOGS_SQL, {"agent": gather_context.agent.id, "most": MAX_BYTES, **days}, loaders), gathered
    )


def log_days(gather_context: GatherContext) -> tuple[datetime.date, datetime.date]:
    """The first and the last day of those whose logs are read."""
    today = gather_context.agent.today(gather_context.now)
    return _days_before(today, DAYS - 1), today


def _days_before(today: datetime.date, days: int) -> datetime.date:
    """The date so many days before, not earlier than the calendar begins."""
    return datetime.date.fromordinal(max(1, today.toordinal() - days))
