"""Cause finders look for the causes of a difference: in the request, the profile, the rules, and the item's history."""

import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from assembly.comparison.causes import Cause, CauseKind
from assembly.comparison.interval import ComparisonInterval
from assembly.comparison.side_by_side import has_same_profile_facts, sections_of
from assembly.comparison.thing_history import MISSING_RECORD, RecordState
from assembly.engine.codes import Code
from assembly.engine.diff import DecisionChange
from assembly.engine.profile import Profile
from assembly.engine.reconciliation import Reconciliation
from assembly.engine.refs import Ref
from assembly.engine.rules import Rule
from assembly.engine.types import Candidate
from assembly.models import Assembly, StoredProfileVersion, StoredRuleVersion
from assembly.records.reader import EngineInput
from assembly.sources.kinds import FILES, KINDS, ORGANISATION_FILE
from assembly.sources.request_inputs import ADDITIONAL_CONTEXT_REF


def profile_cause(before: Profile, after: Profile) -> Cause | None:
    """Return the cause that the profile is another one or has another version; None if it is the same. At most one
    query.

    An unchanged built-in profile may differ because of a newer Dossier: nobody created that version here.
    """
    if before == after or (sections_of(before) == sections_of(after) and _same_for_section(before, after)):
        return None
    row = StoredProfileVersion.objects.filter(file__name=after.name, version=after.version).first()
    changed = Cause("profile_changed", after.name, f"profile:{after.name}", before.version, after.version)
    if row is None:
        return changed
    return replace(changed, **_version_facts(row))


def _version_facts(row: StoredProfileVersion | StoredRuleVersion) -> dict[str, Any]:
    return {"by": row.editor_name, "by_ref": row.editor_ref, "at": row.created, "note": row.note}


def affects_section(section: str, before: Profile, after: Profile) -> bool:
    """Return whether the difference of the profiles affects the section."""
    if not has_same_profile_facts(before, after):
        return True
    return sections_of(before).get(section) != sections_of(after).get(section)


def _same_for_section(before: Profile, after: Profile) -> bool:
    return has_same_profile_facts(before, after) and before.budget == after.budget


def rule_causes(
    before: Iterable[Rule], after: Iterable[Rule], then: datetime.datetime, until: datetime.datetime | None
) -> dict[str, Cause]:
    """Return by name why a rule did not apply in both contexts alike; one query.

    `then` is the time of the first context, `until` that of the second, None for today.
    """
    old, new = ({rule.name: rule for rule in rules} for rules in (before, after))
    names = {name for name in old.keys() | new.keys() if _version(old, name) != _version(new, name)}
    if not names:
        return {}
    newest = _newest(names, until)
    return {name: _cause(name, old.get(name), new.get(name), newest.get(name), then) for name in sorted(names)}


def _cause(
    name: str, old: Rule | None, new: Rule | None, newest: StoredRuleVersion | None, then: datetime.datetime
) -> Cause:
    versions = old.version if old else None, new.version if new else None
    if newest is None:
        return Cause("rule_deleted", name, f"rule:{name}", *versions)
    kind = _kind(old, new, newest, then)
    after = new.version if new else newest.version
    return Cause(kind, name, f"rule:{name}", versions[0], after, **_version_facts(newest))


def _kind(old: Rule | None, new: Rule | None, newest: StoredRuleVersion, then: datetime.datetime) -> CauseKind:
    if old and new:
        return "rule_changed"
    if new:
        if newest.file.created > then:
            return "rule_added"
        return "rule_changed" if newest.created > then else "rule_matches"
    if not newest.file.enabled and newest.version == newest.file.version:
        return "rule_switched_off"
    return "rule_changed" if old and newest.version != old.version else "rule_no_longer_matches"


def conflict_causes(
    ids: Iterable[str], before: Iterable[Reconciliation], after: Iterable[Reconciliation]
) -> Iterator[Cause]:
    """Yield what became of these conflicts between an earlier and a later context."""
    old, new = ({one.id: one for one in known} for known in (before, after))
    for id_ in ids:
        was, now = old.get(id_), new.get(id_)
        if kind := _conflict_kind(was, now):
            moment = now.decided_at if now and kind == "conflict_decided" else ""
            at = datetime.datetime.fromisoformat(moment) if moment else None
            by = now.decided_by if now and moment else ""
            yield Cause(kind, ref=f"conflict:{id_}", by=by, at=at)


def _conflict_kind(was: Reconciliation | None, now: Reconciliation | None) -> CauseKind | None:
    if now is None:
        return "conflict_gone"
    if now.resolution:
        return None if was and was.resolution == now.resolution else "conflict_decided"
    if was is None:
        return "conflict_found"
    return "conflict_reopened" if was.resolution else None


