"""This module counts the items that a context does not read because they are above its clearance.

A source's count is that of all such items of its owner, whatever the topic. Only numbers leave the database.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.conf import settings

from agents.models import Agent
from config.db.distribution.distributed_tables import DISTRIBUTED_BY_NAME
from config.db.statements import Rows, Statement
from memories.search.owner_partition import within_partition_of
from teams.models import Team
from teams.sensitivity import DEFAULT_LEVEL, Clearances, OwnerKind


class _Counted(NamedTuple):
    """The items of a table that belong to an owner, and the sources that read them."""

    table: str
    owner: OwnerKind
    sources: tuple[str, ...]


COUNTED = (
    _Counted("agent_md_files", "agent", ("agent_files",)),
    _Counted("team_md_files", "team", ("team_files",)),
    _Counted("organisation_files", "organisation", ("organisation_files",)),
    _Counted("daily_logs", "agent", ("daily_logs",)),
    _Counted("memories", "agent", ("agent_memories",)),
    _Counted("memories", "team", ("team_memories",)),
    _Counted("events", "agent", ("recent_events", "tool_results")),
    _Counted("documents", "agent", ("semantic_content", "open_files", "project_structure")),
    _Counted("entities", "agent", ("entities",)),
    _Counted("relations", "agent", ("relations",)),
    _Counted("patterns", "agent", ("patterns",)),
    _Counted("task_frames", "agent", ("task_stack",)),
    _Counted("tools", "agent", ("tools",)),
    _Counted("threads", "agent", ("threads",)),
)
OWNER_SQL: Mapping[OwnerKind, str] = {
    "agent": "agent_id = %(agent)s AND ",
    "team": "team_id = %(team)s AND ",
    "organisation": "",
}


def counted_together() -> list[Sequence[_Counted]]:
    """Return the entries of COUNTED by the statements that count them: all by one, unless tables are distributed.

    Then the rows of the agent, those of the team, and those of the coordinator may be on three servers.
    """
    if not settings.DATABASE_DISTRIBUTED:
        return [COUNTED]
    by_place: dict[OwnerKind | None, list[_Counted]] = {}
    for one in COUNTED:
        by_place.setdefault(one.owner if one.table in DISTRIBUTED_BY_NAME else None, []).append(one)
    return [*by_place.values()]


def withheld_statement(
    counted: Sequence[_Counted], agent: Agent, team: Team | None, clearances: Clearances
) -> Statement:
    """Return the statement that counts the items of each of these entries; `withheld_by_source` takes its rows."""
    counts = (
        f"(SELECT count(*) FROM {one.table} WHERE {OWNER_SQL[one.owner]}{_above(one.owner, clearances)}{_within(one)})"  # noqa: S608
        for one in counted
    )
    levels = {f"{kind}_clearance": clearances.of(kind) for kind in OWNER_SQL}
    asked = {"agent": agent.id, "team": team.id if team else None, **levels}
    return Statement(f"SELECT ARRAY[{', '.join(counts)}]::integer[] AS withheld", asked)


def withheld_count(reports: Iterable[Mapping[str, Any]]) -> int:
    """Return the number of withheld items of recorded reports; what several sources read counts once."""
    counts = {report["name"]: report.get("withheld", 0) for report in reports}
    return sum(max(counts.get(source, 0) for source in one.sources) for one in COUNTED)


def _within(counted: _Counted) -> str:
    return within_partition_of(counted.owner) if counted.table == "memories" else ""


def _above(owner: OwnerKind, clearances: Clearances) -> str:
    """Return the condition of rows above the clearance; the index of sensitive rows has those above internal."""
    above = f"sensitivity > %({owner}_clearance)s"
    return above if clearances.of(owner) < DEFAULT_LEVEL else f"sensitivity > {int(DEFAULT_LEVEL)} AND {above}"


def withheld_by_source(counted: Sequence[_Counted], rows: Rows) -> dict[str, int]:
    """Return the counts of these entries by source; sources of which nothing is withheld are left out."""
    ((counts,),) = rows
    return {source: count for one, count in zip(counted, counts, strict=True) if count for source in one.sources}
