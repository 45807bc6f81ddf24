"""What is different between two contexts: section by section, and item by item. Pure.

Things are recognised by what their refs name, whichever version it is of: a file that was saved in between is the same
file, with another text.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from assembly.engine.codes import Code
from assembly.engine.refs import without_version
from assembly.engine.types import Decision, SectionResult

ChangeEffect = Literal["in", "out", "moved", "changed"]
"""in: it comes in; out: it goes; moved: it stands in another section; changed: its score is another, or it stays in but
with another text, rank, or cut at another place."""

CHANGE_EFFECTS: tuple[ChangeEffect, ...] = get_args(ChangeEffect)
SHORTENED_CODES = frozenset({Code.TRUNCATED, Code.COMPACTED, Code.SUMMARISED})
ItemKey = tuple[str, str]
"""A section, and what a ref names there."""


class DiffableContext(Protocol):
    """What is compared: a context that the engine made just now, or one on record."""

    @property
    def sections(self) -> Sequence[SectionResult]: ...
    @property
    def decisions(self) -> Sequence[Decision]: ...
    @property
    def tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class DecisionChange:
    """What becomes of one thing. None: it is not considered in that context at all."""

    effect: ChangeEffect
    before: Decision | None
    after: Decision | None

    @property
    def decision(self) -> Decision:
        """The later one, if there is one."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - a change is of something
        return found

    @property
    def ref(self) -> str:
        """The ref of the later one, if there is one."""
        return self.decision.ref

    @property
    def is_cut(self) -> bool:
        """Whether it stays in, and more of it is missing than before."""
        before, after = self.before, self.after
        if not (before and after and before.included and after.code in SHORTENED_CODES):
            return False
        if before.code not in SHORTENED_CODES:
            return True
        # Of one text, what is told tells; of two, what is not.
        return (
            _character_count(after) < _character_count(before)
            if before.ref == after.ref
            else _missing_tokens(after) > _missing_tokens(before)
        )

    @property
    def is_restored(self) -> bool:
        """Whether it was shortened, and would be in with all its words."""
        before, after = self.before, self.after
        shortened = before is not None and before.code in SHORTENED_CODES
        return shortened and after is not None and after.included and after.code not in SHORTENED_CODES


@dataclass(frozen=True, slots=True)
class SectionChange:
    """What becomes of one section. None: the context has no such section."""

    before: SectionResult | None
    after: SectionResult | None
    changes: tuple[DecisionChange, ...] = ()
    """Of its items, and of those that moved here."""
    moved_out_count: int = 0
    """How many of its items would stand in another section."""

    @property
    def section(self) -> SectionResult:
        """The later one, if there is one."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - a change is of something
        return found

    @property
    def tokens_before(self) -> int:
        """0 where there was none."""
        return self.before.tokens if self.before else 0

    @property
    def tokens_after(self) -> int:
        """0 where there is none."""
        return self.after.tokens if self.after else 0

    @property
    def is_same(self) -> bool:
        """Whether a reader would see no difference in it. What stands before it may still change its count by a few."""
        return not self.changes and not self.moved_out_count and _is_as_complete(self.before, self.after)


@dataclass(frozen=True, slots=True)
class ContextDiff:
    """All that is different. Tokens are those of the whole contexts; the sections' add up to them."""

    sections: tuple[SectionChange, ...]
    """Those of the later context in its order, with those that it has not where they stood before."""
    changes: tuple[DecisionChange, ...]
    """What comes in, what goes, what moves and what else changes, in this order."""
    tokens_before: int
    tokens_after: int

    @property
    def newly_in(self) -> tuple[DecisionChange, ...]:
        return self._of("in")

    @property
    def pushed_out(self) -> tuple[DecisionChange, ...]:
        return self._of("out")

    @property
    def newly_cut(self) -> tuple[DecisionChange, ...]:
        """What stays in, with more missing than before."""
        return tuple(change for change in self.changes if change.is_cut)

    @property
    def is_same(self) -> bool:
        """Whether nothing is different."""
        return not self.changes and all(section.is_same for section in self.sections)

    def _of(self, effect: ChangeEffect) -> tuple[DecisionChange, ...]:
        return tuple(change for change in self.changes if change.effect == effect)


