"""Where a candidate stands in its context: its place, what stands around it, and what its room went to. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from assembly.comparing import Place
from assembly.engine.profile import Section
from assembly.engine.types import Candidate, Decision, SectionResult
from assembly.recorded import Recorded

AROUND = 5
"""So many are shown above and below."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One of those that competed with it, and what became of it."""

    decision: Decision
    candidate: Candidate
    is_itself: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A candidate of a context, what became of it, and what beat it."""

    decision: Decision
    candidate: Candidate
    section: Section
    result: SectionResult
    """What became of its section."""
    around: tuple[Neighbour, ...]
    """Itself among those that rank around it, the best first; blocks among those of all sections, by score. Empty where
    it was not ranked, or has no rival."""
    above: int
    """How many rank above the first of those around it."""
    below: int
    """How many rank below the last of those around it."""
    cap: int | None
    """Of its section, in tokens; None: what remains of the budget."""
    used_before: int
    """Tokens that were used when its section's turn came; of blocks, when that of the first of them came."""


def standing(told: Recorded, place: Place) -> Standing:
    """The standing of the candidate in that place."""
    by_place = {(one.section, one.ref): (one, candidate) for one, candidate in told.decided}
    decision, candidate = by_place[place]
    section = next(one for one in told.inputs.profile.sections if one.key == place[0])
    result = next(one for one in told.sections if one.key == place[0])
    rivals = _rivals(told, section) if decision.rank is not None else []
    if len(rivals) == 1:
        rivals = []
    at = next((at for at, rival in enumerate(rivals) if rival.decision is decision), 0)
    first, last = max(0, at - AROUND), min(len(rivals), at + AROUND + 1)
    return Standing(
        decision=decision,
        candidate=candidate,
        section=section,
        result=result,
        around=tuple(_marked(rivals[first:last], decision)),
        above=first,
        below=len(rivals) - last,
        cap=section.cap_within(told.inputs.request.budget),
        used_before=_used_before(told, section),
    )


def _rivals(told: Recorded, section: Section) -> list[Neighbour]:
    """All that were ranked where it was, the best first."""
    keys = _keys(told, section)
    ranked = [Neighbour(*both) for both in told.decided if both[0].section in keys and both[0].rank is not None]
    if section.shape == "blocks":
        return sorted(ranked, key=lambda one: (-(one.decision.score or 0.0), one.decision.ref))
    return sorted(ranked, key=lambda one: one.decision.rank or 0)


def _keys(told: Recorded, section: Section) -> set[str]:
    """The sections whose items compete with those of this one."""
    if section.shape != "blocks":
        return {section.key}
    return {one.key for one in told.inputs.profile.sections if one.shape == "blocks"}


def _marked(rivals: Sequence[Neighbour], decision: Decision) -> list[Neighbour]:
    return [Neighbour(one.decision, one.candidate, is_itself=one.decision is decision) for one in rivals]


def _used_before(told: Recorded, section: Section) -> int:
    keys = _keys(told, section)
    used = 0
    for result in told.sections:
        if result.key in keys:
            break
        used += result.tokens
    return used
