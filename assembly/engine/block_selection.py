"""Blocks of several sections compete for the same part of the budget by one score.

Source: "Scoring and Selection" of the seed "Context Assembly Specification". Each section first selects within its own
cap by the score of its source; the selected blocks then compete by the final score, weighted by the profile, for the
rest of the whole budget. Both selections are greedy: an item that does not fit is skipped, and the next one is tried.
Before each selection, the profile's overflow steps shorten or drop items that do not fit.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from assembly.engine.codes import Code
from assembly.engine.linear_ranker import source_share_signals
from assembly.engine.overflow import FULL_SHARE, DecisionKey, OverflowPolicy, decision_key, dropped_item, is_out_of_room
from assembly.engine.profile import Section, Weights
from assembly.engine.ranking import RankedCandidate, split_eligible, with_boosted_score, with_ranks
from assembly.engine.rendering import heading_text
from assembly.engine.rule_effects import RuleEffectOf
from assembly.engine.scoring import words_of
from assembly.engine.token_ledger import TokenLedger
from assembly.engine.types import Candidate, Decision, field_values

ExcludedItems = dict[DecisionKey, Decision]
"""Decisions that excluded an item, by its section and ref."""


@dataclass(frozen=True, slots=True)
class SectionOutcome:
    """The result of the competition for one section: its items, best first, and an estimate of their tokens.

    Items without a code were selected; rendering them checks by an exact count that they fit.
    """

    section: Section
    ranked: list[RankedCandidate]
    tokens: int


def select_blocks(
    sections: Sequence[Section],
    candidates: Mapping[str, Sequence[Candidate]],
    ledger: TokenLedger,
    budget: int,
    *,
    weights: Weights,
    ruled: RuleEffectOf | None,
    ladder: OverflowPolicy,
    excluded: ExcludedItems,
) -> list[SectionOutcome]:
    """Return the outcome for each section, in order. `budget` includes the tokens that the ledger counts already.

    `excluded` holds the items that an exact count has shown not to fit.
    """
    score = _scorer(weights, ledger.text)
    competing, others = [], {}
    for section in sections:
        eligible, others[section.key] = split_eligible(section, candidates[section.key], ruled)
        competing += [score(section, item) for item in eligible]
    competing.sort(key=_best_first)
    fields = [_BlockSection.of(section, competing, others[section.key], ladder) for section in sections]
    for field in fields:
        field.exclude_items(excluded)
        field.select_within_allocation()
    room = budget - ledger.tokens
    if ladder.steps:
        _apply_overflow(fields, ladder, room)
    _select_within_total(fields, room)
    if ladder.fill and ledger.tokens + sum(field.used for field in fields) < FULL_SHARE * budget:
        _fill_remaining(fields, room, excluded)
    return [SectionOutcome(field.section, list(field.items.values()), field.used) for field in fields]


def final_score(measures: Mapping[str, float], weights: Weights) -> float:
    """Return Σ weight x measure ("Combined Scoring" of the seed); a missing measure counts as 0."""
    return math.fsum(weight * measures.get(name, 0.0) for name, weight in field_values(weights).items())


def coherence(text: str, surroundings: frozenset[str]) -> float:
    """Return the share, 0 to 1, of the text's distinct words of four letters or more that its surroundings contain."""
    words = words_of(text)
    return len(words & surroundings) / len(words) if words else 0.0


def _scorer(weights: Weights, surroundings: str) -> Callable[[Section, RankedCandidate], RankedCandidate]:
    around = words_of(surroundings) if weights.coherence else frozenset()

    def scored(section: Section, item: RankedCandidate) -> RankedCandidate:
        candidate = item.candidate
        measures = dict(candidate.measures)
        if weights.coherence:
            measures.setdefault("coherence", coherence(candidate.text, around))
        own = () if candidate.score is None else (("source_score", candidate.score),)
        shares = source_share_signals(section.ranker, candidate)
        signals = (*item.signals, *own, *sorted(measures.items()), *shares)
        return with_boosted_score(structs.replace(item, signals=signals), final_score(measures, weights))

    return scored


def _best_first(item: RankedCandidate) -> tuple[float, str]:
    return -(item.score or 0.0), item.candidate.ref