def _version(rules: Mapping[str, Rule], name: str) -> int | None:
    return rules[name].version if name in rules else None


def _newest(names: Iterable[str], until: datetime.datetime | None) -> dict[str, StoredRuleVersion]:
    """Return the newest version at that time of each rule, by name, with the rule as it is today."""
    found = StoredRuleVersion.objects.filter(file__name__in=names, **({"created__lte": until} if until else {}))
    distinct = found.order_by("file_id", "-version").distinct("file_id").defer("content", "file__content")
    return {version.file.name: version for version in distinct.select_related("file")}


@dataclass(frozen=True, slots=True)
class ChangePair:
    """A change with the candidate that the item was in either context; None if it was not considered."""

    change: DecisionChange
    before: Candidate | None
    after: Candidate | None

    @property
    def ref(self) -> Ref:
        """The ref in the later context, if any."""
        return Ref.parse(self.candidate.ref)

    @property
    def is_in_one_context(self) -> bool:
        """Whether only one of the contexts considered the item."""
        return self.before is None or self.after is None

    @property
    def candidate(self) -> Candidate:
        """The candidate in the later context, if any."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - a change is of something that was considered
        return found


@dataclass(frozen=True, slots=True)
class RecordCauses:
    """The changes of items since a moment, by their refs without versions, up to the later context."""

    things: Mapping[str, RecordState]
    then: datetime.datetime
    """The time of the earlier context."""
    days: tuple[datetime.date, datetime.date]
    """The first and the last day of the daily logs in the later context."""
    original_days: tuple[datetime.date, datetime.date]

    def of(self, pair: ChangePair) -> list[Cause]:
        """Return the changes of this item; none if it is unchanged."""
        kind = pair.ref.kind
        if kind == "daily_log":
            return self._of_log(pair)
        if kind in FILES:
            return self._changed(pair, "file_changed")
        if kind == ORGANISATION_FILE:
            return self._of_organisation_file(pair)
        if kind == "memory":
            return self._of_memory(pair)
        return self._of_other_record(pair)

    def _of_log(self, pair: ChangePair) -> list[Cause]:
        day = pair.candidate.date
        if day and not (pair.before and pair.after) and not _both_include_day(day, self.original_days, self.days):
            return [Cause("day_passed", name=day.isoformat(), ref=pair.ref.item)]
        if pair.after is None and pair.ref.item not in self.things:
            return [Cause("log_deleted", name=day.isoformat() if day else "", ref=pair.ref.item)]
        return self._changed(pair, "log_written")

    def _of_organisation_file(self, pair: ChangePair) -> list[Cause]:
        thing = self.things.get(pair.ref.item, MISSING_RECORD)
        if thing is MISSING_RECORD and pair.after is None:
            return [Cause("item_deleted", ref=pair.ref.item)]
        if pair.before is None and thing.version == 1 and thing.at and thing.at > self.then:
            return [self._cause("item_added", pair, thing)]
        # A passage belongs to one version of its file, so each new version changes all of them.
        return [replace(cause, name=thing.title) for cause in self._changed(pair, "file_changed")]

    def _of_memory(self, pair: ChangePair) -> list[Cause]:
        thing = self.things.get(pair.ref.item, MISSING_RECORD)
        if thing is MISSING_RECORD and pair.after is None:
            return [Cause("memory_deleted", ref=pair.ref.item)]
        if pair.before is None and thing.begun and thing.begun > self.then:
            return [self._cause("memory_added", pair, thing)]
        if not self._is_newer(pair, thing):
            return []
        return [self._cause(kind, pair, thing) for kind in _memory_actions(thing, pair)]

    def _of_other_record(self, pair: ChangePair) -> list[Cause]:
        thing = self.things.get(pair.ref.item, MISSING_RECORD)
        if thing is MISSING_RECORD and pair.after is None and pair.ref.kind in KINDS:
            return [Cause("item_deleted", ref=pair.ref.item)]
        if pair.before is None and thing.begun and thing.begun > self.then:
            return [self._cause("item_added", pair, thing)]
        return [self._cause("item_changed", pair, thing)] if self._is_newer(pair, thing) else []

    def _changed(self, pair: ChangePair, kind: CauseKind) -> list[Cause]:
        thing = self.things.get(pair.ref.item, MISSING_RECORD)
        return [self._cause(kind, pair, thing)] if self._is_newer(pair, thing) else []

    def _is_newer(self, pair: ChangePair, thing: RecordState) -> bool:
        before = version_of(pair.before)
        if before:
            return (version_of(pair.after) or thing.version) > before
        return thing.at is not None and thing.at > self.then

    def _cause(self, kind: CauseKind, pair: ChangePair, thing: RecordState) -> Cause:
        candidate = pair.candidate
        name = candidate.date.isoformat() if candidate.date else candidate.kind
        versions = version_of(pair.before), version_of(pair.after) or thing.version
        cause = Cause(kind, name, pair.ref.item, *versions, thing.by, thing.at, thing.by_ref)
        return replace(cause, note=thing.retired_because if kind == "memory_archived" else thing.note)


def version_of(candidate: Candidate | None) -> int | None:
    """Return the version in the candidate's ref; None without one."""
    return Ref.parse(candidate.ref).number if candidate else None


