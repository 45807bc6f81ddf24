"""Where a candidate stands, and a way that might bring it in. Pure.

Ways past what gave a candidate no chance at all: a rule, a filter, a successor, one that says the same. Pure.

Ways to a better place for a candidate: more places, a lower bar, a higher score, a rule, a pin. Pure.

Ways to room for a candidate: a larger budget, a larger cap of its section, a shorter text. Pure.

Which ways might bring a candidate in, by the reason that keeps it out; those that fit it best come first. Pure.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from assembly.engine.codes import Code
from assembly.engine.diff import SHORTENED
from assembly.engine.linear_ranker import SHARE, Ranker
from assembly.engine.profile import Section
from assembly.engine.rule_effects import effect, selects
from assembly.engine.rules import By, Selector
from assembly.engine.types import Assembled, Candidate, Decision
from assembly.pipeline.request import MAX_TOKENS
from assembly.records.reader import Inputs
from assembly.why_not.changes import INCLUDABLE, Change, Kind, excluding, found_in, is_scored, may_be_included, named_by


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


def _without_rule(stand: Standpoint) -> Way:
    rules = excluding(stand.inputs.request.rules, stand.candidate, stand.section)
    labels = [rule.label for rule in rules]
    return Way(lambda n: stand.change("without_rule", n, ", ".join(labels[:n])), len(rules), guess=1)


def _without_exclusion(stand: Standpoint) -> Way:
    names = ", ".join(sorted(named_by(stand.inputs.request.exclude, stand.candidate.ref)))
    return Way(lambda _: stand.change("without_exclusion", name=names))


def _not_superseded(stand: Standpoint) -> Way:
    return Way(lambda _: stand.change("not_superseded", name=stand.candidate.superseded_by or ""))


def _not_retired(stand: Standpoint) -> Way:
    return Way(lambda _: stand.change("not_retired"))


def _without_other(stand: Standpoint) -> Way:
    return Way(lambda _: stand.change("without_other", name=str(stand.decision.detail["by"])))


def _text(stand: Standpoint) -> Way:
    return Way(lambda _: stand.change("text"))


_LIFTED: Mapping[Code, Callable[[Standpoint], Way]] = {
    Code.RULE_EXCLUDED: _without_rule,
    Code.FILTERED: _without_exclusion,
    Code.SUPERSEDED: _not_superseded,
    Code.EXPIRED: _not_retired,
    Code.DUPLICATE: _without_other,
    Code.EMPTY: _text,
}


def lifted(stand: Standpoint) -> Iterator[Way]:
    """The way past the obstacle; none where it had its chance."""
    if way := _LIFTED.get(stand.decision.code):
        yield way(stand)


FACTORS = (1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.5, 3, 4, 5, 7.5, 10, 15, 20, 50, 100, 1_000)
"""What a boost may multiply by."""
FINE = 10_000
"""Steps in one unit of a score."""
LABELS: tuple[By, ...] = ("path", "kg_entity", "memory_kind", "tag")


def more_places(stand: Standpoint) -> Iterator[Way]:
    top_k = stand.section.top_k or 0
    considered = sum(one.section == stand.section.key for one in stand.inputs.candidates)
    guess = (stand.decision.rank or 0) - top_k
    yield Way(lambda n: stand.change("top_k", top_k + n), considered - top_k, guess)


def lower_threshold(stand: Standpoint) -> Iterator[Way]:
    """Steps go down from the similarity that is asked for, to that of the candidate."""
    threshold, own = stand.inputs.profile.similarity_threshold, stand.candidate.similarity
    if own is None or own >= threshold:
        return
    start, end = math.ceil(threshold * FINE), math.floor(own * FINE)
    yield Way(lambda n: stand.change("threshold", (start - n) / FINE), start - end, start - end)


def longer_reach(stand: Standpoint) -> Iterator[Way]:
    """Of a ranker, as far as to the candidate."""
    ranker, least = stand.ranker, stand.decision.detail.get("threshold")
    if ranker is None or stand.decision.score is None or least is None:
        return
    start, missing = math.floor(ranker.reach * FINE), _steps(least - _unboosted(stand.decision))
    yield Way(lambda n: stand.change("reach", (start + n) / FINE), missing + 2, missing)


def higher_score(stand: Standpoint) -> Iterator[Way]:
    """As high as is asked for, and above all that it competes with at most. What was not measured begins at 0."""
    detail, factor = stand.decision.detail, _factor(stand)
    asked = detail.get("last_score", detail.get("threshold"))
    scores = [one.score for one in stand.rivals if one.score is not None]
    if not scores or not is_scored(stand.candidate, stand.section, stand.inputs.profile):
        return
    score, highest = stand.decision.score or 0.0, max(scores)
    most = _steps((max(highest, highest if asked is None else asked) - score) / factor) + 2
    guess = 0 if asked is None else _steps((asked - score) / factor)
    yield Way(lambda n: stand.change("score", n / FINE), most, guess)


def higher_source_score(stand: Standpoint) -> Iterator[Way]:
    """Blocks get the room of their section by the score that their source gave them; lines by the one they have."""
    if stand.section.shape != "blocks":
        yield from higher_score(stand)
        return
    own = stand.candidate.score or 0.0
    highest = max(one.score or 0.0 for one in stand.inputs.candidates if one.section == stand.section.key)
    yield Way(lambda n: stand.change("source_score", n / FINE), _steps((highest - own) / _factor(stand)) + 2)


def boost(stand: Standpoint) -> Iterator[Way]:
    """A rule that boosts as little else as it can."""
    if stand.decision.score is not None and stand.section.shape in {"blocks", "lines"}:
        selector = _narrowest(stand)
        name = f"{selector.by}:{selector.value}"
        yield Way(lambda n: stand.change("boost", FACTORS[n - 1], name), len(FACTORS))


def pin(stand: Standpoint) -> Iterator[Way]:
    """Memories alone can be pinned, and it counts in lists alone."""
    may_be = stand.section.shape == "lines" and stand.candidate.ref.startswith("memory:")
    if may_be and not stand.candidate.pinned:
        yield Way(lambda _: stand.change("pin"), whole=stand.is_short)


def always_include(stand: Standpoint) -> Iterator[Way]:
    """A rule by what the thing is found by."""
    candidate = stand.candidate
    if not may_be_included(candidate):
        return
    by = INCLUDABLE[candidate.ref.partition(":")[0]]
    if labels := candidate.labels.get(by):
        yield Way(lambda _: stand.change("always_include", name=f"{by}:{labels[0]}"), whole=stand.is_short)


def _factor(stand: Standpoint) -> float:
    """By how much a raise counts once rules have boosted it. A ranker's boost is added."""
    if stand.ranker:
        return 1.0
    factor = effect(stand.candidate, stand.section, stand.inputs.request.rules).boost
    return max(factor, 1 / FINE)


