"""What is left of a search, in slices of time with about as many rows each, the newest first.

PostgreSQL keeps such moments of each table for its plans: as many rows lie between two as between any two others.

How many contexts are wanted: every row is looked at, so this is for the background.

A page of what is wanted, the newest first, at a cost that does not grow with the table.

What is common is soon met when one walks from the newest row on; what is rare, an index finds at once; and what is
neither, indexes find in a slice of time after another. Which it is, nobody knows beforehand, so the search does each in
turn, each so far and no further. Where none of them ends, it says how far it came, and the next page goes on from
there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from assembly.contexts.search.criteria import Wanted
from assembly.contexts.search.db import at_once, bounded, in_order, rows
from assembly.contexts.search.sql import (
    EVERYTHING,
    NEWEST,
    Condition,
    Pieces,
    Place,
    Stretch,
    Way,
    conditions_of,
    pieces_of,
    ways_of,
)
from assembly.contexts.search.visible_owners import Sight
from assembly.models import Assembly

SLICE = 100_000
"""Rows of the table, about."""
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
BOUNDS = """
SELECT histogram_bounds::text::timestamptz[] AS bounds, reltuples
FROM pg_stats JOIN pg_class ON pg_class.oid = 'assemblies'::regclass
WHERE schemaname = current_schema() AND tablename = 'assemblies' AND attname = 'created'
    AND histogram_bounds IS NOT NULL
