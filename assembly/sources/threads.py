"""This source returns the active threads: topics that continue over several sessions."""

from collections.abc import Sequence

from assembly.engine.item_formats import format_thread
from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures, keyword_share, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import GatherContext, SourceResult, candidates_for, origin_of
from memories.models import Thread, ThreadStatus

LIMIT = 20


def threads(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return active threads, the last updated first."""
    limit = gather_context.row_limit(LIMIT, sections)
    active = Thread.objects.filter(agent=gather_context.agent, status=ThreadStatus.ACTIVE).order_by("-touched_at", "id")
    return candidates_for(
        sections, active[:limit], limit, lambda section, thread: _candidate(gather_context, section, thread)
    )


def _candidate(gather_context: GatherContext, section: Section, thread: Thread) -> Candidate:
    text = format_thread(title=thread.title, status=thread.status, summary=thread.summary)
    recency = recency_score(gather_context.age(thread.touched_at))
    return Candidate(
        ref=thread.ref,
        section=section.key,
        text=text,
        kind="thread",
        occurred_at=thread.touched_at,
        score=recency,
        measures=candidate_measures(recency=recency, relevance=keyword_share(text, gather_context.signals.keywords)),
        origin=origin_of(thread),
        sensitivity=thread.sensitivity,
    )
