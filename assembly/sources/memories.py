"""What the agent keeps, and what its team keeps: what bears on the topic, the most recent, and what is pinned."""

import datetime
from collections.abc import Sequence

from assembly.engine.linear_ranker import Ranker
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered, Reading, Situation, memory_labels, offered
from config.db.statements import Rows, Statement
from memories.search.features import Weights
from memories.search.memory_search import FoundMemory, find_memories, recent_sql, search_memories
from memories.search.question import parse_question
from memories.services import MAX_PINNED, Owner

LIMIT = 20
"""More than most sections take, so that the record can show what came close."""
CLOSE = 5
"""Of the most recent, so many more than a section takes: what came close says little where nothing is searched for."""
MOST = 60
"""For a section that takes as many as there is room for: 2,000 tokens of what somebody said."""


def agent_memories(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The agent's own memories."""
    return _memories(situation.agent, situation, sections)


def team_memories(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The memories of the team that the agent works in now; none without a team."""
    return _memories(situation.team, situation, sections)


def agent_memories_reading(situation: Situation, sections: Sequence[Section]) -> Reading | None:
    """Where nothing is searched for: the statement that reads the agent's most recent."""
    return _recent(situation.agent, situation, sections)


def team_memories_reading(situation: Situation, sections: Sequence[Section]) -> Reading | None:
    """Where nothing is searched for: the statement that reads the team's most recent."""
    return _recent(situation.team, situation, sections)


def _recent(owner: Owner | None, situation: Situation, sections: Sequence[Section]) -> Reading | None:
    if owner is None:
        return Reading.of_nothing(LIMIT)
    if situation.vector is not None or (situation.ranker is not None and situation.topic.strip()):
        return None
    limit = situation.raised(max(section.top_k + CLOSE if section.top_k else LIMIT for section in sections))

    def gathered(rows: Rows) -> Gathered:
        return offered(sections, [FoundMemory(*row) for row in rows], limit + MAX_PINNED, _candidate)

    loaders = {"at": datetime.datetime.fromisoformat}
    return Reading(Statement(recent_sql(owner), {"owner": owner.pk, "recent": limit}, loaders), gathered)


def _memories(owner: Owner | None, situation: Situation, sections: Sequence[Section]) -> Gathered:
    if reading := _recent(owner, situation, sections):
        return reading.alone()
    assert owner  # noqa: S101 - without one, the reading is of nothing
    # Whether the search found anything is for the engine to say, so the most recent must be at hand as well.
    wanted = max(section.top_k or MOST for section in sections) if situation.ranker else LIMIT
    best = situation.raised(max(LIMIT, wanted))
    recent = situation.raised(max(section.top_k or LIMIT for section in sections))
    return offered(sections, _found(owner, situation, best, recent), best + recent + MAX_PINNED, _candidate)


def _found(owner: Owner, situation: Situation, best: int, recent: int) -> list[FoundMemory]:
    """The best by the profile's ranker, else those nearest in meaning; and the most recent."""
    if situation.ranker is None:
        return find_memories(owner=owner, vector=situation.vector, similar=best, recent=recent)
    question = parse_question(situation.topic, situation.vector, situation.agent.today(situation.now))
    weights = weights_of(situation.ranker)
    return search_memories(owner=owner, question=question, weights=weights, limit=best, recent=recent)


def weights_of(ranker: Ranker) -> Weights:
    """Return the ranker's weights as the search takes them."""
    return Weights(dict(ranker.weights), dict(ranker.brief_weights) or None)


def _candidate(section: Section, memory: FoundMemory) -> Candidate:
    return Candidate(
        ref=memory.ref,
        section=section.key,
        text=memory.text,
        kind=memory.kind,
        occurred_at=memory.occurred_at,
        similarity=memory.similarity,
        superseded_by=f"memory:{memory.superseded_by}" if memory.superseded_by else None,
        retired=memory.retired_because or None,
        pinned=memory.pinned,
        measures=memory.measures,
        labels=memory_labels(memory.kind),
    )
