"""What became of the thing that a candidate was made of: it was changed, added, taken away, or its day passed."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace

from assembly.again.cause import Cause, Kind
from assembly.again.things import GONE, Thing, about, kind_and_id
from assembly.comparing import Change
from assembly.engine.types import Candidate

FILES = frozenset({"agent_file", "team_file"})


@dataclass(frozen=True, slots=True)
class Pair:
    """A change with the candidate that the thing was in either context; None where it was not considered."""

    change: Change
    before: Candidate | None
    after: Candidate | None

    @property
    def ref(self) -> str:
        """The later one, if there is one."""
        return self.candidate.ref

    @property
    def is_of_one(self) -> bool:
        """Whether one of the contexts alone considered it."""
        return self.before is None or self.after is None

    @property
    def candidate(self) -> Candidate:
        """The later one, if there is one."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - a change is of something that was considered
        return found


@dataclass(frozen=True, slots=True)
class ThingCauses:
    """What happened to things since a moment, by their refs without versions, as they stood at the later one."""

    things: Mapping[str, Thing]
    then: datetime.datetime
    """When the earlier context was made."""
    days: tuple[datetime.date, datetime.date]
    """The first and the last day that the later one tells of."""
    days_then: tuple[datetime.date, datetime.date]

    def of(self, pair: Pair) -> list[Cause]:
        """What happened to this one; nothing where it is as it was."""
        kind, _ = kind_and_id(pair.ref)
        if kind == "daily_log":
            return self._of_log(pair)
        if kind in FILES:
            return self._changed(pair, "file_changed")
        if kind == "memory":
            return self._of_memory(pair)
        return self._of_another(pair)

    def _of_log(self, pair: Pair) -> list[Cause]:
        day = pair.candidate.date
        if day and not (pair.before and pair.after) and not _both_tell(day, self.days_then, self.days):
            return [Cause("day_passed", name=day.isoformat(), ref=about(pair.ref))]
        if pair.after is None and about(pair.ref) not in self.things:
            return [Cause("log_gone", name=day.isoformat() if day else "", ref=about(pair.ref))]
        return self._changed(pair, "log_written")

    def _of_memory(self, pair: Pair) -> list[Cause]:
        thing = self.things.get(about(pair.ref), GONE)
        if thing is GONE and pair.after is None:
            return [Cause("memory_deleted", ref=about(pair.ref))]
        if pair.before is None and thing.begun and thing.begun > self.then:
            return [self._cause("memory_added", pair, thing)]
        if not self._is_newer(pair, thing):
            return []
        return [self._cause(_deed(thing, pair.before), pair, thing)]

    def _of_another(self, pair: Pair) -> list[Cause]:
        thing = self.things.get(about(pair.ref), GONE)
        if thing is GONE and pair.after is None and kind_and_id(pair.ref)[0] in KEPT_KINDS:
            return [Cause("thing_deleted", ref=about(pair.ref))]
        if pair.before is None and thing.begun and thing.begun > self.then:
            return [self._cause("thing_added", pair, thing)]
        return [self._cause("thing_changed", pair, thing)] if self._is_newer(pair, thing) else []

    def _changed(self, pair: Pair, kind: Kind) -> list[Cause]:
        thing = self.things.get(about(pair.ref), GONE)
        return [self._cause(kind, pair, thing)] if self._is_newer(pair, thing) else []

    def _is_newer(self, pair: Pair, thing: Thing) -> bool:
        before = version_of(pair.before)
        if before:
            return (version_of(pair.after) or thing.version) > before
        return thing.at is not None and thing.at > self.then

    def _cause(self, kind: Kind, pair: Pair, thing: Thing) -> Cause:
        candidate = pair.candidate
        name = candidate.date.isoformat() if candidate.date else candidate.kind
        versions = version_of(pair.before), version_of(pair.after) or thing.version
        cause = Cause(kind, name, about(pair.ref), *versions, thing.by, thing.at)
        return replace(cause, note=thing.retired_because if kind == "memory_retired" else thing.note)


KEPT_KINDS = frozenset({"event", "entity", "relation", "pattern", "document", "chunk", "thread", "tool", "task"})


def version_of(candidate: Candidate | None) -> int | None:
    """The version that the candidate's ref names; None where it names none."""
    if candidate is None:
        return None
    number = candidate.ref.partition("@")[2].partition("#")[0]
    return int(number) if number.isdigit() else None


def _deed(thing: Thing, before: Candidate | None) -> Kind:
    """What was done to a memory, by how it stands and how it stood."""
    if thing is GONE:
        return "memory_changed"
    if thing.superseded_by and not (before and before.superseded_by):
        return "memory_superseded"
    if thing.retired_because and not (before and before.retired):
        return "memory_retired"
    if before and before.retired and not thing.retired_because:
        return "memory_brought_back"
    if before and before.pinned != thing.pinned:
        return "memory_pinned" if thing.pinned else "memory_unpinned"
    return "memory_changed"


def _both_tell(
    day: datetime.date, one: tuple[datetime.date, datetime.date], other: tuple[datetime.date, datetime.date]
) -> bool:
    return all(first <= day <= last for first, last in (one, other))
