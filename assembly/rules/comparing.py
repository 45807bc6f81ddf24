"""What is different between two contexts that the engine made of nearly the same."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from assembly.engine.types import Assembled, Candidate, Decision
from assembly.replay import Inputs

Effect = Literal["in", "out", "moved", "changed"]
"""in: it comes in; out: it goes; moved: it stands in another section; changed: its score is another, or it stays in but
with another rank, or cut at another place."""

EFFECTS: tuple[Effect, ...] = get_args(Effect)
Place = tuple[str, str]
"""A section and a ref."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one candidate. None: it is not considered in that context at all."""

    effect: Effect
    candidate: Candidate
    before: Decision | None
    after: Decision | None

    @property
    def ref(self) -> str:
        """Names the version of the thing."""
        return self.candidate.ref


def changes_between(was: Inputs, before: Assembled, would: Inputs, after: Assembled) -> tuple[Change, ...]:
    """What comes in, what goes, what moves and what else changes, in this order, each in the order of its context."""
    candidates = {_place(candidate): candidate for inputs in (was, would) for candidate in inputs.candidates}
    old, new = _by_place(before.decisions), _by_place(after.decisions)
    came = {place[1]: place for place in new if _is_in(new, place) and not _is_in(old, place)}
    went = {place[1]: place for place in old if _is_in(old, place) and not _is_in(new, place)}
    found = [_change(candidates, old, new, place, went) for place in came.values()]
    found += [
        Change("out", candidates[place], old[place], new.get(place)) for ref, place in went.items() if ref not in came
    ]
    found += [
        Change("changed", candidates[place], old[place], new[place])
        for place in new
        if place in old and _differs(old[place], new[place])
    ]
    return tuple(sorted(found, key=lambda change: EFFECTS.index(change.effect)))


def _change(
    candidates: dict[Place, Candidate],
    old: dict[Place, Decision],
    new: dict[Place, Decision],
    place: Place,
    went: dict[str, Place],
) -> Change:
    """Of what comes in: it may have stood elsewhere."""
    if place[1] in went:
        return Change("moved", candidates[place], old[went[place[1]]], new[place])
    return Change("in", candidates[place], old.get(place), new[place])


def _differs(old: Decision, new: Decision) -> bool:
    """Whether something else is different of what stays where it is, in or out."""
    if old.included != new.included:
        return False
    rescored = None not in {old.score, new.score} and old.score != new.score
    return rescored or (new.included and _standing(old) != _standing(new))


def _standing(decision: Decision) -> tuple[object, ...]:
    return decision.code, decision.rank, (decision.end or 0) - (decision.start or 0)


def _is_in(decisions: dict[Place, Decision], place: Place) -> bool:
    return place in decisions and decisions[place].included


def _by_place(decisions: Iterable[Decision]) -> dict[Place, Decision]:
    return {(decision.section, decision.ref): decision for decision in decisions}


def _place(candidate: Candidate) -> Place:
    return candidate.section, candidate.ref
