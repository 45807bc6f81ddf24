"""This source returns the active threads: topics that continue over several sessions."""

import datetime
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from assembly.engine.item_formats import format_thread
from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures, keyword_share, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import GatherContext, SourceResult, candidates_for, origin_of
from config.db.statements import Statement, run_statement
from config.keys.sealed_texts import open_texts
from memories.models import Thread, ThreadStatus

LIMIT = 20

ACTIVE_SQL = """
SELECT id, version, title, status, summary, touched_at, origin, sensitivity FROM threads
WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s AND status = %(status)s
ORDER BY touched_at DESC, id LIMIT %(limit)s
"""


class _ThreadRow(NamedTuple):
    """A row of ACTIVE_SQL."""

    id: UUID
    version: int
    title: str
    status: str
    summary: str
    touched_at: datetime.datetime
    origin: str
    sensitivity: int


def threads(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return active threads, the last updated first."""
    limit = gather_context.row_limit(LIMIT, sections)
    parameters = {
        "agent": gather_context.agent.id,
        "clearance": gather_context.clearances.agent,
        "status": ThreadStatus.ACTIVE.value,
        "limit": limit,
    }
    active = [_ThreadRow(*row) for row in run_statement(Statement(ACTIVE_SQL, parameters))]
    return candidates_for(sections, active, limit, lambda section, thread: _candidate(gather_context, section, thread))


def _candidate(gather_context: GatherContext, section: Section, thread: _ThreadRow) -> Candidate:
    title, summary = open_texts([thread.title, thread.summary])
    text = format_thread(title=title, status=thread.status, summary=summary)
    recency = recency_score(gather_context.age(thread.touched_at))
    return Candidate(
        ref=Thread.ref_of(thread.id, thread.version),
        section=section.key,
        text=text,
        kind="thread",
        occurred_at=thread.touched_at,
        score=recency,
        measures=candidate_measures(recency=recency, relevance=keyword_share(text, gather_context.signals.keywords)),
        origin=origin_of(thread),
        sensitivity=thread.sensitivity,
    )
