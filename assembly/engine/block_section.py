"""The items of one section during the competition of blocks, with their costs in tokens."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from assembly.engine.codes import Code
from assembly.engine.overflow import DecisionKey, OverflowPolicy, decision_key
from assembly.engine.profile import Section
from assembly.engine.ranking import RankedCandidate, with_ranks
from assembly.engine.rendering import closing_text, heading_text
from assembly.engine.types import Decision

ExcludedItems = dict[DecisionKey, Decision]
"""Decisions that excluded an item, by its section and ref."""


@dataclass(slots=True)
class BlockSection:
    """A section of blocks; items without a code are still in the competition, or were selected in the end."""

    section: Section
    ladder: OverflowPolicy
    items: dict[str, RankedCandidate]
    """The section's items by ref, best first."""
    costs: dict[str, int]
    """Tokens by ref of the items that are, or were, in the competition."""
    frame_tokens: int
    """Tokens of the section's heading, or of its tags."""
    used: int = 0

    @classmethod
    def of(
        cls, section: Section, competing: list[RankedCandidate], others: list[RankedCandidate], ladder: OverflowPolicy
    ) -> "BlockSection":
        """Return the section with those of the competing items, best first, that are its own."""
        mine = with_ranks(section, [item for item in competing if item.candidate.section == section.key])
        counted = [ladder.counted(section, item) for item in mine]
        costs = {item.candidate.ref: ladder.cost(section, item) for item in counted if item.code is None}
        frame_tokens = sum(map(ladder.tokenizer.count, filter(None, (heading_text(section), closing_text(section)))))
        return cls(section, ladder, {item.candidate.ref: item for item in [*counted, *others]}, costs, frame_tokens)

    def exclude_items(self, excluded: ExcludedItems) -> None:
        """Exclude the items that an earlier round found not to fit."""
        for item in self.undecided():
            if decision := excluded.get(decision_key(item)):
                self.leave_out(item, decision.code, **decision.detail)

    def select_within_allocation(self, *, cuts_best: bool) -> None:
        """Exclude the items that do not fit in the section's cap, by the score of their source.

        If the cap has room for at least half of the best one, `cuts_best` says that it is to be cut instead.
        """
        if self.section.cap is None:
            return
        room = self.section.cap - self.frame_tokens
        by_source = sorted(self.undecided(), key=lambda item: -item.ruling.boosted(item.candidate.score or 0.0))
        sections = {self.section.key: self.section}
        changed = self.ladder.changes_to_fit(sections, by_source, self.cost_of_item, room, Code.OVER_SECTION_BUDGET)
        for item in changed.values():
            self.change(item)
        cuts_best = cuts_best and self.section.overflow == "cut"
        used = 0
        for place, item in enumerate([self.items[item.candidate.ref] for item in by_source]):
            if cuts_best and place == 0 and item.code is None and room < self.cost_of_item(item) <= 2 * room:
                self.items[item.candidate.ref] = structs.replace(item, is_to_be_cut=True)
                self.costs[item.candidate.ref] = used = room
            elif item.code is None and used + self.cost_of_item(item) <= room:
                used += self.cost_of_item(item)
            elif item.code is None:
                self.leave_out(item, Code.OVER_SECTION_BUDGET, needed=used + self.cost_of_item(item) - room)

    def cost_of_item(self, item: RankedCandidate) -> int:
        """Return the tokens of the item in its current form, whole or shortened."""
        return self.costs[item.candidate.ref]

    def cost_of(self, item: RankedCandidate) -> int:
        """Return the tokens that adding the item would take now, with the heading if it is the first of its section."""
        return self.cost_of_item(item) + (0 if self.used else self.frame_tokens)

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
        frame_tokens = 0 if self.used else self.frame_tokens
        most = room if self.section.cap is None else min(room, self.section.cap - self.used)
        back = self.ladder.readmitted(self.section, item, most - frame_tokens)
        if back is None:
            return False
        self.change(structs.replace(back, detail={name: back.detail[name] for name in {"rule"} & back.detail.keys()}))
        self.used += frame_tokens + self.cost_of_item(back)
        return True


def undecided_of(fields: Iterable[BlockSection]) -> list[RankedCandidate]:
    """Return the items of all sections without a decision; the later of two sections comes first."""
    undecided = [item for field in fields for item in field.undecided()]
    # If two sections offer the same row, the later section gets it: profiles list specific sections last.
    undecided.reverse()
    return undecided