def diff_contexts(before: DiffableContext, after: DiffableContext) -> ContextDiff:
    """What is different in the later context."""
    changes = diff_decisions(before.decisions, after.decisions)
    return ContextDiff(_section_changes(before, after, changes), changes, before.tokens, after.tokens)


def diff_decisions(before: Sequence[Decision], after: Sequence[Decision]) -> tuple[DecisionChange, ...]:
    """What comes in, what goes, what moves and what else changes, in this order, each in the order of its context."""
    twice = _duplicated_items(before) | _duplicated_items(after)
    old, new = _decisions_by_key(before, twice), _decisions_by_key(after, twice)
    went = [place for place in old if _is_included(old, place) and not _is_included(new, place)]
    found: list[DecisionChange] = []
    for place in (place for place in new if _is_included(new, place) and not _is_included(old, place)):
        left = next((other for other in went if other[1] == place[1]), None)
        if left:  # it stood elsewhere
            went.remove(left)
        found.append(
            DecisionChange("moved", old[left], new[place]) if left else DecisionChange("in", old.get(place), new[place])
        )
    found += [DecisionChange("out", old[place], new.get(place)) for place in went]
    found += [
        DecisionChange("changed", old[place], new[place]) for place in new if _differs(old.get(place), new[place])
    ]
    return tuple(sorted(found, key=lambda change: CHANGE_EFFECTS.index(change.effect)))


def _differs(old: Decision | None, new: Decision) -> bool:
    """Whether something else is different of what stays where it is, in or out."""
    if old is None or old.included != new.included:
        return False
    rescored = None not in {old.score, new.score} and old.score != new.score
    return rescored or (new.included and _comparable_fields(old) != _comparable_fields(new))


def _comparable_fields(decision: Decision) -> tuple[object, ...]:
    return decision.ref, decision.code, decision.rank, _character_count(decision)


def _character_count(decision: Decision) -> int:
    """In characters, as it stands in the context."""
    return (decision.end or 0) - (decision.start or 0)


def _missing_tokens(decision: Decision) -> int:
    """In tokens, about."""
    return max(0, decision.tokens_full - decision.tokens)


def _is_included(decisions: Mapping[ItemKey, Decision], place: ItemKey) -> bool:
    return place in decisions and decisions[place].included


def _duplicated_items(decisions: Sequence[Decision]) -> set[ItemKey]:
    """Things of which two versions stand in one section."""
    times = Counter((decision.section, without_version(decision.ref)) for decision in decisions)
    return {place for place, count in times.items() if count > 1}


def _decisions_by_key(decisions: Sequence[Decision], twice: set[ItemKey]) -> dict[ItemKey, Decision]:
    """Of what stands somewhere twice, each version is a thing of its own."""
    places = ((one.section, without_version(one.ref)) for one in decisions)
    return {(place[0], one.ref) if place in twice else place: one for place, one in zip(places, decisions, strict=True)}


def _section_changes(
    before: DiffableContext, after: DiffableContext, changes: Sequence[DecisionChange]
) -> tuple[SectionChange, ...]:
    old, new = ({section.key: section for section in context.sections} for context in (before, after))
    of_section: dict[str, list[DecisionChange]] = {}
    for change in changes:
        of_section.setdefault(change.decision.section, []).append(change)
    moved = Counter(change.before.section for change in changes if change.effect == "moved" and change.before)
    return tuple(
        SectionChange(old.get(key), new.get(key), tuple(of_section.get(key, ())), moved[key])
        for key in _merged_keys([*old], [*new])
    )


def _merged_keys(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The new keys in their order, each that is gone right after the one that it followed."""
    merged = [*new]
    for place, key in enumerate(old):
        if key not in merged:
            merged.insert(merged.index(old[place - 1]) + 1 if place else 0, key)
    return merged


def _is_as_complete(before: SectionResult | None, after: SectionResult | None) -> bool:
    """Whether a section is as whole as it was; none is as good as an empty one."""
    return (before.status if before else "empty") == (after.status if after else "empty")
