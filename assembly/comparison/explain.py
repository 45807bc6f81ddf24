"""Each difference between a context on record and another one, or the same request today, explained by what changed.

What happened to the thing itself comes first; where nothing did, what else was decided by: settings, the others of its
section, the room that the sections before it took. What none of these explains is said to be unexplained.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from assembly.comparison.cause_finders import AskedCauses, Pair, ThingCauses, profile_cause, rule_causes, touches
from assembly.comparison.causes import Cause
from assembly.comparison.interval import Meantime
from assembly.comparison.side_by_side import Beside, Side
from assembly.comparison.thing_history import things_at
from assembly.engine.assemble import LATEST
from assembly.engine.codes import Code
from assembly.engine.diff import Change, named
from assembly.engine.profile import Profile
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.records.warnings import label_of

Explained = tuple[Change, tuple[Cause, ...]]
Either = TypeVar("Either")


def explained(beside: Beside, meantime: Meantime) -> tuple[Explained, ...]:
    """Every change with its causes, at least one each. A bounded number of queries, however many changes there are."""
    explaining = _Explaining.of(beside, meantime)
    return tuple((pair.change, tuple(explaining.causes(pair))) for pair in explaining.pairs)


def deeds_of(found: Sequence[Explained]) -> tuple[Cause, ...]:
    """What was changed since, each thing once, in the order of the changes that it brought."""
    return tuple(dict.fromkeys(cause for _, causes in found for cause in causes if cause.is_deed))


@dataclass(slots=True)
class _Explaining:
    """Two contexts, and what was read to explain their differences."""

    beside: Beside
    meantime: Meantime
    pairs: tuple[Pair, ...]
    asked: AskedCauses
    things: ThingCauses
    rules: dict[str, Cause]
    profile: Cause | None
    others: dict[str, frozenset[str]] = field(default_factory=dict)
    """By section, the things that are not the same there."""

    @classmethod
    def of(cls, beside: Beside, meantime: Meantime) -> "_Explaining":
        early, late = (side.inputs for side in _in_time(beside.before, beside.after, meantime))
        pairs, then, until = _pairs(beside), meantime.then, meantime.until
        days_then, days = meantime.days(early.request.now, late.request.now)
        return cls(
            beside,
            meantime,
            pairs,
            AskedCauses(meantime, beside.before.inputs, beside.after.inputs),
            ThingCauses(things_at((pair.ref for pair in pairs), until), then, days, days_then),
            rule_causes(early.request.rules, late.request.rules, then, until),
            _profile_cause(beside, meantime),
        )

    def causes(self, pair: Pair) -> list[Cause]:
        """What explains the change, the nearest first."""
        source, past = self._source_of(pair), self._in_time(pair)
        if absent := [*self._failure(past, source), *self._afterwards(pair), *self.asked.whose(pair, source)]:
            return absent
        topic = [*self.asked.topic(source)]
        if direct := [*self.things.of(past), *self._rules(pair), *self._profile(pair), *self.asked.of(pair)]:
            return list(dict.fromkeys([*direct, *topic]))
        found = [*topic, *self._time(past), *self._budget(pair), *self._others(pair), *self._room(pair)]
        return found or [*self.asked.otherwise()] or [Cause("unknown")]

    def _in_time(self, pair: Pair) -> Pair:
        """The same, the earlier one first, in whichever order they are looked at."""
        return Pair(pair.change, *_in_time(pair.before, pair.after, self.meantime))

    def _failure(self, past: Pair, source: str) -> Iterator[Cause]:
        """That the source did not answer, which took everything of it away."""
        early, late = _in_time(self.beside.before, self.beside.after, self.meantime)
        if past.before is None and source in early.missing:
            yield Cause("source_failed_then", label_of(source))
        if past.after is None and source in late.missing:
            yield Cause("source_failed_later" if self.meantime.late else "source_failed_now", label_of(source))

    def _afterwards(self, pair: Pair) -> Iterator[Cause]:
        if pair.is_of_one and pair.change.decision.section == LATEST.key:
            yield Cause("added_to_one" if self.meantime.late else "added_afterwards")

    def _rules(self, pair: Pair) -> Iterator[Cause]:
        decisions = [one for one in (pair.change.before, pair.change.after) if one]
        labels = [label for one in decisions for label in str(one.detail.get("rule", "")).split(", ")]
        yield from (self.rules[name] for label in labels if (name := label.partition("@")[0]) in self.rules)
        if any(one.section == ALWAYS_INCLUDED.key for one in decisions) and not any(labels):
            yield from self.rules.values()

    def _profile(self, pair: Pair) -> Iterator[Cause]:
        profiles = self.beside.before.inputs.profile, self.beside.after.inputs.profile
        if self.profile and touches(pair.change.decision.section, *profiles):
            yield self.profile

    def _time(self, past: Pair) -> Iterator[Cause]:
        """That a score fell because the thing is older now, or that it was good until a date that has passed."""
        before, after = past.before, past.after
        aged = before and after and before.measures.get("recency") != after.measures.get("recency")
        _, fate = _in_time(past.change.before, past.change.after, self.meantime)
        if aged or (fate and fate.code is Code.EXPIRED):
            yield Cause("time_passed")

    def _budget(self, pair: Pair) -> Iterator[Cause]:
        if _wants_room(pair.change) or pair.change.is_whole_again:
            room = [*self.asked.room()]
            yield from room
            if self.profile and any(cause.kind == "budget_changed" for cause in room):
                yield self.profile

    def _others(self, pair: Pair) -> Iterator[Cause]:
        """That others of its section are new, or gone: ranks and room there are not what they were."""
        key = pair.change.decision.section
        if key not in self.others:
            self.others[key] = _others_of(key, self.beside)
        if others := self.others[key] - {named(pair.ref)}:
            label = next(one.section.label for one in self.beside.comparison.sections if one.section.key == key)
            yield Cause("others_in_section", label, after=len(others))

    def _room(self, pair: Pair) -> Iterator[Cause]:
        """That the sections before it take more or less of the budget than they did."""
        if not _wants_room(pair.change):
            return
        for section in self.beside.comparison.sections:
            if section.section.key == pair.change.decision.section:
                return
            if section.tokens_before != section.tokens_after:
                yield Cause("room_before", section.section.label, "", section.tokens_before, section.tokens_after)

    def _source_of(self, pair: Pair) -> str:
        """The name under which the source of the change's section reports."""
        key = pair.change.decision.section
        side = self.beside.after if pair.after else self.beside.before
        source = next((one.source for one in side.inputs.profile.sections if one.key == key), "")
        return f"{source}:{key}" if source == "external" else source


