"""The ways into the table: indexes by which rows are walked from the newest, or found in no order at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from assembly.finding.conditions import CUT, EQUAL, Condition
from assembly.finding.wanted import Wanted
from assembly.models import Assembly
from config.http.cursors import place_of

COLUMNS = """id, created, agent_id, agent_name, team_id, team_name, requested_by, profile_name, topic, warnings,
    truncated, left_out, told, omitted, codes"""
NEWEST = "ORDER BY created DESC, id DESC"
EVERYTHING = "TRUE"
MOST_MERGED = 100
"""Of so many agents, the newest contexts are merged; who sees more sees enough of all to walk along those."""

BY_MOMENT = ("created >= %(since)s", "created < %(until)s")
FIRST_ID = f"'{UUID(int=0)}'::uuid"
BY_PLACE = (f"(created, id) >= (%(since)s, {FIRST_ID})", f"(created, id) < (%(until)s, {FIRST_ID})")

Place = tuple[datetime, UUID]
"""A row in the order of the list."""


KEYS = ("created", "id")


def after_of(cursor: str) -> Place | None:
    """The place after which a page begins; None at the beginning. Raises Invalid."""
    if not cursor:
        return None
    created, id_ = place_of(Assembly, KEYS, cursor)
    return created, id_


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of the list that is searched: after a place, between two moments."""

    after: Place | None
    since: datetime | None
    until: datetime | None
    exact: bool = False
    """Only the index of all moments may find its rows: what the small one finds would be looked at once more, which
    takes long where rows must be taken apart into words."""

    @property
    def sql(self) -> str:
        # The small index knows moments, but no places.
        since, until = BY_PLACE if self.exact else BY_MOMENT
        parts = [since] if self.since else []
        parts += [until] if self.until else []
        parts += ["(created, id) < (%(after)s, %(after_id)s)"] if self.after else []
        return " AND ".join(parts) or EVERYTHING

    @property
    def parameters(self) -> dict[str, Any]:
        after, after_id = self.after or (None, None)
        return {"since": self.since, "until": self.until, "after": after, "after_id": after_id}


@dataclass(frozen=True, slots=True)
class Way:
    """Rows by one index. `parts` are conditions that rows meet one or the other of, each with an index that has them in
    the order of the list; where not `in_order`, the one part has an index without any."""

    parts: Sequence[str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    in_order: bool = True

    def rows(self, stretch: Stretch) -> str:
        """The rows of the stretch, the newest first."""
        parts = [
            f"SELECT {COLUMNS} FROM assemblies WHERE {part} AND {stretch.sql} {NEWEST}"  # noqa: S608
            for part in self.parts
        ]
        if len(parts) == 1:
            return parts[0]
        # Each part has its order, so that PostgreSQL merges them instead of sorting all.
        merged = " UNION ALL ".join(f"({part})" for part in parts)
        return f"SELECT {COLUMNS} FROM ({merged}) AS merged {NEWEST}"  # noqa: S608


def ways_of(wanted: Wanted, conditions: Sequence[Condition], limits: Mapping[str, Any] | None) -> list[Way]:
    """Those that lead to what is wanted: first the one to walk along, then those that may have fewer rows."""
    first, *others = _in_order(wanted, limits)
    indexed = [Way([one.indexed], one.parameters, in_order=False) for one in conditions if one.indexed]
    return [first, *indexed, *others]


def _in_order(wanted: Wanted, limits: Mapping[str, Any] | None) -> list[Way]:
    """Those with few rows first, as far as one can guess."""
    equal = {name: Way([sql], {name: getattr(wanted, name)}) for name, sql in EQUAL.items() if getattr(wanted, name)}
    by_profile = [equal.pop("profile")] if wanted.profile else []
    cut = [Way([CUT])] if wanted.only == "cut" else []
    seen = [_of_agents(limits["seen_agents"])] if limits and not wanted.agent else []
    return [*equal.values(), *seen, *cut, *by_profile] or [Way([EVERYTHING])]


def _of_agents(agents: Sequence[UUID]) -> Way:
    if len(agents) > MOST_MERGED:
        return Way([EVERYTHING])
    names = {f"seen_{number}": agent for number, agent in enumerate(agents)}
    return Way([f"agent_id = %({name})s" for name in names] or ["FALSE"], names)
