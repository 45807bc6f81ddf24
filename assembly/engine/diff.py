"""Two contexts are compared section by section and item by item, without side effects.

Items are matched by their refs without the version: a file that was saved between the two contexts is the same file
with another text.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from assembly.engine.codes import Code
from assembly.engine.refs import without_version
from assembly.engine.types import Decision, SectionResult

ChangeEffect = Literal["in", "out", "moved", "changed"]
"""The kinds of change of an item. in: newly included; out: no longer included; moved: included in another section;
changed: its score differs, or it stays included with another text or rank, or is cut at another place.
"""

CHANGE_EFFECTS: tuple[ChangeEffect, ...] = get_args(ChangeEffect)
SHORTENED_CODES = frozenset({Code.TRUNCATED, Code.COMPACTED, Code.SUMMARISED})
ItemKey = tuple[str, str]
"""A section's key, and the ref of an item in it without its version."""


class DiffableContext(Protocol):
    """A context that can be compared: an engine result or a recorded context."""

    @property
    def sections(self) -> Sequence[SectionResult]: ...
    @property
    def decisions(self) -> Sequence[Decision]: ...
    @property
    def tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class DecisionChange:
    """The change of one item between two contexts; `before` or `after` is None if that context did not consider it."""

    effect: ChangeEffect
    before: Decision | None
    after: Decision | None

    @property
    def decision(self) -> Decision:
        """The later decision; the earlier one if there is no later one."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - a change is of something
        return found

    @property
    def ref(self) -> str:
        """The ref of the later decision; that of the earlier one if there is no later one."""
        return self.decision.ref

    @property
    def is_cut(self) -> bool:
        """Whether the item stays included, and more of its text is missing than before."""
        before, after = self.before, self.after
        if not (before and after and before.included and after.code in SHORTENED_CODES):
            return False
        if before.code not in SHORTENED_CODES:
            return True
        # The same version is compared by its included characters, two versions by their missing tokens.
        return (
            _character_count(after) < _character_count(before)
            if before.ref == after.ref
            else _missing_tokens(after) > _missing_tokens(before)
        )

    @property
    def is_restored(self) -> bool:
        """Whether the item was shortened before, and is included whole now."""
        before, after = self.before, self.after
        shortened = before is not None and before.code in SHORTENED_CODES
        return shortened and after is not None and after.included and after.code not in SHORTENED_CODES


@dataclass(frozen=True, slots=True)
class SectionChange:
    """The change of one section; `before` or `after` is None if that context has no such section."""

    before: SectionResult | None
    after: SectionResult | None
    changes: tuple[DecisionChange, ...] = ()
    """Changes of the section's items, including those that moved into the section."""
    moved_out_count: int = 0
    """How many of the section's items moved to another section."""

    @property
    def section(self) -> SectionResult:
        """The later result of the section; the earlier one if there is no later one."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - a change is of something
        return found

    @property
    def tokens_before(self) -> int:
        """Tokens of the section in the earlier context; 0 if it had no such section."""
        return self.before.tokens if self.before else 0

    @property
    def tokens_after(self) -> int:
        """Tokens of the section in the later context; 0 if it has no such section."""
        return self.after.tokens if self.after else 0

    @property
    def is_same(self) -> bool:
        """Whether a reader would see no difference in the section; its token count may still differ slightly."""
        return not self.changes and not self.moved_out_count and _is_as_complete(self.before, self.after)


@dataclass(frozen=True, slots=True)
class ContextDiff:
    """All differences between two contexts, with the tokens of the whole contexts, to which their sections add up."""

    sections: tuple[SectionChange, ...]
    """Sections in the order of the later context; each one that it lacks comes where the earlier context had it."""
    changes: tuple[DecisionChange, ...]
    """Changes of items: newly included ones first, then excluded, moved and otherwise changed ones."""
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
        """Changes of the items that stay included with more of their text missing than before."""
        return tuple(change for change in self.changes if change.is_cut)

    @property
    def is_same(self) -> bool:
        """Whether the two contexts do not differ."""
        return not self.changes and all(section.is_same for section in self.sections)

    def _of(self, effect: ChangeEffect) -> tuple[DecisionChange, ...]:
        return tuple(change for change in self.changes if change.effect == effect)


def diff_contexts(
    before: DiffableContext, after: DiffableContext, texts: Mapping[str, str] | None = None
) -> ContextDiff:
    """Return all differences of the later context from the earlier one.

    `texts` are those of items by ref: two versions of an item with the same text count as the same, as after an old
    version was restored. Without them, another version counts as a change.
    """
    changes = diff_decisions(before.decisions, after.decisions, texts)
    return ContextDiff(_section_changes(before, after, changes), changes, before.tokens, after.tokens)


def diff_decisions(
    before: Sequence[Decision], after: Sequence[Decision], texts: Mapping[str, str] | None = None
) -> tuple[DecisionChange, ...]:
    """Return the changes of items, sorted by effect (in, out, moved, changed), then by their order in the context.

    `texts` are described at `diff_contexts`.
    """
    twice = _duplicated_items(before) | _duplicated_items(after)
    old, new = _decisions_by_key(before, twice), _decisions_by_key(after, twice)
    went = [place for place in old if _is_included(old, place) and not _is_included(new, place)]
    found: list[DecisionChange] = []
    for place in (place for place in new if _is_included(new, place) and not _is_included(old, place)):
        left = next((other for other in went if other[1] == place[1]), None)
        if left:  # the earlier context had it in another section
            went.remove(left)
        found.append(
            DecisionChange("moved", old[left], new[place]) if left else DecisionChange("in", old.get(place), new[place])
        )
    found += [DecisionChange("out", old[place], new.get(place)) for place in went]
    found += [
        DecisionChange("changed", old[place], new[place])
        for place in new
        if _differs(old.get(place), new[place], texts or {})
    ]
    return tuple(sorted(found, key=lambda change: CHANGE_EFFECTS.index(change.effect)))


def _differs(old: Decision | None, new: Decision, texts: Mapping[str, str]) -> bool:
    """Whether an item that stays included, or stays excluded, differs in its score or, if included, in text or rank."""
    if old is None or old.included != new.included:
        return False
    rescored = None not in {old.score, new.score} and old.score != new.score
    has_same_text = old.ref == new.ref or (new.ref in texts and texts[new.ref] == texts.get(old.ref))
    return rescored or (new.included and not (has_same_text and _comparable_fields(old) == _comparable_fields(new)))


def _comparable_fields(decision: Decision) -> tuple[object, ...]:
    return decision.code, decision.rank, _character_count(decision)


def _character_count(decision: Decision) -> int:
    """Return the number of characters that the item takes in the context."""
    return (decision.end or 0) - (decision.start or 0)


def _missing_tokens(decision: Decision) -> int:
    """Return about how many tokens of the item are missing in the context."""
    return max(0, decision.tokens_full - decision.tokens)


def _is_included(decisions: Mapping[ItemKey, Decision], place: ItemKey) -> bool:
    return place in decisions and decisions[place].included


def _duplicated_items(decisions: Sequence[Decision]) -> set[ItemKey]:
    """Return the keys of the items of which one section holds two versions."""
    times = Counter((decision.section, without_version(decision.ref)) for decision in decisions)
    return {place for place, count in times.items() if count > 1}


def _decisions_by_key(decisions: Sequence[Decision], twice: set[ItemKey]) -> dict[ItemKey, Decision]:
    """Return the decisions by item key; for items in `twice`, the key has the version, which tells them apart."""
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
    """Return the new keys in order, with each removed key inserted right after the one that it followed."""
    merged = [*new]
    for place, key in enumerate(old):
        if key not in merged:
            merged.insert(merged.index(old[place - 1]) + 1 if place else 0, key)
    return merged


def _is_as_complete(before: SectionResult | None, after: SectionResult | None) -> bool:
    """Whether the section has the same status in both contexts; a missing section counts as an empty one."""
    return (before.status if before else "empty") == (after.status if after else "empty")