def _unboosted(decision: Decision) -> float:
    """No rule changes how near something is."""
    return (decision.score or 0.0) - dict(decision.signals).get(f"{SHARE}boost", 0.0)


def _steps(amount: float) -> int:
    return max(0, math.ceil(amount * FINE))


def _narrowest(stand: Standpoint) -> Selector:
    """The selector of the candidate that finds the fewest others; its section's source, where it has no label."""
    labels = stand.candidate.labels
    selectors = [Selector(by, value) for by in LABELS for value in labels.get(by, ())]
    if not selectors:
        return Selector("source", stand.section.source)
    sections = {section.key: section for section in stand.inputs.profile.sections}

    def found(selector: Selector) -> int:
        return sum(selects(selector, one, sections[one.section]) for one in stand.inputs.candidates)

    return min(selectors, key=found)


FOR_AN_OPENING = 60
"""Tokens of a section's heading, of an item's lead and of what separates them, at most."""
CHARACTERS = 4  # of a token, about


def more_room(stand: Standpoint, *, whole: bool) -> Iterator[Way]:
    """More of what it had too little of; what is cut may have had too little of either."""
    code = stand.decision.code
    if code is not Code.OVER_TOTAL_BUDGET:
        yield from _cap(stand, whole)
    if code is not Code.OVER_SECTION_BUDGET or stand.section.share is not None:
        yield from _budget(stand, whole)


def shorter(stand: Standpoint) -> Iterator[Way]:
    """Steps are characters that the text ends earlier."""
    length = len(stand.candidate.text.rstrip())
    if length > 1:
        guess = min(length - 1, max(1, _missing(stand) * CHARACTERS))
        yield Way(lambda n: stand.change("shorter", length - n), length - 1, guess, whole=True)


def _budget(stand: Standpoint, whole: bool) -> Iterator[Way]:
    budget = stand.inputs.request.budget
    most = min(_room_for_all(stand), MAX_TOKENS) - budget
    if most > 0:
        yield Way(lambda n: stand.change("budget", budget + n), most, _missing(stand), whole)


def _cap(stand: Standpoint, whole: bool) -> Iterator[Way]:
    """A cap of the whole budget is none."""
    budget = stand.inputs.request.budget
    cap = stand.section.cap_within(budget)
    if cap is not None and cap < budget:
        yield Way(lambda n: stand.change("cap", cap + n), budget - cap, _missing(stand), whole)


def _missing(stand: Standpoint) -> int:
    """About how many tokens it is short of; 0 where nothing says it."""
    if stand.is_short:
        return max(1, stand.decision.tokens_full - stand.decision.tokens)
    return int(stand.decision.detail.get("needed") or 0)


def _room_for_all(stand: Standpoint) -> int:
    """A budget that is enough for everything, were there no caps; where some are shares of it, the largest there is."""
    if any(section.share is not None for section in stand.inputs.profile.sections):
        return MAX_TOKENS
    told = stand.assembled
    missing = sum(max(0, one.tokens_full - one.tokens) + FOR_AN_OPENING for one in told.decisions)
    return max(told.tokens, told.budget) + missing


Ways = Callable[[Standpoint], Iterator[Way]]


def ways_of(stand: Standpoint) -> Iterator[Way]:
    """The ways for what is left out, or not in with all its words."""
    yield from lifted(stand)
    for ways in _BY_CODE.get(stand.decision.code, ()):
        yield from ways(stand)
    if stand.decision.code is not Code.EMPTY:
        yield from pin(stand)
        yield from always_include(stand)


def _room(stand: Standpoint) -> Iterator[Way]:
    yield from more_room(stand, whole=False)


def _room_for_all_of_it(stand: Standpoint) -> Iterator[Way]:
    yield from more_room(stand, whole=True)


_SHORT = (_room_for_all_of_it, shorter)
_BY_CODE: Mapping[Code, tuple[Ways, ...]] = {
    Code.OUTRANKED: (more_places, higher_score, boost),
    Code.BELOW_RELEVANCE: (lower_threshold, longer_reach, higher_score),
    Code.OVER_SECTION_BUDGET: (_room, shorter, higher_source_score, boost),
    Code.OVER_TOTAL_BUDGET: (_room, shorter, higher_score, boost),
    Code.TRUNCATED: _SHORT,
    Code.COMPACTED: _SHORT,
    Code.SUMMARISED: _SHORT,
}
