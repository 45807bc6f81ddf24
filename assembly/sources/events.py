"""These sources return recent events, and the latest results of tools in full, so that the agent need not call a tool
again.
"""

from collections.abc import Sequence

from assembly.engine.item_formats import format_event, format_tool_result
from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures, event_relevance, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import GatherContext, SourceResult, candidates_for, origin_of
from memories.models import EventType
from memories.search import recent_events as events
from memories.search.recent_events import EventQuery, FoundEvent, newest_events


def event_query(gather_context: GatherContext, types: frozenset[str] | None) -> EventQuery:
    """Return a query for the events of these types in the session and task of the context, within the request's
    filters.
    """
    filters = gather_context.filters
    wanted = (
        filters.event_types
        if types is None
        else types & (types if filters.event_types is None else filters.event_types)
    )
    return EventQuery(
        agent=gather_context.agent,
        session=gather_context.session,
        task=gather_context.task,
        since=filters.since,
        types=wanted,
    )


def event_candidate(gather_context: GatherContext, section: Section, event: FoundEvent, text: str) -> Candidate:
    """Return the event as a candidate with its text and scores: its own score is its recency (seed: queryRecent)."""
    recency = recency_score(gather_context.age(event.occurred_at))
    type_match = event.type in gather_context.signals.event_types
    relevance = event_relevance(text, event.type, gather_context.signals)
    return Candidate(
        ref=event.ref,
        section=section.key,
        text=text,
        kind=event.type,
        occurred_at=event.occurred_at,
        score=recency,
        measures=candidate_measures(recency=recency, relevance=relevance, type_match=type_match),
        origin=origin_of(event),
        sensitivity=event.sensitivity,
    )


EVENT_LIMIT = 50
"""The number of newest events of the session, or of the agent without a session (seed: queryRecent)."""


def recent_events(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the newest events; with a task, those of the task and those without any task."""
    limit = gather_context.row_limit(EVENT_LIMIT, sections)
    highlights = gather_context.raised(events.HIGHLIGHTS)
    found = events.recent_events(event_query(gather_context, None), limit=limit, highlights=highlights)

    def candidate(section: Section, event: FoundEvent) -> Candidate:
        text = format_event(
            kind=event.type, content=event.content, outcome=event.outcome, occurred_at=event.occurred_at
        )
        return event_candidate(gather_context, section, event, text)

    most = limit * (2 if gather_context.task else 1) + events.OTHER_SESSIONS * highlights
    return candidates_for(sections, found, most, candidate, full=limit)


TOOL_RESULT_LIMIT = 10
TOOL_RESULT_TYPES = frozenset({str(EventType.TOOL_RESULT)})


def tool_results(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the newest tool results of the session, or of the agent without a session."""
    limit = gather_context.row_limit(TOOL_RESULT_LIMIT, sections)

    def candidate(section: Section, event: FoundEvent) -> Candidate:
        text = format_tool_result(
            tool=event.tool,
            content=event.content,
            size=event.size,
            outcome=event.outcome,
            occurred_at=event.occurred_at,
        )
        return event_candidate(gather_context, section, event, text)

    return candidates_for(
        sections, newest_events(event_query(gather_context, TOOL_RESULT_TYPES), limit=limit), limit, candidate
    )
