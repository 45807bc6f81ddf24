"""Blocks get levels of detail: first as many as possible in their shortest form, then the best in longer ones.

Source: "Budget-Aware Assembly" and "Token Budget Enforcement" of the seed "Memory Layer", which fills the room that is
left with details. The order of the forms is a decision of this project: every item that fits in its shortest form is
included, best first; then each, best first, gets its middle form if that fits, and then its whole text.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from msgspec import structs

from assembly.engine.block_section import BlockSection, undecided_of
from assembly.engine.codes import Code
from assembly.engine.distinct_texts import DistinctTexts
from assembly.engine.overflow import DecisionKey, decision_key
from assembly.engine.priority import Priority
from assembly.engine.ranking import RankedCandidate, ShortenedText
from assembly.engine.refs import document_of
from assembly.engine.types import LEVELS, Level, LevelPreference


@dataclass(slots=True)
class LevelItem:
    """A level item is a block in competition, with its forms by level, and the level that it has now."""

    field: BlockSection
    forms: Mapping[Level, RankedCandidate]
    costs: Mapping[Level, int]
    level: Level

    @classmethod
    def of(cls, field: BlockSection, item: RankedCandidate, preference: LevelPreference) -> "LevelItem":
        """Return the item at its first level: the preferred one, or for `adaptive` the shortest that it has."""
        forms: dict[Level, RankedCandidate] = {
            level: structs.replace(item, short=ShortenedText(shorter.text, Code.SUMMARISED))
            for level, shorter in sorted(item.candidate.levels.items(), key=lambda pair: LEVELS.index(pair[0]))
            if preference in {"adaptive", level} and shorter.text.strip()
        }
        forms["atomic"] = item
        costs = {level: field.ladder.cost(field.section, form) for level, form in forms.items()}
        # A form that is not shorter than the whole text is of no use.
        useful = {level: cost for level, cost in costs.items() if level == "atomic" or cost < costs["atomic"]}
        first = next(iter(useful)) if preference == "adaptive" else preference
        return cls(field, forms, useful, first if first in useful else "atomic")

    @property
    def key(self) -> DecisionKey:
        """The section and the ref of the item."""
        return decision_key(self.forms["atomic"])

    @property
    def cost(self) -> int:
        """Tokens of the item at its level."""
        return self.costs[self.level]

    def select(self) -> None:
        """Give the item the form of its level in its section, and explain it by the tokens of all its levels."""
        form = self.forms[self.level]
        detail = {**form.detail, "lod": self.level, "levels": dict(self.costs)}
        self.field.change(structs.replace(form, detail=detail))


def select_levels(
    fields: Sequence[BlockSection],
    priority: Priority,
    preference: LevelPreference,
    texts: DistinctTexts,
    room: int,
    *,
    shortest: Collection[DecisionKey] = (),
) -> None:
    """Select the blocks that fit in `room` tokens, each at a level; exclude the others.

    The items in `shortest` stay at their shortest level.
    """
    field_of = {field.section.key: field for field in fields}
    selected: list[LevelItem] = []
    used = 0
    for ranked in sorted(undecided_of(fields), key=priority.sort_key):
        field = field_of[ranked.candidate.section]
        if by := texts.repeated_by(ranked.candidate):
            field.leave_out(ranked, Code.DUPLICATE, by=by)
            continue
        item = LevelItem.of(field, ranked, preference)
        cost = item.cost + (0 if field.used else field.frame_tokens)
        if field.section.cap is not None and field.used + cost > field.section.cap:
            field.leave_out(ranked, Code.OVER_SECTION_BUDGET, needed=field.used + cost - field.section.cap)
        elif used + cost > room:
            field.leave_out(ranked, Code.OVER_TOTAL_BUDGET, needed=used + cost - room)
        else:
            used, field.used = used + cost, field.used + cost
            texts.add(ranked.candidate, is_whole=False)
            selected.append(item)
    may_grow = [item for item in selected if preference == "adaptive" and item.key not in shortest]
    room = _add_details(may_grow, room - used)
    # The room of repeated passages may let another document be told whole, whose passages are then repeated, too.
    while priority.knows_whole_documents and (repeated := _exclude_repeated_passages(selected, texts)):
        selected = [item for item in selected if item.key not in repeated]
        may_grow = [item for item in may_grow if item.key not in repeated]
        room = _add_details(may_grow, room + sum(repeated.values()))
    for item in selected:
        item.select()


def _exclude_repeated_passages(selected: Sequence[LevelItem], texts: DistinctTexts) -> dict[DecisionKey, int]:
    """Exclude the passages of documents that are included whole. Return their tokens by key."""
    for item in selected:
        if item.level == "atomic":
            texts.add(item.forms["atomic"].candidate, is_whole=True)
    repeated = {}
    for item in selected:
        whole = item.forms["atomic"]
        document = document_of(whole.candidate.ref)
        if document != whole.candidate.ref and texts.repeated_by(whole.candidate) == document:
            repeated[item.key] = item.cost
            item.field.used -= item.cost
            item.field.leave_out(whole, Code.DUPLICATE, by=document)
    return repeated


def _add_details(selected: Sequence[LevelItem], room: int) -> int:
    """Raise the items, best first, to the middle level, and then to the whole text, as far as the room goes.

    Return the room that is left, in tokens.
    """
    for level in LEVELS[1:]:
        for item in selected:
            more = item.costs.get(level, 0) - item.cost
            cap = item.field.section.cap
            if 0 < more <= room and (cap is None or item.field.used + more <= cap):
                room -= more
                item.field.used += more
                item.level = level
    return room