def _in_time(before: Either, after: Either, meantime: Meantime) -> tuple[Either, Either]:
    """Both, the earlier one first."""
    return (after, before) if meantime.is_backward else (before, after)


def _profile_cause(beside: Beside, meantime: Meantime) -> Cause | None:
    """What became of the profile, or that another one was asked for."""
    before, after = (_alike(side.inputs.profile, meantime) for side in (beside.before, beside.after))
    if before.name != after.name:
        return Cause("profile_chosen", after.name, f"profile:{after.name}", note=before.name)
    found = profile_cause(*_in_time(before, after, meantime))
    return Cause("strategy_changed", found.name, found.ref) if found and meantime.differ("strategy") else found


def _alike(profile: Profile, meantime: Meantime) -> Profile:
    """The profile as both records hold it: what an event is added to is not told shorter any more."""
    return replace(profile, over_budget=(), fill=False) if meantime.is_added_to else profile


def _pairs(beside: Beside) -> tuple[Pair, ...]:
    before, after = beside.before.candidates, beside.after.candidates
    return tuple(
        Pair(
            change,
            before[change.before.section, change.before.ref] if change.before else None,
            after[change.after.section, change.after.ref] if change.after else None,
        )
        for change in beside.comparison.changes
    )


def _others_of(key: str, beside: Beside) -> frozenset[str]:
    """The things that the section has anew, has no more, or has in another version."""
    was, now = (_refs_of(side, key) for side in (beside.before, beside.after))
    return frozenset(one for one in was.keys() | now.keys() if was.get(one) != now.get(one))


def _refs_of(side: Side, key: str) -> dict[str, str]:
    return {named(one.ref): one.ref for one in side.inputs.candidates if one.section == key}


def _wants_room(change: Change) -> bool:
    return any(one is not None and one.code.for_want_of_room for one in (change.before, change.after)) or change.is_cut
