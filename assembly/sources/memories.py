"""These sources return memories of the agent and of its team: found by the topic, the most recent, and the pinned.

In a section of blocks, memories compete with other blocks, so they have the measures that a profile weighs.
"""

import datetime
from collections.abc import Sequence
from dataclasses import fields
from functools import partial

from msgspec import structs

from agents.models import Agent
from assembly.engine.linear_ranker import Ranker, block_shares, relevance_of, score_of
from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import (
    GatherContext,
    SourceQuery,
    SourceResult,
    candidates_for,
    has_blocks,
    memory_labels,
    origin_of,
)
from config.db.statements import Rows, Statement
from memories.search.features import Weights
from memories.search.memory_search import RECENT_SQL, FoundMemory, find_memories, found_memory, search_memories
from memories.search.owner_partition import within
from memories.search.question import parse_question
from memories.services import MAX_PINNED, Owner

LIMIT = 20
"""The number of memories that are found: more than most sections include, so that the record shows those that nearly
were.
"""
NEAREST_LIMIT = 5
"""The number of most recent memories beyond those that a section includes.

It is small, because they say little without a topic.
"""
MAX_MEMORIES = 60
"""The number of memories for a section without a limit of its own: about 2,000 tokens of conversation."""


def agent_memories(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the agent's own memories."""
    return _memories(gather_context.agent, gather_context, sections)


def team_memories(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the memories of the current team; none without a team."""
    return _memories(gather_context.team, gather_context, sections)


def agent_memories_query(gather_context: GatherContext, sections: Sequence[Section]) -> SourceQuery | None:
    """Return the statement that reads the agent's most recent memories; None if there is a topic to search for, and for
    blocks.
    """
    return None if has_blocks(sections) else _recent_query(gather_context.agent, gather_context, sections)


def team_memories_query(gather_context: GatherContext, sections: Sequence[Section]) -> SourceQuery | None:
    """Return the statement that reads the team's most recent memories; None if there is a topic to search for, and for
    blocks.
    """
    return None if has_blocks(sections) else _recent_query(gather_context.team, gather_context, sections)


def _recent_query(
    owner: Owner | None, gather_context: GatherContext, sections: Sequence[Section]
) -> SourceQuery | None:
    if owner is None:
        return SourceQuery.empty(LIMIT)
    if gather_context.vector is not None or (gather_context.ranker is not None and gather_context.topic.strip()):
        return None
    limit = gather_context.raised(
        max(section.top_k + NEAREST_LIMIT if section.top_k else LIMIT for section in sections)
    )

    def gathered(rows: Rows) -> SourceResult:
        candidate = partial(_candidate, gather_context)
        memories = [found_memory(row) for row in rows]
        return candidates_for(sections, memories, limit + MAX_PINNED, candidate, full=limit)

    loaders = {"at": datetime.datetime.fromisoformat}
    clearance = gather_context.clearances.of("agent" if isinstance(owner, Agent) else "team")
    statement = RECENT_SQL.format(owner="agent_id" if isinstance(owner, Agent) else "team_id", **within())
    return SourceQuery(
        Statement(statement, {"owner": owner.pk, "clearance": clearance, "recent": limit}, loaders), gathered
    )


def _memories(owner: Owner | None, gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    if reading := _recent_query(owner, gather_context, sections):
        return reading.alone()
    assert owner  # noqa: S101 - without one, the reading is of nothing
    # Whether the search found anything is for the engine to say, so the most recent must be at hand as well.
    wanted = max(_most(section) for section in sections) if gather_context.ranker else LIMIT
    best = gather_context.row_limit(max(LIMIT, wanted), sections)
    recent = gather_context.raised(max(_most_recent(section) for section in sections))
    found = _find_memories(owner, gather_context, best, recent)
    limit, candidate = best + recent + MAX_PINNED, partial(_candidate, gather_context)
    return candidates_for(sections, found, limit, candidate, full=best)


def _most(section: Section) -> int:
    """Return how many found memories the section may include; of blocks, those that others do not outdo."""
    return section.top_k or (LIMIT if section.shape == "blocks" else MAX_MEMORIES)


def _most_recent(section: Section) -> int:
    """Return how many recent memories the section needs besides; blocks are never filled with what is recent alone."""
    return NEAREST_LIMIT if section.shape == "blocks" else section.top_k or LIMIT


def _find_memories(owner: Owner, gather_context: GatherContext, best: int, recent: int) -> Sequence[FoundMemory]:
    """Return the best memories by the profile's ranker, else the most similar ones; and the most recent."""
    agent, team, vector = gather_context.agent, gather_context.team, gather_context.vector
    weights = search_weights(gather_context.ranker) if gather_context.ranker else None
    today = agent.today(gather_context.now)

    def search() -> Sequence[FoundMemory]:
        if weights is None:
            return find_memories(owner=owner, vector=vector, similar=best, recent=recent)
        question = parse_question(gather_context.topic, vector, today)
        return search_memories(owner=owner, question=question, weights=weights, limit=best, recent=recent)

    if gather_context.reuse is None:
        return search()
    owners = agent.pk, team.pk if team else None, owner.pk
    asked = vector and (vector.text, vector.space), today, repr(weights), best, recent
    return gather_context.reuse.found((owners, asked, _search_facts(gather_context)), search)


_NOT_SEARCHED_BY = {
    *("agent", "team", "now", "vector", "ranker", "reuse", "signals", "mentioned", "task", "rules", "unreadable_rules"),
    *("session", "history", "additional_context", "sender_origin", "entities", "filters", "depth_limit"),
    *("scope_limits", "nearby", "limit_factor", "budget", "tokenizer"),
}


def _search_facts(gather_context: GatherContext) -> tuple[str, ...]:
    """Return the fields of the context on which a search may depend: a field that is added later is one of them, unless
    it is named as one that is not.
    """
    names = (field.name for field in fields(gather_context))
    return tuple(repr(getattr(gather_context, name)) for name in names if name not in _NOT_SEARCHED_BY)


def search_weights(ranker: Ranker) -> Weights:
    """Return the ranker's weights in the form that the search needs."""
    return Weights(dict(ranker.weights), dict(ranker.brief_weights) or None)


def _candidate(gather_context: GatherContext, section: Section, memory: FoundMemory) -> Candidate:
    candidate = Candidate(
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
        origin=origin_of(memory),
        sensitivity=memory.sensitivity,
    )
    return _scored_block(gather_context, candidate, memory) if section.shape == "blocks" else candidate


def _scored_block(gather_context: GatherContext, candidate: Candidate, memory: FoundMemory) -> Candidate:
    """Return the memory with the measures of a block; the features of the profile's ranker explain them.

    The score is the relevance: the ranker's score, mapped to 0 to 1, or without a ranker the similarity. Without a
    topic, the relevance is 0, and the score is the recency.
    """
    ranker, recency = gather_context.ranker, recency_score(gather_context.age(memory.occurred_at))
    is_searched = bool(memory.measures) or memory.similarity is not None
    if ranker and memory.measures:
        relevance = relevance_of(score_of(block_shares(ranker, candidate)))
    else:
        relevance = memory.similarity or 0.0
    stored = {"salience": memory.salience, "credibility": memory.credibility}
    measured = candidate_measures(recency=recency, relevance=relevance, **{**memory.measures, **stored})
    return structs.replace(candidate, score=measured["relevance"] if is_searched else recency, measures=measured)
