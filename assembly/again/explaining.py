"""Each difference between a context on record and the same request today, explained by what changed in between.

What happened to the thing itself comes first; where nothing did, what else was decided by: settings, the others of its
section, the room that the sections before it took. What none of these explains is said to be unexplained.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from assembly.again.asking import Whom
from assembly.again.beside import Beside
from assembly.again.cause import Cause
from assembly.again.profile_causes import profile_cause, touches
from assembly.again.rule_causes import rule_causes
from assembly.again.side import Side
from assembly.again.thing_causes import Pair, ThingCauses
from assembly.again.things import things_today
from assembly.comparing import Change, named
from assembly.engine.appending import LATEST
from assembly.engine.codes import Code
from assembly.engine.profile import Profile
from assembly.engine.ruling import ALWAYS_INCLUDED
from assembly.models import Assembly
from assembly.sources import Situation
from assembly.sources.daily_logs import days_told
from assembly.warnings import label_of

Explained = tuple[Change, tuple[Cause, ...]]


def explained(beside: Beside, assembly: Assembly, whom: Whom) -> tuple[Explained, ...]:
    """Every change with its causes, at least one each. A bounded number of queries, however many changes there are."""
    explaining = _Explaining.of(beside, assembly, whom)
    return tuple((pair.change, tuple(explaining.causes(pair))) for pair in explaining.pairs)


def deeds_of(found: Sequence[Explained]) -> tuple[Cause, ...]:
    """What was changed since, each thing once, in the order of the changes that it brought."""
    return tuple(dict.fromkeys(cause for _, causes in found for cause in causes if cause.is_deed))


@dataclass(slots=True)
class _Explaining:
    """Two contexts, and what was read to explain their differences."""

    beside: Beside
    pairs: tuple[Pair, ...]
    things: ThingCauses
    rules: dict[str, Cause]
    profile: Cause | None
    others: dict[str, frozenset[str]] = field(default_factory=dict)
    """By section, the things that are not the same there."""

    @classmethod
    def of(cls, beside: Beside, assembly: Assembly, whom: Whom) -> "_Explaining":
        before, after = beside.before, beside.after
        pairs = _pairs(beside)
        moments = (before.inputs.request.now, after.inputs.request.now)
        days_then, days = (days_told(Situation(whom.agent, whom.team, None, now)) for now in moments)
        return cls(
            beside,
            pairs,
            ThingCauses(things_today(pair.ref for pair in pairs), assembly.created, days, days_then),
            rule_causes(before.inputs.request.rules, after.inputs.request.rules, assembly.created),
            profile_cause(before.inputs.profile, _alike(after.inputs.profile, assembly)),
        )

    def causes(self, pair: Pair) -> list[Cause]:
        """What explains the change, the nearest first."""
        if absent := [*self._source(pair), *self._afterwards(pair)]:
            return absent
        if direct := [*self.things.of(pair), *self._rules(pair), *self._profile(pair)]:
            return list(dict.fromkeys(direct))
        found = [*self._time(pair), *self._budget(pair), *self._others(pair), *self._room(pair)]
        return found or [Cause("unknown")]

    def _source(self, pair: Pair) -> Iterator[Cause]:
        """That the source did not answer, which took everything of it away."""
        source = self._source_of(pair)
        if pair.before is None and source in self.beside.before.missing:
            yield Cause("source_failed_then", label_of(source))
        if pair.after is None and source in self.beside.after.missing:
            yield Cause("source_failed_now", label_of(source))

    def _afterwards(self, pair: Pair) -> Iterator[Cause]:
        if pair.after is None and pair.change.decision.section == LATEST.key:
            yield Cause("added_afterwards")

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

    def _time(self, pair: Pair) -> Iterator[Cause]:
        """That a score fell because the thing is older now, or that it was good until a date that has passed."""
        before, after = pair.before, pair.after
        aged = before and after and before.measures.get("recency") != after.measures.get("recency")
        if aged or (pair.change.after and pair.change.after.code is Code.EXPIRED):
            yield Cause("time_passed")

    def _budget(self, pair: Pair) -> Iterator[Cause]:
        old, new = self.beside.before.inputs.request.budget, self.beside.after.inputs.request.budget
        if old != new and (_wants_room(pair.change) or pair.change.is_whole_again):
            yield Cause("budget_changed", before=old, after=new)
            if self.profile and self.beside.before.inputs.profile.budget == old:
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


def _alike(profile: Profile, assembly: Assembly) -> Profile:
    """The profile of today as the record would hold it: what is added to is not told shorter any more."""
    return replace(profile, over_budget=(), fill=False) if assembly.parent else profile


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
