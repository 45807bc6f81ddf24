"""What is different between two contexts of one record, with the candidates that it is told of."""

from dataclasses import dataclass

from assembly.comparing import EFFECTS, Effect, changes_between
from assembly.engine.types import Assembled, Candidate, Decision
from assembly.recorded import Inputs

__all__ = ["EFFECTS", "Change", "Effect", "candidate_changes"]


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


def candidate_changes(was: Inputs, before: Assembled, would: Inputs, after: Assembled) -> tuple[Change, ...]:
    """What comes in, what goes, what moves and what else changes, in this order, each in the order of its context."""
    candidates = {(one.section, one.ref): one for inputs in (was, would) for one in inputs.candidates}
    return tuple(
        Change(change.effect, candidates[change.decision.section, change.decision.ref], change.before, change.after)
        for change in changes_between(before.decisions, after.decisions)
    )
