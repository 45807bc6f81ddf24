"""The conversation so far, as the request tells it."""

from collections.abc import Sequence

from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered, Situation


def turns(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """Every turn in its place; nothing is read."""
    candidates = [
        Candidate(ref=f"turn:{place + 1}", section=section.key, text=turn.content, kind=turn.role, position=place)
        for section in sections
        for place, turn in enumerate(situation.history)
    ]
    return Gathered(candidates, len(candidates))
