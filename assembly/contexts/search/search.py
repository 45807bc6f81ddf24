"""The search returns a page of matching contexts, newest first, at a cost that does not grow with the table.

Three strategies follow one another, each with a limit, as nobody knows beforehand how common the matches are. Common
matches are soon met by walking from the newest row on; rare matches are found at once by an index; for the rest,
indexes are combined for one slice of time after another. If none of them completes the page, the page says how far the
search came, and the next page continues there.

Slices of time hold about as many rows each: their bounds come from PostgreSQL's histograms of `created`, of which a
table has one, or each of its partitions.

`matching_count` counts all matches. It reads every row, so only background jobs call it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from assembly.contexts.search.criteria import ContextQuery
from assembly.contexts.search.db import bounded_search, use_bitmap_plan, use_ordered_plan
from assembly.contexts.search.sql import (
    EVERYTHING,
    NEWEST,
    AccessPath,
    ListPosition,
    MatchingPieces,
    SearchRange,
    SqlCondition,
    access_paths,
    find_matching_pieces,
    sql_conditions,
)
from assembly.contexts.search.visible_owners import VisibleOwners
from assembly.models import Assembly
from config.db.statements import fetch_rows

SLICE_ROWS = 100_000
"""Approximate number of rows in a slice of time."""
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
# Nobody keeps statistics of a divided table as a whole up to date, but autovacuum does so for each partition.
HISTOGRAMS_SQL = """
SELECT histogram_bounds::text::timestamptz[] AS bounds, reltuples
FROM leaves_of('assemblies') AS leaf JOIN pg_class ON pg_class.oid = leaf
    JOIN pg_stats ON schemaname = relnamespace::regnamespace::text AND tablename = relname
WHERE attname = 'created' AND NOT inherited AND histogram_bounds IS NOT NULL
"""


def time_slices(stretch: SearchRange) -> Iterator[SearchRange]:
    """Yield the range in slices of time, newest first; one slice if PostgreSQL has no statistics of the table."""
    last = min(moment for moment in (stretch.until, stretch.after and stretch.after[0], LAST) if moment)
    for bound in slice_bounds():
        if (stretch.since or FIRST) < bound < last:
            yield replace(stretch, since=bound)
            stretch = replace(stretch, until=bound, after=None)
    yield stretch


def slice_bounds() -> list[datetime]:
    """Return the moments that separate slices, latest first."""
    rows_at = [
        (moment, max(count, 0) / len(moments))
        for moments, count in fetch_rows(HISTOGRAMS_SQL, {})
        for moment in moments
    ]
    bounds, rows = list[datetime](), float(SLICE_ROWS)
    for moment, more in sorted(rows_at, reverse=True):
        if rows >= SLICE_ROWS:
            bounds.append(moment)
            rows = 0.0
        rows += more
    return bounds


def end_position(stretch: SearchRange) -> ListPosition | None:
    """Return the list position after all rows of the range; None if the range has no beginning in time."""
    return (stretch.since, UUID(int=0)) if stretch.since else None


def matching_count(*, visible: VisibleOwners, wanted: ContextQuery) -> int:
    """Return the number of visible contexts that match the criteria."""
    conditions = sql_conditions(wanted, find_matching_pieces(wanted), visible.limits)
    stretch = SearchRange(None, wanted.since, wanted.until)
    parameters = {name: value for one in conditions for name, value in one.parameters.items()}
    sql = " AND ".join([stretch.sql, *(one.sql for one in conditions)])
    ((count,),) = fetch_rows(f"SELECT count(*) FROM assemblies WHERE {sql}", {**parameters, **stretch.parameters})  # noqa: S608
    return int(count)


MAX_WALKED_ROWS, MAX_FOUND_ROWS, MOST_SLICES = 2_000, 300, 10
"""Limits of one search: rows walked from the newest, rows found by one index, and slices of time."""
MAX_WALKED_FOR_WORDS = 200
"""Rows walked from the newest in a search for words, which must parse the text of each row."""
SECOND_WALK_FACTOR = 10
"""Factor by which the second walk is longer; it happens if it should fill the page, or if no index helps."""
COMMON_CONDITION_ROWS = 200
"""A condition that more than one in 200 of the newest rows meets counts as common; its index is not tried."""
LIST_COLUMNS = (
    "id", "created", "agent_id", "agent_slug", "agent_name", "team_id", "team_slug", "team_name", "requested_by",
    "requester_name", "purpose", "topic", "profile_name", "profile_version", "tokenizer", "now", "budget", "tokens",
    "truncated", "left_out", "warnings", "assembly_ms", "parent", "decided_in", "sha256", "sensitivity",
)  # fmt: skip


_Rows = tuple[Sequence[tuple[UUID, datetime]], ListPosition | None]
"""Ids of rows with their moments, and the position up to which rows were searched."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page of contexts. `next` is the position after which the next page begins; None on the last page."""

    contexts: Sequence[Assembly]
    next: ListPosition | None
    reached: datetime | None = None
    """If the page is not full, the moment back to which was searched; older matches may exist."""

    is_partial_match: bool = False
    """Whether only some of the matching versions or texts were searched for, because there are too many."""


