"""Where a candidate stands, and a way that might bring it in. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

from assembly.comparing import SHORTENED
from assembly.engine.profile import Section
from assembly.engine.ranking import Ranker
from assembly.engine.types import Assembled, Candidate, Decision
from assembly.recorded import Inputs
from assembly.whynot.changes import Change, Kind, found_in


@dataclass(frozen=True, slots=True)
class Way:
    """`at` gives the change for a number of steps, from 1 to `most`; a good guess is tried first, 0 is none.

    `whole`: nothing short of all its words will do.
    """

    at: Callable[[int], Change]
    most: int = 1
    guess: int = 0
    whole: bool = False

    @property
    def kind(self) -> Kind:
        return self.at(1).kind


@dataclass(frozen=True, slots=True)
class Standpoint:
    """What became of a candidate in a context, and all that this came of."""

    inputs: Inputs
    assembled: Assembled
    decision: Decision
    section: Section
    candidate: Candidate

    @classmethod
    def of(cls, inputs: Inputs, assembled: Assembled, decision: Decision) -> "Standpoint":
        """Of what the decision is on, which is one of that context."""
        return cls(inputs, assembled, decision, *found_in(inputs, decision.section, decision.ref))

    def change(self, kind: Kind, value: float = 0, name: str = "") -> Change:
        """The change for this candidate."""
        return Change(kind, self.section.key, self.candidate.ref, value, name)

    @property
    def is_short(self) -> bool:
        """Whether it is in, but not with all its words."""
        return self.decision.code in SHORTENED

    @property
    def ranker(self) -> Ranker | None:
        """The ranker, where it is what the section goes by."""
        mine = (one for one in self.inputs.candidates if one.section == self.section.key)
        by_ranker = self.section.shape == "lines" and any(one.measures for one in mine)
        return self.inputs.profile.ranker if by_ranker else None

    @property
    def rivals(self) -> list[Decision]:
        """The decisions on all that competes with it, itself among them: blocks compete across their sections."""
        blocks = {one.key for one in self.inputs.profile.sections if one.shape == "blocks"}
        keys = blocks if self.section.key in blocks else {self.section.key}
        return [one for one in self.assembled.decisions if one.section in keys]
