"""What tools returned last, whole, so that the agent need not call them again."""

from collections.abc import Sequence

from assembly.engine.formatting import format_tool_result
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered, Situation, offered
from assembly.sources.events import event_candidate, event_query
from memories.models import Event, EventType
from memories.recent_events import newest_events

LIMIT = 10
TYPES = frozenset({str(EventType.TOOL_RESULT)})


def tool_results(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The newest tool results of the session, or of the agent without one."""
    limit = situation.raised(LIMIT)

    def candidate(section: Section, event: Event) -> Candidate:
        text = format_tool_result(
            tool=event.tool,
            content=event.content,
            size=event.size,
            outcome=event.outcome,
            occurred_at=event.occurred_at,
        )
        return event_candidate(situation, section, event, text)

    return offered(sections, newest_events(event_query(situation, TYPES), limit=limit), limit, candidate)
