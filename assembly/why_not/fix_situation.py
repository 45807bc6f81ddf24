"""A fix is a change that might include an item; its situation is the decision on the item with the inputs."""

from collections.abc import Callable
from dataclasses import dataclass

from assembly.engine.diff import SHORTENED_CODES
from assembly.engine.linear_ranker import Ranker
from assembly.engine.profile import Section
from assembly.engine.types import Candidate, Decision, EngineResult
from assembly.records.reader import EngineInput
from assembly.why_not.changes import ChangeKind, RemedyChange, find_candidate

STEPS_PER_SCORE_UNIT = 10_000
"""The number of steps per unit of a score."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A possible fix. `at` returns the change for a number of steps, from 1 to `most`; a good guess is tried first (0:
    none).

    `whole`: only a fix that includes the item in full counts.
    """

    at: Callable[[int], RemedyChange]
    most: int = 1
    guess: int = 0
    whole: bool = False

    @property
    def kind(self) -> ChangeKind:
        return self.at(1).kind


@dataclass(frozen=True, slots=True)
class FixSituation:
    """The decision on an item in a context, with the inputs and the result."""

    inputs: EngineInput
    assembled: EngineResult
    decision: Decision
    section: Section
    candidate: Candidate

    @classmethod
    def of(cls, inputs: EngineInput, assembled: EngineResult, decision: Decision) -> "FixSituation":
        """Return the situation of a decision of that context."""
        return cls(inputs, assembled, decision, *find_candidate(inputs, decision.section, decision.ref))

    def change(self, kind: ChangeKind, value: float = 0, name: str = "") -> RemedyChange:
        """Return a change for this item."""
        return RemedyChange(kind, self.section.key, self.candidate.ref, value, name)

    @property
    def is_short(self) -> bool:
        """Whether the item is included but truncated."""
        return self.decision.code in SHORTENED_CODES

    @property
    def ranker(self) -> Ranker | None:
        """The ranker of the section, if it uses one."""
        mine = (one for one in self.inputs.candidates if one.section == self.section.key)
        by_ranker = self.section.shape == "lines" and any(one.measures for one in mine)
        return self.inputs.profile.ranker if by_ranker else None

    @property
    def sections_of_candidates(self) -> list[Section]:
        """The section of each candidate."""
        sections = {section.key: section for section in self.inputs.profile.sections}
        return [sections[candidate.section] for candidate in self.inputs.candidates]

    @property
    def rivals(self) -> list[Decision]:
        """The decisions on all competing items and the item itself; blocks compete across sections."""
        blocks = {one.key for one in self.inputs.profile.sections if one.shape == "blocks"}
        keys = blocks if self.section.key in blocks else {self.section.key}
        return [one for one in self.assembled.decisions if one.section in keys]