def search_contexts(
    *, visible: VisibleOwners, wanted: ContextQuery, after: ListPosition | None = None, limit: int
) -> SearchPage:
    """Return a page of at most `limit` visible contexts that match, after the position. Raises SearchTooBroad."""
    with bounded_search():
        search = _Search.of(visible, wanted, after, limit)
        page, reached = search.page()
        contexts = _contexts([id_ for id_, _ in page[:limit]])
        following = _row_position(page[limit - 1]) if len(page) > limit else reached
        stopped = reached[0] if reached and len(page) <= limit else None
        return SearchPage(contexts, following, stopped, search.pieces.are_too_many)


def _row_position(row: tuple[UUID, datetime]) -> ListPosition:
    return row[1], row[0]


def _contexts(ids: Sequence[UUID]) -> list[Assembly]:
    """Return the contexts with these ids, in this order, with the columns that lists show."""
    there = {one.id: one for one in Assembly.objects.filter(id__in=ids).only(*LIST_COLUMNS)} if ids else {}
    return [there[id_] for id_ in ids]


@dataclass(frozen=True, slots=True)
class _Search:
    """One search for a page; `most` is one row more than the page holds, to know whether there is a next page."""

    ways: Sequence[AccessPath]
    conditions: Sequence[SqlCondition]
    stretch: SearchRange
    walked: int
    most: int
    pieces: MatchingPieces
    matches_nothing: bool
    """Whether the criteria name an item that no context ever considered."""

    @classmethod
    def of(cls, visible: VisibleOwners, wanted: ContextQuery, after: ListPosition | None, limit: int) -> "_Search":
        pieces, limits = find_matching_pieces(wanted), visible.limits
        conditions = sql_conditions(wanted, pieces, limits)
        return cls(
            ways=access_paths(wanted, conditions, limits),
            conditions=conditions,
            stretch=SearchRange(after, wanted.since, wanted.until, exact=bool(wanted.words)),
            walked=MAX_WALKED_FOR_WORDS if wanted.words else MAX_WALKED_ROWS,
            most=limit + 1,
            pieces=pieces,
            matches_nothing=pieces.lack(wanted),
        )

    def page(self) -> _Rows:
        """Return the matching rows and the position up to which was searched; None if that is the end."""
        if self.matches_nothing:
            return [], None
        along, *others = self.ways
        met, reached = self._walked(along, self.stretch, self.walked, self.most)
        if reached is None:
            return met, None
        is_common = len(met) * SECOND_WALK_FACTOR >= self.most
        if not is_common and (everything := self._rare_rows(along, others)) is not None:
            return everything, None
        stretch, most = replace(self.stretch, after=reached), self.most - len(met)
        if is_common or not self._indexed:
            more, reached = self._walked(along, stretch, self.walked * SECOND_WALK_FACTOR, most)
        else:
            more, reached = self._rows_by_slices(stretch, most)
        return [*met, *more], reached

    def _rare_rows(self, along: AccessPath, others: Sequence[AccessPath]) -> "Sequence[tuple[UUID, datetime]] | None":
        """Return all matching rows if one of the other access paths finds few enough; otherwise None."""
        common = self._common_conditions(along) if self._indexed else set()
        found = (self._all(access_path) for access_path in others if common.isdisjoint(access_path.parts))
        return next((rows for rows in found if rows is not None), None)

    def _common_conditions(self, along: AccessPath) -> set[str]:
        """Return the indexed conditions that many of the newest rows meet, so that reading all such rows is slow."""
        met = ", ".join(f"count(*) FILTER (WHERE {one.sql})" for one in self._indexed)
        known = {**self._parameters, **along.parameters, **self.stretch.parameters, "walked": self.walked}
        counts = fetch_rows(f"SELECT {met} FROM ({along.rows(self.stretch)} LIMIT %(walked)s) AS walked", known)[0]  # noqa: S608
        return {
            one.indexed
            for one, count in zip(self._indexed, counts, strict=True)
            if count * COMMON_CONDITION_ROWS > self.walked
        }

    def _walked(self, access_path: AccessPath, stretch: SearchRange, row_limit: int, most: int) -> _Rows:
        """Return matches among the first `row_limit` rows of a walk from the newest, and the last of these rows.

        The last row is None if there are enough matches, or no more rows.
        """
        known = {**self._parameters, **access_path.parameters, **stretch.parameters, "walked": row_limit, "most": most}
        use_ordered_plan()
        walked = f"({access_path.rows(stretch)} LIMIT %(walked)s) AS walked"
        sql = _all_of([one.sql for one in self.conditions])
        met = fetch_rows(f"SELECT id, created FROM {walked} WHERE {sql} {NEWEST} LIMIT %(most)s", known)  # noqa: S608
        if len(met) >= most:
            return met, None
        last = f"SELECT created, id FROM ({access_path.rows(stretch)} OFFSET %(walked)s - 1 LIMIT 1) AS last"  # noqa: S608
        return met, next(iter(fetch_rows(last, known)), None)

    def _all(self, access_path: AccessPath) -> "Sequence[tuple[UUID, datetime]] | None":
        """Return all matches that the access path finds; None if it finds more than 300 rows."""
        use_ordered_plan() if access_path.in_order else use_bitmap_plan()
        # With a range of time in the inner query, the planner would walk the index of moments in place of this one.
        narrowing = (
            access_path.rows(self.stretch)
            if access_path.in_order
            else access_path.rows(SearchRange(None, None, None)).replace(NEWEST, "")
        )
        known = {**self._parameters, **access_path.parameters, **self.stretch.parameters}
        others = _all_of([one.sql for one in self.conditions if one.indexed not in access_path.parts])
        sql = f"""
        WITH narrowed AS MATERIALIZED ({narrowing} LIMIT %(found)s), met AS MATERIALIZED (
            SELECT id, created FROM narrowed WHERE {others} AND {self.stretch.sql} {NEWEST} LIMIT %(most)s
        )
        SELECT (SELECT count(*) FROM narrowed), ARRAY(SELECT id FROM met), ARRAY(SELECT created FROM met)
        """  # noqa: S608
        ((count, ids, moments),) = fetch_rows(sql, {**known, "found": MAX_FOUND_ROWS + 1, "most": self.most})
        return None if count > MAX_FOUND_ROWS else [*zip(ids, moments, strict=True)]

    def _rows_by_slices(self, stretch: SearchRange, most: int) -> _Rows:
        """Return matches from the newest slices of the range, and the end of the last slice searched.

        The end is None if there are enough matches, or no more slices.
        """
        use_bitmap_plan()
        slices, met = [*time_slices(stretch)], list[tuple[UUID, datetime]]()
        for slice_ in slices[:MOST_SLICES]:
            met += self._within(slice_, most - len(met))
            if len(met) >= most:
                return met, None
        return met, end_position(slices[MOST_SLICES - 1]) if len(slices) > MOST_SLICES else None

    def _within(self, stretch: SearchRange, most: int) -> "Sequence[tuple[UUID, datetime]]":
        """Return the newest matches in the range, at most `most`."""
        wanted = _all_of([one.indexed or one.sql for one in self.conditions])
        sql = f"SELECT id, created FROM assemblies WHERE {wanted} AND {stretch.sql} {NEWEST} LIMIT %(most)s"  # noqa: S608
        return fetch_rows(sql, {**self._parameters, **stretch.parameters, "most": most})

    @property
    def _indexed(self) -> Sequence[SqlCondition]:
        return [one for one in self.conditions if one.indexed]

    @property
    def _parameters(self) -> dict[str, Any]:
        return {name: value for one in self.conditions for name, value in one.parameters.items()}


def _all_of(conditions: Sequence[str]) -> str:
    return " AND ".join(conditions) or EVERYTHING
