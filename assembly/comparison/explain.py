"""Each difference between two contexts is explained by what changed.

The history of the item itself comes first; without one, other causes follow: parameters, other items of its section,
the tokens that earlier sections used. A difference without any cause is marked as unexplained.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from time import thread_time
from typing import TypeVar

from assembly.comparison.cause_finders import (
    ChangePair,
    RecordCauses,
    RequestCauses,
    affects_section,
    conflict_causes,
    profile_cause,
    rule_causes,
)
from assembly.comparison.causes import Cause
from assembly.comparison.interval import ComparisonInterval
from assembly.comparison.side_by_side import ComparedContext, SideBySide, compared_from_record
from assembly.comparison.thing_history import load_record_states
from assembly.engine.assemble import LATEST_SECTION
from assembly.engine.codes import Code
from assembly.engine.diff import DecisionChange
from assembly.engine.profile import Profile
from assembly.engine.refs import without_version
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.models import Assembly
from assembly.records.reader import load_record
from assembly.records.warnings import recorded_source_label
from config.http.cpu_budget import check_cpu

ExplainedChanges = tuple[DecisionChange, tuple[Cause, ...]]
Either = TypeVar("Either")


@dataclass(frozen=True, slots=True)
class ExplainedComparison:
    """Two contexts in the order in which they are compared, with the causes of each change."""

    beside: SideBySide
    changes: tuple[ExplainedChanges, ...]

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The edits between the two contexts, each once."""
        return edits_of(self.changes)


def explain_changes(beside: SideBySide, interval: ComparisonInterval) -> tuple[ExplainedChanges, ...]:
    """Return every change with its causes, at least one each; a constant number of queries."""
    explaining = _ChangeExplainer.of(beside, interval)
    return tuple((pair.change, tuple(explaining.causes(pair))) for pair in explaining.pairs)


def edits_of(found: Sequence[ExplainedChanges]) -> tuple[Cause, ...]:
    """Return the edits, each once, in the order of the changes that they caused."""
    return tuple(dict.fromkeys(cause for _, causes in found for cause in causes if cause.is_edit))


def compare_records(before: Assembly, after: Assembly) -> ExplainedComparison:
    """Compare two recorded contexts. Raises RecordDamaged, and TooCostly. The caller checks permissions."""
    begun = thread_time()
    side = compared_from_record(load_record(before))
    check_cpu(thread_time() - begun)  # the second replay takes about as long, and cannot be stopped
    beside = SideBySide.of(side, compared_from_record(load_record(after)))
    return ExplainedComparison(beside, explain_changes(beside, ComparisonInterval.between(before, after)))