@dataclass(slots=True)
class _BlockSection:
    """The items of one section during the competition of blocks, with their costs in tokens."""

    section: Section
    ladder: OverflowPolicy
    items: dict[str, RankedCandidate]
    """The section's items by ref, best first."""
    costs: dict[str, int]
    heading_tokens: int
    """Tokens of the section's heading."""
    used: int = 0

    @classmethod
    def of(
        cls, section: Section, competing: list[RankedCandidate], others: list[RankedCandidate], ladder: OverflowPolicy
    ) -> "_BlockSection":
        mine = with_ranks(section, [item for item in competing if item.candidate.section == section.key])
        counted = [ladder.counted(section, item) for item in mine]
        costs = {item.candidate.ref: ladder.cost(section, item) for item in counted}
        heading_tokens = ladder.tokenizer.count(heading_text(section))
        return cls(section, ladder, {item.candidate.ref: item for item in [*counted, *others]}, costs, heading_tokens)

    def exclude_items(self, excluded: ExcludedItems) -> None:
        """Exclude the items that an earlier round found not to fit."""
        for item in self.undecided():
            if decision := excluded.get(decision_key(item)):
                self.leave_out(item, decision.code, **decision.detail)

    def select_within_allocation(self) -> None:
        """Exclude the items that do not fit in the section's cap, by the score of their source."""
        if self.section.cap is None:
            return
        room = self.section.cap - self.heading_tokens
        by_source = sorted(self.undecided(), key=lambda item: -item.ruling.boosted(item.candidate.score or 0.0))
        sections = {self.section.key: self.section}
        changed = self.ladder.changes_to_fit(sections, by_source, self.cost_of_item, room, Code.OVER_SECTION_BUDGET)
        for item in changed.values():
            self.change(item)
        used = 0
        for item in (self.items[item.candidate.ref] for item in by_source):
            if item.code is None and used + self.cost_of_item(item) <= room:
                used += self.cost_of_item(item)
            elif item.code is None:
                self.leave_out(item, Code.OVER_SECTION_BUDGET, needed=used + self.cost_of_item(item) - room)

    def cost_of_item(self, item: RankedCandidate) -> int:
        """Return the tokens of the item in its current form, whole or shortened."""
        return self.costs[item.candidate.ref]

    def cost_of(self, item: RankedCandidate) -> int:
        """Return the tokens that adding the item would take now, with the heading if it is the first of its section."""
        return self.cost_of_item(item) + (0 if self.used else self.heading_tokens)

    def change(self, item: RankedCandidate) -> None:
        """Replace the item of this ref by the given form of it, and recompute its cost."""
        self.items[item.candidate.ref] = item
        self.costs[item.candidate.ref] = self.ladder.cost(self.section, item)

    def leave_out(self, item: RankedCandidate, code: Code, **detail: Any) -> None:
        """Exclude the item with this code and detail."""
        self.items[item.candidate.ref] = structs.replace(item, code=code, detail={**item.detail, **detail})

    def undecided(self) -> list[RankedCandidate]:
        """Return the items without a decision, best first."""
        return [item for item in self.items.values() if item.code is None]

    def readmit(self, item: RankedCandidate, room: int) -> bool:
        """Include an excluded item after all, whole or shortened, if it fits. Return whether it does."""
        heading_tokens = 0 if self.used else self.heading_tokens
        most = room if self.section.cap is None else min(room, self.section.cap - self.used)
        back = self.ladder.readmitted(self.section, item, most - heading_tokens)
        if back is None:
            return False
        self.change(structs.replace(back, detail={name: back.detail[name] for name in {"rule"} & back.detail.keys()}))
        self.used += heading_tokens + self.cost_of_item(back)
        return True


def _apply_overflow(fields: list[_BlockSection], ladder: OverflowPolicy, room: int) -> None:
    """Apply the overflow steps to the blocks that exceed the whole budget, by the final score.

    Of items with the same text or ref, only the best counts; when it is dropped, the others are dropped too.
    """
    field_of = {field.section.key: field for field in fields}
    undecided, twins = _group_duplicates(_undecided_by_score(fields))
    openings = sum(field_of[key].heading_tokens for key in {item.candidate.section for item in undecided})
    sections = {key: field.section for key, field in field_of.items()}
    changed = ladder.changes_to_fit(
        sections,
        undecided,
        lambda item: field_of[item.candidate.section].cost_of_item(item),
        room - openings,
        Code.OVER_TOTAL_BUDGET,
    )
    for key, item in changed.items():
        field_of[key[0]].change(item)
        if item.code:
            for twin in twins.get(key, ()):
                field_of[twin.candidate.section].change(dropped_item(twin, item.code))


def _group_duplicates(
    items: Sequence[RankedCandidate],
) -> tuple[list[RankedCandidate], dict[DecisionKey, list[RankedCandidate]]]:
    """Return the first item of each text and ref, in order, and by its key the later items that repeat it."""
    said: dict[str, RankedCandidate] = {}
    first: list[RankedCandidate] = []
    twins: dict[DecisionKey, list[RankedCandidate]] = {}
    for item in items:
        if told := said.get(item.candidate.ref) or said.get(_normalized_text(item)):
            twins.setdefault(decision_key(told), []).append(item)
        else:
            first.append(item)
            said[item.candidate.ref] = said[_normalized_text(item)] = item
    return first, twins


def _undecided_by_score(fields: list[_BlockSection]) -> list[RankedCandidate]:
    undecided = [item for field in fields for item in field.undecided()]
    # If two sections offer the same row, the later section gets it: profiles list specific sections last.
    undecided.reverse()
    return sorted(undecided, key=_best_first)


def _select_within_total(fields: list[_BlockSection], room: int) -> None:
    """Exclude, in order of the final score, items that do not fit in the budget or that repeat a selected item."""
    field_of = {field.section.key: field for field in fields}
    used = 0
    said: dict[str, str] = {}
    for item in _undecided_by_score(fields):
        field = field_of[item.candidate.section]
        cost = field.cost_of(item)
        if by := said.get(item.candidate.ref) or said.get(_normalized_text(item)):
            field.leave_out(item, Code.DUPLICATE, by=by)
        elif used + cost <= room:
            used, field.used = used + cost, field.used + cost
            said[item.candidate.ref] = said[_normalized_text(item)] = item.candidate.ref
        else:
            field.leave_out(item, Code.OVER_TOTAL_BUDGET, needed=used + cost - room)


def _fill_remaining(fields: list[_BlockSection], room: int, excluded: ExcludedItems) -> None:
    """Try again to include the items that were excluded for lack of budget, best first, without repeating any text."""
    left_out = [(field, item) for field in fields for item in field.items.values() if item.code]
    said = {
        word for field in fields for item in field.undecided() for word in (item.candidate.ref, _normalized_text(item))
    }
    for field, item in sorted(left_out, key=lambda pair: _best_first(pair[1])):
        room_left = room - sum(field.used for field in fields)
        words = {item.candidate.ref, _normalized_text(item)}
        may_be_in = is_out_of_room(item) and decision_key(item) not in excluded and not said & words
        if may_be_in and field.readmit(item, room_left):
            said |= words


def _normalized_text(item: RankedCandidate) -> str:
    """Return the item's text with each run of white space as one space."""
    return " ".join(item.candidate.text.split())
