"""These sources return data of the request itself: the conversation so far, and additional context."""

from collections.abc import Mapping, Sequence

from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures
from assembly.engine.types import Candidate, Origin, is_trusted_origin
from assembly.sources.base import GatherContext, SourceResult

ORIGINS_OF_ROLES: Mapping[str, Origin] = {"user": "person", "assistant": "agent", "tool": "tool"}
"""The most trusted origins that turns of these roles may have; that of any other role is the agent."""


def turns(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return every turn in order; nothing is read from the database.

    A turn is trusted no more than who sent the request: only a person's request can have a person's turn.
    """
    sender = gather_context.sender_origin
    candidates = [
        Candidate(
            ref=f"turn:{place + 1}",
            section=section.key,
            text=turn.content,
            kind=turn.role,
            position=place,
            origin=_less_trusted(ORIGINS_OF_ROLES.get(turn.role, "agent"), sender),
            sensitivity=gather_context.sensitivity,
        )
        for section in sections
        for place, turn in enumerate(gather_context.history)
    ]
    return SourceResult(candidates, len(candidates))


def _less_trusted(origin: Origin, other: Origin) -> Origin:
    return origin if is_trusted_origin(other, origin) else other


ADDITIONAL_CONTEXT_REF = "request:additional_context"


def additional_context(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the additional context with the highest recency and relevance, because it is new and was requested."""
    if not gather_context.additional_context:
        return SourceResult((), len(sections))
    scores = candidate_measures(recency=1.0, relevance=1.0)
    candidates = [
        Candidate(
            ref=ADDITIONAL_CONTEXT_REF,
            section=section.key,
            text=gather_context.additional_context,
            kind="additional_context",
            occurred_at=gather_context.now,
            score=1.0,
            measures=scores,
            origin=gather_context.sender_origin,
            sensitivity=gather_context.sensitivity,
        )
        for section in sections
    ]
    return SourceResult(candidates, len(sections))