@dataclass(slots=True)
class _ChangeExplainer:
    """Two contexts, and the data that explains their differences."""

    beside: SideBySide
    interval: ComparisonInterval
    pairs: tuple[ChangePair, ...]
    asked: RequestCauses
    things: RecordCauses
    rules: dict[str, Cause]
    profile: Cause | None
    others: dict[str, frozenset[str]] = field(default_factory=dict)
    """The items that differ, by section."""

    @classmethod
    def of(cls, beside: SideBySide, interval: ComparisonInterval) -> "_ChangeExplainer":
        earlier, late = (side.inputs for side in _in_time_order(beside.before, beside.after, interval))
        pairs, then, until = _change_pairs(beside), interval.then, interval.until
        original_days, days = interval.days(earlier.request.now, late.request.now)
        return cls(
            beside,
            interval,
            pairs,
            RequestCauses(interval, beside.before.inputs, beside.after.inputs),
            RecordCauses(load_record_states((pair.candidate.ref for pair in pairs), until), then, days, original_days),
            rule_causes(earlier.request.rules, late.request.rules, then, until),
            _profile_cause(beside, interval),
        )

    def causes(self, pair: ChangePair) -> list[Cause]:
        """Return the causes of the change, the most direct first."""
        source, past = self._source_of(pair), self._in_time(pair)
        if absent := [*self._source_failure(past, source), *self._causes_since(pair), *self.asked.whose(pair, source)]:
            return absent
        topic = [*self.asked.topic(source)]
        others = self._rules(pair), self._conflicts(pair), self._profile(pair), self.asked.of(pair)
        if direct := [*self.things.of(past), *chain.from_iterable(others)]:
            return list(dict.fromkeys([*direct, *topic]))
        found = [*topic, *self._time(past), *self._budget(pair), *self._others(pair), *self._room(pair)]
        return found or [*self.asked.otherwise()] or [Cause("unknown")]

    def _in_time(self, pair: ChangePair) -> ChangePair:
        """Return the pair with the earlier context first."""
        return ChangePair(pair.change, *_in_time_order(pair.before, pair.after, self.interval))

    def _source_failure(self, past: ChangePair, source: str) -> Iterator[Cause]:
        """Yield the cause that the source failed, so that all its items are missing."""
        earlier, late = _in_time_order(self.beside.before, self.beside.after, self.interval)
        if past.before is None and source in earlier.missing:
            yield Cause("source_failed_before", recorded_source_label(source))
        if past.after is None and source in late.missing:
            yield Cause(
                "source_failed_after" if self.interval.late else "source_failed_now", recorded_source_label(source)
            )

    def _causes_since(self, pair: ChangePair) -> Iterator[Cause]:
        if pair.is_in_one_context and pair.change.decision.section == LATEST_SECTION.key:
            yield Cause("added_to_one_side" if self.interval.late else "added_afterwards")

    def _rules(self, pair: ChangePair) -> Iterator[Cause]:
        decisions = [one for one in (pair.change.before, pair.change.after) if one]
        labels = [label for one in decisions for label in str(one.detail.get("rule", "")).split(", ")]
        yield from (self.rules[name] for label in labels if (name := label.partition("@")[0]) in self.rules)
        if any(one.section == ALWAYS_INCLUDED.key for one in decisions) and not any(labels):
            yield from self.rules.values()

    def _conflicts(self, pair: ChangePair) -> Iterator[Cause]:
        """Yield what became of the conflicts in which the item lost, or stayed with a mark, in one of the contexts."""
        sides = _in_time_order(self.beside.before, self.beside.after, self.interval)
        mine = {one.ref for one in (pair.change.before, pair.change.after) if one}
        lost = (one for side in sides for one in side.decisions if "conflict" in one.detail)
        ids = dict.fromkeys(str(one.detail["conflict"]) for one in lost if mine & {one.ref, one.detail["by"]})
        if ids:
            yield from conflict_causes(ids, *(side.inputs.request.reconciliations for side in sides))

    def _profile(self, pair: ChangePair) -> Iterator[Cause]:
        profiles = self.beside.before.inputs.profile, self.beside.after.inputs.profile
        if self.profile and affects_section(pair.change.decision.section, *profiles):
            yield self.profile

    def _time(self, past: ChangePair) -> Iterator[Cause]:
        """Yield the cause that a score fell because the item is older, or that it expired."""
        before, after = past.before, past.after
        aged = before and after and before.measures.get("recency") != after.measures.get("recency")
        _, fate = _in_time_order(past.change.before, past.change.after, self.interval)
        if aged or (fate and fate.code is Code.EXPIRED):
            yield Cause("time_passed")

    def _budget(self, pair: ChangePair) -> Iterator[Cause]:
        if _is_short_of_room(pair.change) or pair.change.is_restored:
            room = [*self.asked.room()]
            yield from room
            if self.profile and any(cause.kind == "budget_changed" for cause in room):
                yield self.profile

    def _others(self, pair: ChangePair) -> Iterator[Cause]:
        """Yield the cause that other items of its section are new or gone, which changes ranks and free tokens."""
        key = pair.change.decision.section
        if key not in self.others:
            self.others[key] = _competitor_refs(key, self.beside)
        if others := self.others[key] - {without_version(pair.candidate.ref)}:
            label = next(one.section.label for one in self.beside.comparison.sections if one.section.key == key)
            yield Cause("peer_items_changed", label, after=len(others))

    def _room(self, pair: ChangePair) -> Iterator[Cause]:
        """Yield the cause that previous sections use more or less of the budget."""
        if not _is_short_of_room(pair.change):
            return
        for section in self.beside.comparison.sections:
            if section.section.key == pair.change.decision.section:
                return
            if section.tokens_before != section.tokens_after:
                yield Cause(
                    "preceding_sections", section.section.label, "", section.tokens_before, section.tokens_after
                )

    def _source_of(self, pair: ChangePair) -> str:
        """Return the name under which the source of the change's section reports."""
        key = pair.change.decision.section
        side = self.beside.after if pair.after else self.beside.before
        source = next((one.source for one in side.inputs.profile.sections if one.key == key), "")
        return f"{source}:{key}" if source == "external" else source


def _in_time_order(before: Either, after: Either, interval: ComparisonInterval) -> tuple[Either, Either]:
    """Return both, the earlier one first."""
    return (after, before) if interval.is_backward else (before, after)


def _profile_cause(beside: SideBySide, interval: ComparisonInterval) -> Cause | None:
    """Return the change of the profile, or the cause that another one was requested."""
    before, after = (_comparable_profile(side.inputs.profile, interval) for side in (beside.before, beside.after))
    if before.name != after.name:
        return Cause("profile_chosen", after.name, f"profile:{after.name}", note=before.name)
    found = profile_cause(*_in_time_order(before, after, interval))
    return Cause("strategy_changed", found.name, found.ref) if found and interval.differ("strategy") else found


def _comparable_profile(profile: Profile, interval: ComparisonInterval) -> Profile:
    """Return the profile for the comparison: a record with an added event has the profile without steps for items over
    the limit.
    """
    return replace(profile, over_budget=(), fill=False) if interval.has_added_event else profile


def _change_pairs(beside: SideBySide) -> tuple[ChangePair, ...]:
    before, after = beside.before.candidates, beside.after.candidates
    return tuple(
        ChangePair(
            change,
            before[change.before.section, change.before.ref] if change.before else None,
            after[change.after.section, change.after.ref] if change.after else None,
        )
        for change in beside.comparison.changes
    )


def _competitor_refs(key: str, beside: SideBySide) -> frozenset[str]:
    """Return the refs of items that the section has in only one context, or in another version."""
    was, now = (_refs_of(side, key) for side in (beside.before, beside.after))
    return frozenset(one for one in was.keys() | now.keys() if was.get(one) != now.get(one))


def _refs_of(side: ComparedContext, key: str) -> dict[str, str]:
    return {without_version(one.ref): one.ref for one in side.inputs.candidates if one.section == key}


def _is_short_of_room(change: DecisionChange) -> bool:
    return any(one is not None and one.code.is_over_budget for one in (change.before, change.after)) or change.is_cut
