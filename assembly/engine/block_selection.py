"""Blocks of several sections compete for the same part of the budget by one score.

Source: "Scoring and Selection" of the seed "Context Assembly Specification". Each section first selects within its own
cap by the score of its source; the selected blocks then compete by their priority for the rest of the whole budget.
Both selections are greedy: an item that does not fit is skipped, and the next one is tried. Before each selection, the
profile's overflow steps shorten or drop items that do not fit. In a profile with levels of detail, the blocks compete
once, as `level_selection` says.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from assembly.engine.block_section import BlockSection, ExcludedItems, undecided_of
from assembly.engine.codes import Code
from assembly.engine.distinct_texts import DistinctTexts
from assembly.engine.level_selection import select_levels
from assembly.engine.overflow import FULL_SHARE, DecisionKey, OverflowPolicy, decision_key, dropped_item, is_out_of_room
from assembly.engine.priority import Priority
from assembly.engine.profile import Section
from assembly.engine.ranking import RankedCandidate, split_eligible
from assembly.engine.refs import document_of
from assembly.engine.rule_effects import RuleEffectOf
from assembly.engine.token_ledger import TokenLedger
from assembly.engine.types import Candidate


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
    priority: Priority,
    ruled: RuleEffectOf | None,
    ladder: OverflowPolicy,
    excluded: ExcludedItems,
    shortest: Collection[DecisionKey] = (),
) -> list[SectionOutcome]:
    """Return the outcome for each section, in order. `budget` includes the tokens that the ledger counts already.

    `excluded` holds the items that an exact count has shown not to fit, `shortest` those that stay at their shortest
    level of detail.
    """
    competing, others = [], {}
    for section in sections:
        eligible, decided = split_eligible(section, candidates[section.key], ruled)
        near, distant = priority.relevant_items(section, [priority.scored(section, item) for item in eligible])
        competing += near
        others[section.key] = sorted([*decided, *distant], key=lambda item: item.candidate.ref)
    competing = priority.within_scopes(sorted(competing, key=priority.sort_key))
    fields = [BlockSection.of(section, competing, others[section.key], ladder) for section in sections]
    for field in fields:
        field.exclude_items(excluded)
    room, texts = budget - ledger.tokens, DistinctTexts(across_shapes=priority.deduplicates)
    if preference := priority.profile.lod:
        select_levels(fields, priority, preference, texts, room, shortest=shortest)
    else:
        _BlockContest(fields, priority, ladder, texts).select(budget, room, excluded)
    if priority.has_scopes:
        _exclude_repeated_misfits(fields, texts)
    return [SectionOutcome(field.section, list(field.items.values()), field.used) for field in fields]


def lengthened_items(outcomes: Sequence[SectionOutcome]) -> set[DecisionKey]:
    """Return the selected items at a longer level of detail than their shortest."""
    selected = [item for outcome in outcomes for item in outcome.ranked if item.code is None and "lod" in item.detail]
    return {decision_key(item) for item in selected if item.detail["lod"] != next(iter(item.detail["levels"]))}


def _exclude_repeated_misfits(fields: Sequence[BlockSection], texts: DistinctTexts) -> None:
    """Decide misfits that repeat a selected item as its duplicates, so that none of them is cut to fill its section."""
    for field in fields:
        for item in [*field.items.values()]:
            is_misfit = item.code is not None and item.code.is_over_budget and not item.steps
            if is_misfit and (by := texts.repeated_by(item.candidate)):
                field.leave_out(item, Code.DUPLICATE, by=by)


@dataclass(frozen=True, slots=True)
class _BlockContest:
    """The competition of whole blocks, which the overflow steps shorten or drop."""

    fields: Sequence[BlockSection]
    priority: Priority
    ladder: OverflowPolicy
    texts: DistinctTexts

    def select(self, budget: int, room: int, excluded: ExcludedItems) -> None:
        """Select the blocks that fit in `room` tokens; exclude the others."""
        for field in self.fields:
            field.select_within_allocation(cuts_best=self.priority.cuts_best)
        if self.ladder.steps:
            self._apply_overflow(room)
        self._select_within_total(room)
        if self.ladder.fill and budget - room + sum(field.used for field in self.fields) < FULL_SHARE * budget:
            self._fill_remaining(room, excluded)

    def _apply_overflow(self, room: int) -> None:
        """Apply the overflow steps to the blocks that exceed the whole budget, by their priority.

        Of items with the same text or ref, only the best counts; when it is dropped, the others are dropped too.
        """
        field_of = self._field_of
        undecided, twins = self._group_duplicates(self._undecided())
        openings = sum(field_of[key].frame_tokens for key in {item.candidate.section for item in undecided})
        changed = self.ladder.changes_to_fit(
            {key: field.section for key, field in field_of.items()},
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

    @property
    def _field_of(self) -> dict[str, BlockSection]:
        return {field.section.key: field for field in self.fields}

    def _undecided(self) -> list[RankedCandidate]:
        return sorted(undecided_of(self.fields), key=self.priority.sort_key)

    def _group_duplicates(
        self, items: Sequence[RankedCandidate]
    ) -> tuple[list[RankedCandidate], dict[DecisionKey, list[RankedCandidate]]]:
        """Return the first item of each text and ref, in order, and by its key the later items that repeat it."""
        seen: dict[bytes | str, RankedCandidate] = {}
        first: list[RankedCandidate] = []
        twins: dict[DecisionKey, list[RankedCandidate]] = {}
        for item in items:
            text = self.texts.digest_of(item.candidate)
            if repeated := seen.get(item.candidate.ref) or seen.get(text):
                twins.setdefault(decision_key(repeated), []).append(item)
            else:
                first.append(item)
                seen[item.candidate.ref] = seen[text] = item
        return first, twins

    def _select_within_total(self, room: int) -> None:
        """Exclude, in order of priority, items that do not fit in the budget or that repeat a selected item."""
        used, field_of = 0, self._field_of
        for item in self._undecided():
            field = field_of[item.candidate.section]
            cost = field.cost_of(item)
            if by := self.texts.repeated_by(item.candidate):
                field.leave_out(item, Code.DUPLICATE, by=by)
            elif used + cost <= room:
                used, field.used = used + cost, field.used + cost
                self.texts.add(item.candidate, is_whole=item.short is None)
            else:
                field.leave_out(item, Code.OVER_TOTAL_BUDGET, needed=used + cost - room)
        self._exclude_passages_of_documents()

    def _exclude_passages_of_documents(self) -> None:
        """Exclude passages that were selected before their document, which was then selected whole."""
        for field in self.fields:
            for item in field.undecided():
                document = document_of(item.candidate.ref)
                if document != item.candidate.ref and self.texts.repeated_by(item.candidate) == document:
                    field.used -= field.cost_of_item(item)
                    field.leave_out(item, Code.DUPLICATE, by=document)

    def _fill_remaining(self, room: int, excluded: ExcludedItems) -> None:
        """Try the items again that were excluded for lack of budget, best first, without repeating any text."""
        left_out = [(field, item) for field in self.fields for item in field.items.values() if item.code]
        for field, item in sorted(left_out, key=lambda pair: self.priority.sort_key(pair[1])):
            room_left = room - sum(field.used for field in self.fields)
            may_be_in = is_out_of_room(item) and decision_key(item) not in excluded
            if may_be_in and not self.texts.repeated_by(item.candidate) and field.readmit(item, room_left):
                self.texts.add(item.candidate, is_whole=False)
