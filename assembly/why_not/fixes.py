"""This module lists the fixes that might include an item, by the reason for its exclusion, the most fitting first.

Some remove an obstacle (a rule, a filter, a successor, a duplicate), some improve the rank (more items per section, a
lower threshold, a higher score, a pin), some make the item fit (a larger budget or limit, a shorter text). The module
has no side effects.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from assembly.engine.codes import Code
from assembly.engine.diff import SHORTENED_CODES
from assembly.engine.linear_ranker import SHARE_PREFIX, Ranker
from assembly.engine.profile import Section
from assembly.engine.refs import Ref
from assembly.engine.rule_effects import is_selected, rule_effect
from assembly.engine.rules import Selector, SelectorKind
from assembly.engine.types import Candidate, Decision, EngineResult
from assembly.pipeline.request import MAX_TOKENS
from assembly.records.reader import EngineInput
from assembly.why_not.changes import (
    INCLUDABLE,
    ChangeKind,
    RemedyChange,
    excluding_rules,
    find_candidate,
    is_scored,
    may_be_included,
    rules_naming,
)


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
    def rivals(self) -> list[Decision]:
        """The decisions on all competing items and the item itself; blocks compete across sections."""
        blocks = {one.key for one in self.inputs.profile.sections if one.shape == "blocks"}
        keys = blocks if self.section.key in blocks else {self.section.key}
        return [one for one in self.assembled.decisions if one.section in keys]


def _without_rule(situation: FixSituation) -> Fix:
    rules = excluding_rules(situation.inputs.request.rules, situation.candidate, situation.section)
    labels = [rule.label for rule in rules]
    return Fix(lambda n: situation.change("without_rule", n, ", ".join(labels[:n])), len(rules), guess=1)


def _without_exclusion(situation: FixSituation) -> Fix:
    names = ", ".join(sorted(rules_naming(situation.inputs.request.exclude, situation.candidate.ref)))
    return Fix(lambda _: situation.change("without_exclusion", name=names))


def _not_superseded(situation: FixSituation) -> Fix:
    return Fix(lambda _: situation.change("not_superseded", name=situation.candidate.superseded_by or ""))


def _not_retired(situation: FixSituation) -> Fix:
    return Fix(lambda _: situation.change("not_archived"))


def _without_other(situation: FixSituation) -> Fix:
    return Fix(lambda _: situation.change("without_duplicate", name=str(situation.decision.detail["by"])))


def _text(situation: FixSituation) -> Fix:
    return Fix(lambda _: situation.change("text"))


_OBSTACLE_FIXES: Mapping[Code, Callable[[FixSituation], Fix]] = {
    Code.RULE_EXCLUDED: _without_rule,
    Code.FILTERED: _without_exclusion,
    Code.SUPERSEDED: _not_superseded,
    Code.EXPIRED: _not_retired,
    Code.DUPLICATE: _without_other,
    Code.EMPTY: _text,
}


def lift_obstacle(situation: FixSituation) -> Iterator[Fix]:
    """Yield the fix that removes the obstacle; none if its rank or its size is the reason."""
    if way := _OBSTACLE_FIXES.get(situation.decision.code):
        yield way(situation)


FACTORS = (1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.5, 3, 4, 5, 7.5, 10, 15, 20, 50, 100, 1_000)
"""The factors of boosts that are tried."""
STEPS_PER_SCORE_UNIT = 10_000
"""The number of steps per unit of a score."""
LABELS: tuple[SelectorKind, ...] = ("path", "kg_entity", "memory_kind", "tag")


def more_places(situation: FixSituation) -> Iterator[Fix]:
    top_k = situation.section.top_k or 0
    considered = sum(one.section == situation.section.key for one in situation.inputs.candidates)
    guess = (situation.decision.rank or 0) - top_k
    yield Fix(lambda n: situation.change("top_k", top_k + n), considered - top_k, guess)


def lower_threshold(situation: FixSituation) -> Iterator[Fix]:
    """Yield a lower similarity threshold, in steps down to the similarity of the item."""
    threshold, own = situation.inputs.profile.similarity_threshold, situation.candidate.similarity
    if own is None or own >= threshold:
        return
    start, end = math.ceil(threshold * STEPS_PER_SCORE_UNIT), math.floor(own * STEPS_PER_SCORE_UNIT)
    yield Fix(lambda n: situation.change("threshold", (start - n) / STEPS_PER_SCORE_UNIT), start - end, start - end)


def longer_reach(situation: FixSituation) -> Iterator[Fix]:
    """Yield a longer reach of the ranker, up to the score of the item."""
    ranker, least = situation.ranker, situation.decision.detail.get("threshold")
    if ranker is None or situation.decision.score is None or least is None:
        return
    start, missing = math.floor(ranker.reach * STEPS_PER_SCORE_UNIT), _steps(least - _unboosted(situation.decision))
    yield Fix(lambda n: situation.change("score_distance", (start + n) / STEPS_PER_SCORE_UNIT), missing + 2, missing)


def higher_score(situation: FixSituation) -> Iterator[Fix]:
    """Yield a higher score: at least the threshold, at most above all competitors. A score that was not measured starts
    at 0.
    """
    detail, factor = situation.decision.detail, _factor(situation)
    asked = detail.get("last_score", detail.get("threshold"))
    scores = [one.score for one in situation.rivals if one.score is not None]
    if not scores or not is_scored(situation.candidate, situation.section, situation.inputs.profile):
        return
    score, highest = situation.decision.score or 0.0, max(scores)
    most = _steps((max(highest, highest if asked is None else asked) - score) / factor) + 2
    guess = 0 if asked is None else _steps((asked - score) / factor)
    yield Fix(lambda n: situation.change("score", n / STEPS_PER_SCORE_UNIT), most, guess)


def higher_source_score(situation: FixSituation) -> Iterator[Fix]:
    """Yield a higher score from the source: blocks share the tokens of their section by the source's score, lines by
    their own.
    """
    if situation.section.shape != "blocks":
        yield from higher_score(situation)
        return
    own = situation.candidate.score or 0.0
    highest = max(one.score or 0.0 for one in situation.inputs.candidates if one.section == situation.section.key)
    yield Fix(
        lambda n: situation.change("source_score", n / STEPS_PER_SCORE_UNIT),
        _steps((highest - own) / _factor(situation)) + 2,
    )


def boost(situation: FixSituation) -> Iterator[Fix]:
    """Yield a rule that boosts the item and as few others as possible."""
    if situation.decision.score is not None and situation.section.shape in {"blocks", "lines"}:
        selector = _narrowest(situation)
        name = f"{selector.by}:{selector.value}"
        yield Fix(lambda n: situation.change("boost", FACTORS[n - 1], name), len(FACTORS))


def pin(situation: FixSituation) -> Iterator[Fix]:
    """Yield a pin: only memories can be pinned, and pins only matter in lists."""
    may_be = situation.section.shape == "lines" and Ref.parse(situation.candidate.ref).kind == "memory"
    if may_be and not situation.candidate.pinned:
        yield Fix(lambda _: situation.change("pin"), whole=situation.is_short)


def always_include(situation: FixSituation) -> Iterator[Fix]:
    """Yield a rule that always includes the item, by one of its labels."""
    candidate = situation.candidate
    if not may_be_included(candidate):
        return
    by = INCLUDABLE[Ref.parse(candidate.ref).kind]
    if labels := candidate.labels.get(by):
        yield Fix(lambda _: situation.change("always_include", name=f"{by}:{labels[0]}"), whole=situation.is_short)


def _factor(situation: FixSituation) -> float:
    """Return the factor by which rules multiply a raised score. A ranker's boost is added instead."""
    if situation.ranker:
        return 1.0
    factor = rule_effect(situation.candidate, situation.section, situation.inputs.request.rules).boost
    return max(factor, 1 / STEPS_PER_SCORE_UNIT)


