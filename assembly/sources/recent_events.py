"""What happened lately: in this session, for the current task, and the highlights of the last other sessions."""

from collections.abc import Sequence

from assembly.engine.formatting import format_event
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered, Situation, offered
from assembly.sources.events import event_candidate, event_query
from memories import recent_events as events
from memories.models import Event

LIMIT = 50
"""Newest events of the session, or of the agent without one (seed: queryRecent)."""


def recent_events(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The newest events; with a task, those of the task and those of none alone."""
    limit, highlights = situation.raised(LIMIT), situation.raised(events.HIGHLIGHTS)
    found = events.recent_events(event_query(situation, None), limit=limit, highlights=highlights)

    def candidate(section: Section, event: Event) -> Candidate:
        text = format_event(
            kind=event.type, content=event.content, outcome=event.outcome, occurred_at=event.occurred_at
        )
        return event_candidate(situation, section, event, text)

    most = limit * (2 if situation.task else 1) + events.OTHER_SESSIONS * highlights
    return offered(sections, found, most, candidate)
