"""A page of what is wanted, the newest first, at a cost that does not grow with the table.

What is common is soon met when one walks from the newest row on; what is rare, an index finds at once. Which it is,
nobody knows beforehand, so the search does each in turn, each so far and no further. Where neither ends, it says how
far it came, and the next page goes on from there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from assembly.finding.asking import at_once, bounded, in_order, rows
from assembly.finding.conditions import conditions_of
from assembly.finding.pieces import Pieces, pieces_of
from assembly.finding.sight import Sight
from assembly.finding.wanted import Wanted
from assembly.finding.ways import NEWEST, Place, Stretch, Way, ways_of
from assembly.models import Assembly

WALKED, FOUND, WALKED_ON = 2_000, 40_000, 30_000
"""So many rows are walked along first, found by an index, and walked along after that."""
LISTED = (
    "id", "created", "agent_id", "agent_slug", "agent_name", "team_id", "team_slug", "team_name", "requested_by",
    "requester_name", "topic", "profile_name", "profile_version", "tokenizer", "now", "budget", "tokens", "truncated",
    "left_out", "warnings", "assembly_ms",
)  # fmt: skip


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
    sql: str
    parameters: Mapping[str, Any]
    stretch: Stretch
    most: int
    pieces: Pieces
    is_vain: bool
    """Whether a thing is wanted that no context ever considered."""

    @classmethod
    def of(cls, sight: Sight, wanted: Wanted, after: Place | None, limit: int) -> "_Search":
        pieces, limits = pieces_of(wanted), sight.limits
        conditions = conditions_of(wanted, pieces, limits)
        parameters = {name: value for one in conditions for name, value in one.parameters.items()}
        sql = " AND ".join(one.sql for one in conditions) or "TRUE"
        stretch = Stretch(after, wanted.since, wanted.until)
        return cls(
            ways_of(wanted, conditions, limits), sql, parameters, stretch, limit + 1, pieces, pieces.lack(wanted)
        )

    def page(self) -> "tuple[Sequence[tuple[UUID, datetime]], Place | None]":
        """The ids of the rows with their moments; and the place up to which was searched, where that is not the end."""
        if self.is_vain:
            return [], None
        along, *others = self.ways
        begun, reached = self._walked(along, self.stretch, WALKED, self.most)
        if reached is None:
            return begun, None
        for way in others:
            if (rest := self._all(way)) is not None:
                return rest, None
        stretch = replace(self.stretch, after=reached)
        more, reached = self._walked(along, stretch, WALKED_ON, self.most - len(begun))
        return [*begun, *more], reached

    def _walked(
        self, way: Way, stretch: Stretch, rows_walked: int, most: int
    ) -> "tuple[Sequence[tuple[UUID, datetime]], Place | None]":
        """What is met on so many rows; and the last of these, where that is neither enough nor the end."""
        known = {**self.parameters, **way.parameters, **stretch.parameters, "walked": rows_walked, "most": most}
        in_order()
        walked = f"({way.rows(stretch)} LIMIT %(walked)s) AS walked"
        met = rows(f"SELECT id, created FROM {walked} WHERE {self.sql} {NEWEST} LIMIT %(most)s", known)  # noqa: S608
        if len(met) >= most:
            return met, None
        last = f"SELECT created, id FROM ({way.rows(stretch)} OFFSET %(walked)s - 1 LIMIT 1) AS last"  # noqa: S608
        return met, next(iter(rows(last, known)), None)

    def _all(self, way: Way) -> "Sequence[tuple[UUID, datetime]] | None":
        """All that the way leads to, where these are not too many."""
        at_once()
        # Beside an index without order, the time would make the planner walk along the whole time.
        narrowing = way.rows(self.stretch) if way.in_order else way.rows(Stretch(None, None, None)).replace(NEWEST, "")
        known = {**self.parameters, **way.parameters, **self.stretch.parameters}
        sql = f"""
        WITH narrowed AS MATERIALIZED ({narrowing} LIMIT %(found)s), met AS MATERIALIZED (
            SELECT id, created FROM narrowed WHERE {self.sql} AND {self.stretch.sql} {NEWEST} LIMIT %(most)s
        )
        SELECT (SELECT count(*) FROM narrowed), ARRAY(SELECT id FROM met), ARRAY(SELECT created FROM met)
        """  # noqa: S608
        ((count, ids, moments),) = rows(sql, {**known, "found": FOUND + 1, "most": self.most})
        return None if count > FOUND else [*zip(ids, moments, strict=True)]
