"""What the agent keeps, and what its team keeps: the nearest to the topic together with the most recent."""

from collections.abc import Sequence

from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered, Situation, offered
from assembly.sources.labels import memory_labels
from memories.search import FoundMemory, memories_find
from memories.services import Owner

LIMIT = 20
"""More than any section takes, so that the record can show what came close."""


def agent_memories(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The agent's own memories."""
    return _memories(situation.agent, situation, sections)


def team_memories(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The memories of the team that the agent works in now; none without a team."""
    return _memories(situation.team, situation, sections)


def _memories(owner: Owner | None, situation: Situation, sections: Sequence[Section]) -> Gathered:
    if owner is None:
        return Gathered((), LIMIT)
    # Whether the search found anything is for the engine to say, so the most recent must be at hand as well.
    similar = situation.raised(LIMIT)
    recent = (
        similar if situation.vector is None else situation.raised(max(section.top_k or LIMIT for section in sections))
    )
    found = memories_find(owner=owner, vector=situation.vector, similar=similar, recent=recent)
    limit = recent if situation.vector is None else similar + recent
    return offered(sections, found, limit, _candidate)


def _candidate(section: Section, memory: FoundMemory) -> Candidate:
    return Candidate(
        ref=memory.ref,
        section=section.key,
        text=memory.text,
        kind=memory.kind,
        occurred_at=memory.occurred_at,
        similarity=memory.similarity,
        superseded_by=f"memory:{memory.superseded_by}" if memory.superseded_by else None,
        labels=memory_labels(memory.kind),
    )