"""


def slices_of(stretch: Stretch) -> Iterator[Stretch]:
    """The stretch in pieces, each after the one before; only one where PostgreSQL has looked at few rows or none."""
    last = min(moment for moment in (stretch.until, stretch.after and stretch.after[0], LAST) if moment)
    for bound in bounds():
        if (stretch.since or FIRST) < bound < last:
            yield replace(stretch, since=bound)
            stretch = replace(stretch, until=bound, after=None)
    yield stretch


def bounds() -> list[datetime]:
    """The moments between two slices, the last first."""
    for moments, count in rows(BOUNDS, {}):
        every = max(1, round(SLICE * len(moments) / max(count, 1)))
        return list(moments[::-every])
    return []


def end_of(stretch: Stretch) -> Place | None:
    """The place after all rows of the stretch; None where it has no end."""
    return (stretch.since, UUID(int=0)) if stretch.since else None


def matching_count(*, sight: Sight, wanted: Wanted) -> int:
    """Of those that may be seen."""
    conditions = conditions_of(wanted, pieces_of(wanted), sight.limits)
    stretch = Stretch(None, wanted.since, wanted.until)
    parameters = {name: value for one in conditions for name, value in one.parameters.items()}
    sql = " AND ".join([stretch.sql, *(one.sql for one in conditions)])
    ((count,),) = rows(f"SELECT count(*) FROM assemblies WHERE {sql}", {**parameters, **stretch.parameters})  # noqa: S608
    return int(count)


WALKED, FOUND, MOST_SLICES = 2_000, 300, 10
"""So many rows are walked along first, found by an index, and so many slices are looked into."""
WALKED_FOR_WORDS = 200
"""Fewer are walked along where each must be taken apart into words."""
FURTHER = 10
"""So many times as many rows are walked along after that, where that should fill the page or no index helps."""
COMMON = 200
"""What more than one of so many of the first rows meet, is not counted by its index."""
LISTED = (
    "id", "created", "agent_id", "agent_slug", "agent_name", "team_id", "team_slug", "team_name", "requested_by",
    "requester_name", "topic", "profile_name", "profile_version", "tokenizer", "now", "budget", "tokens", "truncated",
    "left_out", "warnings", "assembly_ms", "parent", "decided_in", "sha256",
)  # fmt: skip


_Rows = tuple[Sequence[tuple[UUID, datetime]], Place | None]
"""Ids of rows with their moments; and up to where was searched."""


@dataclass(frozen=True, slots=True)
class Found:
    """A page. `next` is the place after which the next one begins; None: there is no more."""

    contexts: Sequence[Assembly]
    next: Place | None
    reached: datetime | None = None
    """The page is not full: so far back the search came. There may be older ones."""

    many_pieces: bool = False
    """Whether what is searched for is in so many versions or texts that not all of them are."""


def found(*, sight: Sight, wanted: Wanted, after: Place | None = None, limit: int) -> Found:
    """So many that are wanted and that may be seen, those after the place. Raises TooBroad."""
    with bounded():
        search = _Search.of(sight, wanted, after, limit)
        page, reached = search.page()
        contexts = _contexts([id_ for id_, _ in page[:limit]])
        following = _place(page[limit - 1]) if len(page) > limit else reached
        stopped = reached[0] if reached and len(page) <= limit else None
        return Found(contexts, following, stopped, search.pieces.are_too_many)


def _place(row: tuple[UUID, datetime]) -> Place:
    return row[1], row[0]


def _contexts(ids: Sequence[UUID]) -> list[Assembly]:
    """What lists show of them, in that order."""
    there = {one.id: one for one in Assembly.objects.filter(id__in=ids).only(*LISTED)} if ids else {}
    return [there[id_] for id_ in ids]


@dataclass(frozen=True, slots=True)
class _Search:
    """One more row than the page holds is searched for, to know whether there is a next one."""

    ways: Sequence[Way]
    conditions: Sequence[Condition]
    stretch: Stretch
    walked: int
    most: int
    pieces: Pieces
    is_vain: bool
    """Whether a thing is wanted that no context ever considered."""

    @classmethod
    def of(cls, sight: Sight, wanted: Wanted, after: Place | None, limit: int) -> "_Search":
        pieces, limits = pieces_of(wanted), sight.limits
        conditions = conditions_of(wanted, pieces, limits)
        return cls(
            ways=ways_of(wanted, conditions, limits),
            conditions=conditions,
            stretch=Stretch(after, wanted.since, wanted.until, exact=bool(wanted.words)),
            walked=WALKED_FOR_WORDS if wanted.words else WALKED,
            most=limit + 1,
            pieces=pieces,
            is_vain=pieces.lack(wanted),
        )

    def page(self) -> _Rows:
        """Up to where was searched is None where that is the end."""
        if self.is_vain:
            return [], None
        along, *others = self.ways
        met, reached = self._walked(along, self.stretch, self.walked, self.most)
        if reached is None:
            return met, None
        is_common = len(met) * FURTHER >= self.most
        if not is_common and (everything := self._rare(along, others)) is not None:
            return everything, None
        stretch, most = replace(self.stretch, after=reached), self.most - len(met)
        if is_common or not self._indexed:
            more, reached = self._walked(along, stretch, self.walked * FURTHER, most)
        else:
            more, reached = self._sliced(stretch, most)
        return [*met, *more], reached

    def _rare(self, along: Way, others: Sequence[Way]) -> "Sequence[tuple[UUID, datetime]] | None":
        """All there are, where one of the other ways leads to few."""
        common = self._common(along) if self._indexed else set()
        found = (self._all(way) for way in others if common.isdisjoint(way.parts))
        return next((rows for rows in found if rows is not None), None)

    def _common(self, along: Way) -> set[str]:
        """Those with an index that so many of the first rows meet that there is no use in counting all."""
        met = ", ".join(f"count(*) FILTER (WHERE {one.sql})" for one in self._indexed)
        known = {**self._parameters, **along.parameters, **self.stretch.parameters, "walked": self.walked}
        counts = rows(f"SELECT {met} FROM ({along.rows(self.stretch)} LIMIT %(walked)s) AS walked", known)[0]  # noqa: S608
        return {one.indexed for one, count in zip(self._indexed, counts, strict=True) if count * COMMON > self.walked}

    def _walked(self, way: Way, stretch: Stretch, rows_walked: int, most: int) -> _Rows:
        """What is met on so many rows; and the last of these, where that is neither enough nor the end."""
        known = {**self._parameters, **way.parameters, **stretch.parameters, "walked": rows_walked, "most": most}
        in_order()
        walked = f"({way.rows(stretch)} LIMIT %(walked)s) AS walked"
        sql = _all_of([one.sql for one in self.conditions])
        met = rows(f"SELECT id, created FROM {walked} WHERE {sql} {NEWEST} LIMIT %(most)s", known)  # noqa: S608
        if len(met) >= most:
            return met, None
        last = f"SELECT created, id FROM ({way.rows(stretch)} OFFSET %(walked)s - 1 LIMIT 1) AS last"  # noqa: S608
        return met, next(iter(rows(last, known)), None)

    def _all(self, way: Way) -> "Sequence[tuple[UUID, datetime]] | None":
        """All that the way leads to, where these are not too many."""
        in_order() if way.in_order else at_once()
        # Beside an index without order, the time would make the planner walk along the whole time.
        narrowing = way.rows(self.stretch) if way.in_order else way.rows(Stretch(None, None, None)).replace(NEWEST, "")
        known = {**self._parameters, **way.parameters, **self.stretch.parameters}
        others = _all_of([one.sql for one in self.conditions if one.indexed not in way.parts])
        sql = f"""
        WITH narrowed AS MATERIALIZED ({narrowing} LIMIT %(found)s), met AS MATERIALIZED (
            SELECT id, created FROM narrowed WHERE {others} AND {self.stretch.sql} {NEWEST} LIMIT %(most)s
        )
        SELECT (SELECT count(*) FROM narrowed), ARRAY(SELECT id FROM met), ARRAY(SELECT created FROM met)
        """  # noqa: S608
        ((count, ids, moments),) = rows(sql, {**known, "found": FOUND + 1, "most": self.most})
        return None if count > FOUND else [*zip(ids, moments, strict=True)]

    def _sliced(self, stretch: Stretch, most: int) -> _Rows:
        """What is met in slices of the stretch; and the end of the last, where that is neither enough nor the end."""
        at_once()
        slices, met = [*slices_of(stretch)], list[tuple[UUID, datetime]]()
        for slice_ in slices[:MOST_SLICES]:
            met += self._within(slice_, most - len(met))
            if len(met) >= most:
                return met, None
        return met, end_of(slices[MOST_SLICES - 1]) if len(slices) > MOST_SLICES else None

    def _within(self, stretch: Stretch, most: int) -> "Sequence[tuple[UUID, datetime]]":
        """The newest in the stretch."""
        wanted = _all_of([one.indexed or one.sql for one in self.conditions])
        sql = f"SELECT id, created FROM assemblies WHERE {wanted} AND {stretch.sql} {NEWEST} LIMIT %(most)s"  # noqa: S608
        return rows(sql, {**self._parameters, **stretch.parameters, "most": most})

    @property
    def _indexed(self) -> Sequence[Condition]:
        return [one for one in self.conditions if one.indexed]

    @property
    def _parameters(self) -> dict[str, Any]:
        return {name: value for one in self.conditions for name, value in one.parameters.items()}


def _all_of(conditions: Sequence[str]) -> str:
    return " AND ".join(conditions) or EVERYTHING