def _unboosted(decision: Decision) -> float:
    """Return the score without boosts. No rule changes a similarity."""
    return (decision.score or 0.0) - dict(decision.signals).get(f"{SHARE_PREFIX}boost", 0.0)


def _steps(amount: float) -> int:
    return max(0, math.ceil(amount * STEPS_PER_SCORE_UNIT))


def _narrowest(situation: FixSituation) -> Selector:
    """Return the selector that finds the item and the fewest others; the section's source if the item has no label."""
    labels = situation.candidate.labels
    selectors = [Selector(by, value) for by in LABELS for value in labels.get(by, ())]
    if not selectors:
        return Selector("source", situation.section.source)
    sections = {section.key: section for section in situation.inputs.profile.sections}

    def found(selector: Selector) -> int:
        return sum(is_selected(selector, one, sections[one.section]) for one in situation.inputs.candidates)

    return min(selectors, key=found)


MAX_OVERHEAD_TOKENS = 60
"""The maximum number of tokens of a section's heading, of an item's lead and of separators."""
CHARACTERS = 4  # of a token, about


def more_room(situation: FixSituation, *, whole: bool) -> Iterator[Fix]:
    """Yield more of the limit that was too small; for a truncated item, more of either limit."""
    code = situation.decision.code
    if code is not Code.OVER_TOTAL_BUDGET:
        yield from _cap(situation, whole)
    if code is not Code.OVER_SECTION_BUDGET or situation.section.share is not None:
        yield from _budget(situation, whole)


