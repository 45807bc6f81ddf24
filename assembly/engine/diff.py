"""What is different between two contexts: section by section, and item by item. Pure.

Things are recognised by what their refs name, whichever version it is of: a file that was saved in between is the same
file, with another text.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from assembly.engine.codes import Code
from assembly.engine.types import Decision, SectionResult

Effect = Literal["in", "out", "moved", "changed"]
"""in: it comes in; out: it goes; moved: it stands in another section; changed: its score is another, or it stays in but
with another text, rank, or cut at another place."""

EFFECTS: tuple[Effect, ...] = get_args(Effect)
SHORTENED = frozenset({Code.TRUNCATED, Code.COMPACTED, Code.SUMMARISED})
_VERSION = re.compile(r"@(?:[0-9]+|[a-z]+)\Z")
Place = tuple[str, str]
"""A section, and what a ref names there."""


class Context(Protocol):
    """What is compared: a context that the engine made just now, or one on record."""

    @property
    def sections(self) -> Sequence[SectionResult]: ...
    @property
    def decisions(self) -> Sequence[Decision]: ...
    @property
    def tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one thing. None: it is not considered in that context at all."""

    effect: Effect
    before: Decision | None
    after: Decision | None

    @property
    def decision(self) -> Decision:
        """The later one, if there is one."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - a change is of something
        return found

    @property
    def is_cut(self) -> bool:
        """Whether it stays in, and more of it is missing than before."""
        before, after = self.before, self.after
        if not (before and after and before.included and after.code in SHORTENED):
            return False
        if before.code not in SHORTENED:
            return True
        # Of one text, what is told tells; of two, what is not.
        return _length(after) < _length(before) if before.ref == after.ref else _missing(after) > _missing(before)

    @property
    def is_whole_again(self) -> bool:
        """Whether it was shortened, and would be in with all its words."""
        before, after = self.before, self.after
        shortened = before is not None and before.code in SHORTENED
        return shortened and after is not None and after.included and after.code not in SHORTENED


@dataclass(frozen=True, slots=True)
class SectionChange:
    """What becomes of one section. None: the context has no such section."""

    before: SectionResult | None
    after: SectionResult | None
    changes: tuple[Change, ...] = ()
    """Of its items, and of those that moved here."""
    moved_away: int = 0
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
        return not self.changes and not self.moved_away and _as_whole(self.before, self.after)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that is different. Tokens are those of the whole contexts; the sections' add up to them."""

    sections: tuple[SectionChange, ...]
    """Those of the later context in its order, with those that it has not where they stood before."""
    changes: tuple[Change, ...]
    """What comes in, what goes, what moves and what else changes, in this order."""
    tokens_before: int
    tokens_after: int

    @property
    def newly_in(self) -> tuple[Change, ...]:
        return self._of("in")

    @property
    def pushed_out(self) -> tuple[Change, ...]:
        return self._of("out")

    @property
    def newly_cut(self) -> tuple[Change, ...]:
        """What stays in, with more missing than before."""
        return tuple(change for change in self.changes if change.is_cut)

    @property
    def is_same(self) -> bool:
        """Whether nothing is different."""
        return not self.changes and all(section.is_same for section in self.sections)

    def _of(self, effect: Effect) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.effect == effect)


def compare(before: Context, after: Context) -> Comparison:
    """What is different in the later context."""
    changes = changes_between(before.decisions, after.decisions)
    return Comparison(_sections(before, after, changes), changes, before.tokens, after.tokens)


def changes_between(before: Sequence[Decision], after: Sequence[Decision]) -> tuple[Change, ...]:
    """What comes in, what goes, what moves and what else changes, in this order, each in the order of its context."""
    twice = _twice(before) | _twice(after)
    old, new = _by_place(before, twice), _by_place(after, twice)
    went = [place for place in old if _is_in(old, place) and not _is_in(new, place)]
    found: list[Change] = []
    for place in (place for place in new if _is_in(new, place) and not _is_in(old, place)):
        left = next((other for other in went if other[1] == place[1]), None)
        if left:  # it stood elsewhere
            went.remove(left)
        found.append(Change("moved", old[left], new[place]) if left else Change("in", old.get(place), new[place]))
    found += [Change("out", old[place], new.get(place)) for place in went]
    found += [Change("changed", old[place], new[place]) for place in new if _differs(old.get(place), new[place])]
    return tuple(sorted(found, key=lambda change: EFFECTS.index(change.effect)))


def named(ref: str) -> str:
    """What the ref names, without the version: a number, or a word for one that is not saved yet."""
    return _VERSION.sub("", ref)


def _differs(old: Decision | None, new: Decision) -> bool:
    """Whether something else is different of what stays where it is, in or out."""
    if old is None or old.included != new.included:
        return False
    rescored = None not in {old.score, new.score} and old.score != new.score
    return rescored or (new.included and _standing(old) != _standing(new))


def _standing(decision: Decision) -> tuple[object, ...]:
    return decision.ref, decision.code, decision.rank, _length(decision)


def _length(decision: Decision) -> int:
    """In characters, as it stands in the context."""
    return (decision.end or 0) - (decision.start or 0)


def _missing(decision: Decision) -> int:
    """In tokens, about."""
    return max(0, decision.tokens_full - decision.tokens)


def _is_in(decisions: Mapping[Place, Decision], place: Place) -> bool:
    return place in decisions and decisions[place].included


def _twice(decisions: Sequence[Decision]) -> set[Place]:
    """Things of which two versions stand in one section."""
    times = Counter((decision.section, named(decision.ref)) for decision in decisions)
    return {place for place, count in times.items() if count > 1}


def _by_place(decisions: Sequence[Decision], twice: set[Place]) -> dict[Place, Decision]:
    """Of what stands somewhere twice, each version is a thing of its own."""
    places = ((one.section, named(one.ref)) for one in decisions)
    return {(place[0], one.ref) if place in twice else place: one for place, one in zip(places, decisions, strict=True)}


def _sections(before: Context, after: Context, changes: Sequence[Change]) -> tuple[SectionChange, ...]:
    old, new = ({section.key: section for section in context.sections} for context in (before, after))
    of_section: dict[str, list[Change]] = {}
    for change in changes:
        of_section.setdefault(change.decision.section, []).append(change)
    moved = Counter(change.before.section for change in changes if change.effect == "moved" and change.before)
    return tuple(
        SectionChange(old.get(key), new.get(key), tuple(of_section.get(key, ())), moved[key])
        for key in _merged([*old], [*new])
    )


def _merged(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The new keys in their order, each that is gone right after the one that it followed."""
    merged = [*new]
    for place, key in enumerate(old):
        if key not in merged:
            merged.insert(merged.index(old[place - 1]) + 1 if place else 0, key)
    return merged


def _as_whole(before: SectionResult | None, after: SectionResult | None) -> bool:
    """Whether a section is as whole as it was; none is as good as an empty one."""
    return (before.status if before else "empty") == (after.status if after else "empty")