def _memory_actions(thing: RecordState, pair: ChangePair) -> list[CauseKind]:
    """Return what was done to a memory; a text that changed as well is named, too."""
    action = _memory_action(thing, pair.before)
    is_reworded = pair.before and pair.after and pair.before.text != pair.after.text
    return [action, "memory_changed"] if is_reworded and action != "memory_changed" else [action]


def _memory_action(thing: RecordState, before: Candidate | None) -> CauseKind:
    """Return what was done to a memory, by its state before and after."""
    if thing is MISSING_RECORD:
        return "memory_changed"
    if thing.superseded_by and not (before and before.superseded_by):
        return "memory_superseded"
    if thing.retired_because and not (before and before.retired):
        return "memory_archived"
    if before and before.retired and not thing.retired_because:
        return "memory_restored"
    if before and before.pinned != thing.pinned:
        return "memory_pinned" if thing.pinned else "memory_unpinned"
    return "memory_changed"


def _both_include_day(
    day: datetime.date, one: tuple[datetime.date, datetime.date], other: tuple[datetime.date, datetime.date]
) -> bool:
    return all(first <= day <= last for first, last in (one, other))


TEAM_SOURCES = frozenset({"team_files", "team_memories"})
REQUEST_SOURCES = ("turn:", ADDITIONAL_CONTEXT_REF)
UNSEARCHED_SOURCES = frozenset({"agent_files", "team_files", "daily_logs", "turns", "additional_context"})
"""Sources that return the same for every topic."""


@dataclass(frozen=True, slots=True)
class RequestCauses:
    """The requests and gathered inputs of two contexts, in the order in which they are compared."""

    interval: ComparisonInterval
    before: EngineInput
    after: EngineInput

    def whose(self, pair: ChangePair, source: str) -> Iterator[Cause]:
        """Yield the cause that the item belongs to an agent or a team of only one of the contexts."""
        earlier, late = self.interval.earlier, self.interval.late
        if late is None or not pair.is_in_one_context:
            return
        mine = self._considering_context(pair, late)
        if source in TEAM_SOURCES:
            if earlier.team_id != late.team_id:
                yield Cause("another_team", mine.team_name)
        elif earlier.agent_id != late.agent_id and not pair.candidate.ref.startswith(REQUEST_SOURCES):
            yield Cause("another_agent", mine.agent_name)

    def of(self, pair: ChangePair) -> Iterator[Cause]:
        """Yield the causes in the requests that affect only this item."""
        if self.interval.late is None:
            return
        if pair.candidate.ref.startswith(REQUEST_SOURCES):
            yield Cause("request_context")
        codes = {one.code for one in (pair.change.before, pair.change.after) if one}
        if Code.FILTERED in codes and codes != {Code.FILTERED}:
            yield Cause("excluded_by_request")

    def topic(self, source: str) -> Iterator[Cause]:
        """Yield the cause that the source was searched for another topic."""
        if self.before.request.topic != self.after.request.topic and source not in UNSEARCHED_SOURCES:
            yield Cause("topic_changed")

    def room(self) -> Iterator[Cause]:
        """Yield the causes that change the total budget."""
        old, new = self.before.request.budget, self.after.request.budget
        if old != new:
            given = (self.before.profile.budget, self.after.profile.budget) == (old, new)
            yield Cause("budget_changed" if given else "budget_requested", before=old, after=new)
        if self.before.request.tokenizer != self.after.request.tokenizer:
            yield Cause("tokenizer_changed", self.after.request.tokenizer)

    def otherwise(self) -> Iterator[Cause]:
        """Yield the causes that may explain the change if nothing else does."""
        if self.interval.differ("session", "filters", "exclude"):
            yield Cause("request_differs")
        if self.before.request.engine_version != self.after.request.engine_version:
            yield Cause("engine_changed")

    def _considering_context(self, pair: ChangePair, late: Assembly) -> Assembly:
        """Return the context that considered the item."""
        is_late = (pair.before is None) is not self.interval.is_backward
        return late if is_late else self.interval.earlier
