"""A reconciliation is a known conflict of two texts, as the engine takes it: by value, recorded with the request.

The strategies, their confidences and their sentences are those of ConflictResolution in the seed "Memory Layer".
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct, structs

Strategy = Literal["precedence", "merge", "flag", "user_choice"]
Resolution = Literal["", "left", "right", "both", "edited"]
Side = Literal["left", "right"]
Span = tuple[int, int]
"""The positions of the first character of a part of a text, and after its last one."""
SIDES: tuple[Side, ...] = get_args(Side)

MINOR_SEVERITY = 0.3
"""Conflicts of less severity are minor (seed: `severity < 0.3`)."""
CONFIDENCES: Mapping[Strategy, float] = {"precedence": 0.8, "merge": 1.0, "flag": 0.6, "user_choice": 1.0}
MINOR_REASONING = "Minor conflicts, use source precedence"
MAJOR_REASONING = "Major conflicts require human review"
NONE_REASONING = "No conflicts detected"
ABSENT_REASONING = "No conflicts between included items"
UNCHECKED_REASONING = "Conflicts could not be checked"
DUPLICATE = "duplicate"
"""The kind of a reconciliation of two texts that say the same."""


class Reconciliation(Struct, frozen=True):
    """A conflict between two candidates, with what a person decided.

    `left` and `right` are refs of candidates, with the version. `severity` is 0 to 1, before the profile's sensitivity.
    `decided_at` is in ISO 8601. `left_span` and `right_span` say where in the candidates' texts the statements are that
    were compared; empty: not known.
    """

    id: str
    left: str
    right: str
    kind: str
    severity: float
    similarity: float
    cue: str = ""
    resolution: Resolution = ""
    decided_by: str = ""
    decided_at: str = ""
    left_span: Span | tuple[()] = ()
    right_span: Span | tuple[()] = ()

    @property
    def is_duplicate(self) -> bool:
        """Whether both texts say the same."""
        return self.kind == DUPLICATE

    def strategy(self, sensitivity: float = 1.0) -> Strategy:
        """Return how a context handles the conflict; the sensitivity multiplies the severity."""
        if self.resolution:
            return "user_choice"
        if self.is_duplicate:
            return "merge"
        return "precedence" if self.severity * sensitivity < MINOR_SEVERITY else "flag"

    def reasoning(self, strategy: Strategy) -> str:
        """Return the sentence that explains the strategy."""
        if strategy == "user_choice":
            return f"{self.decided_by or 'Somebody'} decided on {self.decided_at[:10]}"
        sentences: Mapping[Strategy, str] = {
            "precedence": MINOR_REASONING,
            "flag": MAJOR_REASONING,
            "merge": NONE_REASONING,
        }
        return sentences[strategy]

    def between(self, left: str, right: str) -> "Reconciliation":
        """Return the conflict as one between these items; where these have the statement is not known."""
        left_span = self.left_span if left == self.left else ()
        right_span = self.right_span if right == self.right else ()
        return structs.replace(self, left=left, right=right, left_span=left_span, right_span=right_span)

    def to_dict(self) -> dict[str, Any]:
        """Return the reconciliation as JSON-safe data, without what is empty."""
        return {name: value for name, value in structs.asdict(self).items() if value not in ("", ())}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Reconciliation":
        """Return the reconciliation that to_dict described."""
        numbers = {name: float(data[name]) for name in ("severity", "similarity")}
        spans = {name: tuple(data.get(name, ())) for name in ("left_span", "right_span")}
        return cls(**{**data, **numbers, **spans})


_GRAVEST: tuple[Strategy, ...] = ("precedence", "user_choice")


class ConflictOutcome(Struct, frozen=True):
    """How a context handled its conflicts (seed "Memory Layer": ConflictResolution)."""

    strategy: Strategy
    confidence: float
    reasoning: str


UNCHECKED = ConflictOutcome("flag", CONFIDENCES["flag"], UNCHECKED_REASONING)
"""The answer where conflicts could not be read, or reconciling failed."""


def outcome_of(
    reconciliations: Sequence[Reconciliation], flagged: Collection[Reconciliation], sensitivity: float = 1.0
) -> ConflictOutcome:
    """Return one answer for all conflicts of a context: that of the gravest.

    `flagged` are those of which the context warns. A major one of which it does not warn has no side in the context,
    or its other side was excluded for another reason.
    """
    if flagged:
        return ConflictOutcome("flag", CONFIDENCES["flag"], MAJOR_REASONING)
    by_strategy = {one.strategy(sensitivity): one for one in reconciliations}
    for strategy in _GRAVEST:
        if one := by_strategy.get(strategy):
            return ConflictOutcome(strategy, CONFIDENCES[strategy], one.reasoning(strategy))
    return ConflictOutcome("merge", CONFIDENCES["merge"], ABSENT_REASONING if "flag" in by_strategy else NONE_REASONING)
