"""What the caller itself adds to the context."""

from collections.abc import Sequence

from assembly.engine.formulas import measures
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered, Situation

REF = "request:additional_context"


def additional_context(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The text of the request, new and asked for: nothing is as recent or as relevant."""
    if not situation.additional_context:
        return Gathered((), len(sections))
    scores = measures(recency=1.0, relevance=1.0)
    candidates = [
        Candidate(
            ref=REF,
            section=section.key,
            text=situation.additional_context,
            kind="additional_context",
            occurred_at=situation.now,
            score=1.0,
            measures=scores,
        )
        for section in sections
    ]
    return Gathered(candidates, len(sections))
