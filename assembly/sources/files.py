"""These queries read whole Markdown files of the agent and of its team, and the agent's daily logs of the last week.

A section takes the file that it is named after: `identity` is IDENTITY, `goals` is GOALS. A section of blocks has
passages instead, for which `assembly.sources.file_passages` searches.
"""

import datetime
from collections.abc import Sequence
from uuid import UUID

from agents.models import AgentFile, DailyLog
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import MAX_BYTES, GatherContext, SourceQuery, SourceResult, has_blocks, path_labels
from config.db.sealed_columns import written_octets_sql
from config.db.statements import Rows, Statement
from config.keys.sealed_texts import open_text
from teams.models import TeamFile

FILES_SQL = """
SELECT id, version, file_key, content, origin, sensitivity FROM {table}
WHERE {owner} = %(owner)s AND sensitivity <= %(clearance)s AND file_key = ANY(string_to_array(%(keys)s, ' '))
"""


def files_query(
    model: type[AgentFile] | type[TeamFile], column: str, owner: UUID, clearance: int, sections: Sequence[Section]
) -> SourceQuery:
    """Return the query for one candidate per section: the file of the owner whose key is the section's."""
    section_of = {section.key.upper(): section.key for section in sections}
    sql = FILES_SQL.format(table=model._meta.db_table, owner=column)  # noqa: SLF001 - Django's documented introspection

    def gathered(rows: Rows) -> SourceResult:
        candidates = [
            Candidate(
                ref=model.ref_of(file_id, version),
                section=section_of[key],
                text=open_text(content),
                kind=key,
                labels=path_labels(key),
                origin=origin,
                sensitivity=sensitivity,
            )
            for file_id, version, key, content, origin, sensitivity in rows
        ]
        return SourceResult(candidates, len(section_of))

    return SourceQuery(Statement(sql, {"owner": owner, "clearance": clearance, "keys": " ".join(section_of)}), gathered)


def agent_files_query(gather_context: GatherContext, sections: Sequence[Section]) -> SourceQuery | None:
    """Return the statement that reads the agent's files that the sections are named after; None if any has passages."""
    if has_blocks(sections):
        return None
    return files_query(AgentFile, "agent_id", gather_context.agent.id, gather_context.clearances.agent, sections)


def team_files_query(gather_context: GatherContext, sections: Sequence[Section]) -> SourceQuery | None:
    """Return the statement that reads the team's files that the sections are named after; None if any has passages.

    Without a team, nothing is read.
    """
    if has_blocks(sections):
        return None
    if gather_context.team is None:
        return SourceQuery.empty(len(sections))
    return files_query(TeamFile, "team_id", gather_context.team.id, gather_context.clearances.team, sections)


DAYS = 7
"""The number of days whose logs are read: today and the previous six, in the agent's time zone (seed: Siestai, "Daily
files (7 days)").
"""


LOGS_SQL = f"""
SELECT id, version, date, content, origin, sensitivity FROM (
    SELECT *, sum(octets) OVER (ORDER BY date DESC) - octets AS newer
    FROM daily_logs, LATERAL (SELECT {written_octets_sql("content")}) AS measured (octets)
    WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s AND date BETWEEN %(first)s AND %(last)s
) AS logs WHERE newer < %(most)s
"""  # noqa: S608 - only the constant above is put in


def daily_logs_query(gather_context: GatherContext, sections: Sequence[Section]) -> SourceQuery | None:
    """Return the statement that reads the logs of the last week, as long as all newer ones are less than MAX_BYTES.

    Returns None if a section has passages.
    """
    if has_blocks(sections):
        return None
    first, last = log_days(gather_context)
    clearance = gather_context.clearances.agent
    days = {"first": first, "last": last}

    def gathered(rows: Rows) -> SourceResult:
        candidates = [
            Candidate(
                ref=DailyLog.ref_of(log_id, version),
                section=section.key,
                text=open_text(content),
                date=date,
                origin=origin,
                sensitivity=sensitivity,
            )
            for section in sections
            for log_id, version, date, content, origin, sensitivity in rows
        ]
        return SourceResult(candidates, DAYS * len(sections))

    loaders = {"date": datetime.date.fromisoformat}
    return SourceQuery(
        Statement(
            LOGS_SQL, {"agent": gather_context.agent.id, "clearance": clearance, "most": MAX_BYTES, **days}, loaders
        ),
        gathered,
    )


def log_days(gather_context: GatherContext) -> tuple[datetime.date, datetime.date]:
    """Return the first and the last day whose logs are read."""
    today = gather_context.agent.today(gather_context.now)
    return _days_before(today, DAYS - 1), today


def _days_before(today: datetime.date, days: int) -> datetime.date:
    """Return the date this many days earlier, but not before the first date of the calendar."""
    return datetime.date.fromordinal(max(1, today.toordinal() - days))