def shorter_text(situation: FixSituation) -> Iterator[Fix]:
    """Yield a shorter text of the item, in steps of characters."""
    length = len(situation.candidate.text.rstrip())
    if length > 1:
        guess = min(length - 1, max(1, _missing(situation) * CHARACTERS))
        yield Fix(lambda n: situation.change("shorter", length - n), length - 1, guess, whole=True)


def _budget(situation: FixSituation, whole: bool) -> Iterator[Fix]:
    budget = situation.inputs.request.budget
    most = min(_sufficient_budget(situation), MAX_TOKENS) - budget
    if most > 0:
        yield Fix(lambda n: situation.change("budget", budget + n), most, _missing(situation), whole)


def _cap(situation: FixSituation, whole: bool) -> Iterator[Fix]:
    """Yield a higher limit of the section; a limit of the whole budget counts as none."""
    budget = situation.inputs.request.budget
    cap = situation.section.cap_within(budget)
    if cap is not None and cap < budget:
        yield Fix(lambda n: situation.change("cap", cap + n), budget - cap, _missing(situation), whole)


def _missing(situation: FixSituation) -> int:
    """Return about how many tokens are missing; 0 if unknown."""
    if situation.is_short:
        return max(1, situation.decision.tokens_full - situation.decision.tokens)
    return int(situation.decision.detail.get("needed") or 0)


def _sufficient_budget(situation: FixSituation) -> int:
    """Return a budget that is sufficient for all items without limits; if limits are shares of it, the
    maximum budget.
    """
    if any(section.share is not None for section in situation.inputs.profile.sections):
        return MAX_TOKENS
    told = situation.assembled
    missing = sum(max(0, one.tokens_full - one.tokens) + MAX_OVERHEAD_TOKENS for one in told.decisions)
    return max(told.tokens, told.budget) + missing


FixFinder = Callable[[FixSituation], Iterator[Fix]]


def find_fixes(situation: FixSituation) -> Iterator[Fix]:
    """Yield the fixes for an item that is excluded or truncated, the most fitting first."""
    yield from lift_obstacle(situation)
    for ways in _FIXES_BY_CODE.get(situation.decision.code, ()):
        yield from ways(situation)
    if situation.decision.code is not Code.EMPTY:
        yield from pin(situation)
        yield from always_include(situation)


def _room_fixes(situation: FixSituation) -> Iterator[Fix]:
    yield from more_room(situation, whole=False)


def _whole_room_fixes(situation: FixSituation) -> Iterator[Fix]:
    yield from more_room(situation, whole=True)


_SHORTAGE_FIXES = (_whole_room_fixes, shorter_text)
_FIXES_BY_CODE: Mapping[Code, tuple[FixFinder, ...]] = {
    Code.OUTRANKED: (more_places, higher_score, boost),
    Code.BELOW_RELEVANCE: (lower_threshold, longer_reach, higher_score),
    Code.OVER_SECTION_BUDGET: (_room_fixes, shorter_text, higher_source_score, boost),
    Code.OVER_TOTAL_BUDGET: (_room_fixes, shorter_text, higher_score, boost),
    Code.TRUNCATED: _SHORTAGE_FIXES,
    Code.COMPACTED: _SHORTAGE_FIXES,
    Code.SUMMARISED: _SHORTAGE_FIXES,
}
