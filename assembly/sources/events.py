"""What the sources of events have in common: which events they ask for, and how an event is scored."""

from assembly.engine.formulas import event_relevance, measures, recency_score
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import Situation
from memories.models import Event
from memories.recent_events import EventQuery


def event_query(situation: Situation, types: frozenset[str] | None) -> EventQuery:
    """The events of these types in the situation's session and task, within its filters."""
    filters = situation.filters
    wanted = (
        filters.event_types
        if types is None
        else types & (types if filters.event_types is None else filters.event_types)
    )
    return EventQuery(
        agent=situation.agent, session=situation.session, task=situation.task, since=filters.since, types=wanted
    )


def event_candidate(situation: Situation, section: Section, event: Event, text: str) -> Candidate:
    """The event, worded, with its scores: its own is its recency (seed: queryRecent)."""
    recency = recency_score(situation.age(event.occurred_at))
    type_match = event.type in situation.signals.event_types
    relevance = event_relevance(text, event.type, situation.signals)
    return Candidate(
        ref=event.ref,
        section=section.key,
        text=text,
        kind=event.type,
        occurred_at=event.occurred_at,
        score=recency,
        measures=measures(recency=recency, relevance=relevance, type_match=type_match),
    )
