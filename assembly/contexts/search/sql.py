"""The SQL of the search: conditions on a row of `assemblies`, and the indexes by which rows can be walked.

A thing or words are looked for among pieces; the arrays `told` and `omitted` of a row hold their ids.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from assembly.contexts.search.criteria import ContextQuery, ReferenceQuery
from assembly.models import Assembly
from assembly.models.assembly import PURPOSE_SQL
from config.db.statements import fetch_rows
from config.http.cursors import decode_keys

MAX_TEXTS = 20_000
"""So many texts with the words are looked at: more have words that say nothing."""
MAX_PIECES = 2_000
"""So many pieces are searched for in contexts."""
DOCUMENT = re.compile(r"chunk:[0-9a-f-]{36}")

PIECES_OF_REFERENCE_SQL = (
    "SELECT id FROM pieces WHERE named = %(named)s AND (ref = %(ref)s OR named = %(ref)s) LIMIT %(most)s"
)
# Contexts hold documents chunk by chunk, each named by itself; found by the index `piece_chunk`.
PIECES_OF_DOCUMENT_SQL = """
SELECT id FROM pieces WHERE named LIKE 'chunk:%%' AND named LIKE %(named)s || '@%%' LIMIT %(most)s
"""
# The profile and the summaries of a record are among its pieces, and were told nobody as they are. The words must read
# as in the index `stored_text_words`: of longer texts, PostgreSQL indexes no more.
PIECES_WITH_WORDS_SQL = """
SELECT pieces.id FROM (
    SELECT sha256 FROM stored_texts
    WHERE to_tsvector('english', left(text, 100000)) @@ websearch_to_tsquery('english', %(words)s) LIMIT %(texts)s
) AS matching JOIN pieces ON pieces.text_sha256 = matching.sha256
WHERE split_part(named, ':', 1) NOT IN ('profile', 'summary') LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class MatchingPieces:
    """The numbers of the pieces that are searched for."""

    contains: Sequence[int] = ()
    omits: Sequence[int] = ()
    words: Sequence[int] = ()

    @property
    def are_too_many(self) -> bool:
        """Whether there may be more than are searched for."""
        return MAX_PIECES in {len(self.contains), len(self.omits), len(self.words)}

    def lack(self, wanted: ContextQuery) -> bool:
        """Whether a thing that is wanted is no piece at all."""
        return bool((wanted.contains and not self.contains) or (wanted.omits and not self.omits))


def find_matching_pieces(wanted: ContextQuery) -> MatchingPieces:
    """A query for each that is asked for."""
    return MatchingPieces(
        contains=_reference_pieces(wanted.contains) if wanted.contains else (),
        omits=_reference_pieces(wanted.omits) if wanted.omits else (),
        words=_text_pieces(wanted.words) if wanted.words else (),
    )


def _reference_pieces(thing: ReferenceQuery) -> list[int]:
    asked = {"named": thing.named, "ref": thing.ref, "most": MAX_PIECES}
    return [
        number
        for (number,) in fetch_rows(
            PIECES_OF_DOCUMENT_SQL if DOCUMENT.fullmatch(thing.named) else PIECES_OF_REFERENCE_SQL, asked
        )
    ]


def _text_pieces(words: str) -> list[int]:
    asked = {"words": words, "texts": MAX_TEXTS, "most": MAX_PIECES}
    return [number for (number,) in fetch_rows(PIECES_WITH_WORDS_SQL, asked)]


EQUAL = {
    "agent": "agent_id = %(agent)s",
    "team": "team_id = %(team)s",
    "requested_by": "requested_by = %(requested_by)s",
    "profile": "profile_name = %(profile)s",
    "purpose": f"{PURPOSE_SQL} = %(purpose)s",
}
WITH_WARNING = "warnings <> '[]'::jsonb"
CUT = f"(truncated OR {WITH_WARNING})"
HEADING = "to_tsvector('english', topic || ' ' || agent_name || ' ' || team_name)"
"""Must read as in the index `assembly_heading_words`."""
FEW = 8
"""Of more pieces PostgreSQL makes a table of hashes to look them up in."""


@dataclass(frozen=True, slots=True)
class SqlCondition:
    """`indexed`: an index finds the rows that meet it, in no order."""

    sql: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    indexed: str = ""


def sql_conditions(
    wanted: ContextQuery, pieces: MatchingPieces, limits: Mapping[str, Any] | None
) -> list[SqlCondition]:
    """All that a row must meet but for the time, those first that are rare as a rule; `limits` are those of Sight."""
    return [
        *_equality_conditions(wanted),
        *_reference_conditions(wanted, pieces),
        *_outcome_conditions(wanted),
        *_visibility_condition(limits),
    ]


def _equality_conditions(wanted: ContextQuery) -> list[SqlCondition]:
    given = {name: getattr(wanted, name) for name in EQUAL}
    return [SqlCondition(EQUAL[name], {name: value}) for name, value in given.items() if value]


def _outcome_conditions(wanted: ContextQuery) -> list[SqlCondition]:
    found = []
    if wanted.warning:
        named = {"warning": json.dumps([wanted.warning])}
        given = f"{WITH_WARNING} AND warnings @> %(warning)s::jsonb"
        found.append(SqlCondition(given, named, indexed=given))
    if wanted.reason:
        given = "codes @> ARRAY[%(reason)s]::varchar[]"
        found.append(SqlCondition(given, {"reason": wanted.reason}, indexed=given))
    if wanted.only:
        found.append(SqlCondition(CUT if wanted.only == "cut" else "left_out > 0"))
    return found


def _reference_conditions(wanted: ContextQuery, pieces: MatchingPieces) -> list[SqlCondition]:
    found = []
    if wanted.contains:
        found.append(_piece_condition("told", "contains", pieces.contains))
    if wanted.omits:
        found.append(_piece_condition("omitted", "omits", pieces.omits))
    if wanted.words:
        told = _piece_condition("told", "words", pieces.words)
        heading = f"{HEADING} @@ websearch_to_tsquery('english', %(words)s)"
        parameters = {**told.parameters, "words": wanted.words}
        found.append(SqlCondition(f"({heading} OR {told.sql})", parameters, indexed=f"({heading} OR {told.indexed})"))
    return found


def _piece_condition(column: str, name: str, pieces: Sequence[int]) -> SqlCondition:
    """Rows with one of the pieces in the column."""
    parameters = {f"{name}_pieces": list(pieces)}
    overlap = f"{column} && %({name}_pieces)s::bigint[]"
    hashed = f"EXISTS (SELECT FROM unnest({column}) AS held WHERE held = ANY(%({name}_pieces)s::bigint[]))"
    return SqlCondition(overlap if len(pieces) <= FEW else hashed, parameters, indexed=overlap)


def _visibility_condition(limits: Mapping[str, Any] | None) -> list[SqlCondition]:
    if limits is None:
        return []
    team = "(team_id IS NULL OR team_id = ANY(%(seen_teams)s))"
    return [SqlCondition(f"agent_id = ANY(%(seen_agents)s) AND {team}", limits)]


COLUMNS = """id, created, agent_id, agent_name, team_id, team_name, requested_by, purpose, profile_name, topic,
    warnings, truncated, left_out, told, omitted, codes"""
NEWEST = "ORDER BY created DESC, id DESC"
EVERYTHING = "TRUE"
MAX_MERGED = 100
"""Of so many agents, the newest contexts are merged; who sees more sees enough of all to walk along those."""

BY_MOMENT = ("created >= %(since)s", "created < %(until)s")
FIRST_ID = f"'{UUID(int=0)}'::uuid"
BY_PLACE = (f"(created, id) >= (%(since)s, {FIRST_ID})", f"(created, id) < (%(until)s, {FIRST_ID})")

ListPosition = tuple[datetime, UUID]
"""A row in the order of the list."""


KEYS = ("created", "id")


def parse_cursor(cursor: str) -> ListPosition | None:
    """The place after which a page begins; None at the beginning. Raises Invalid."""
    if not cursor:
        return None
    created, id_ = decode_keys(Assembly, KEYS, cursor)
    return created, id_


@dataclass(frozen=True, slots=True)
class SearchRange:
    """The part of the list that is searched: after a place, between two moments."""

    after: ListPosition | None
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
class AccessPath:
    """Rows by one index. `parts` are conditions that rows meet one or the other of, each with an index that has them in
    the order of the list; where not `in_order`, the one part has an index without any."""

    parts: Sequence[str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    in_order: bool = True

    def rows(self, stretch: SearchRange) -> str:
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


def access_paths(
    wanted: ContextQuery, conditions: Sequence[SqlCondition], limits: Mapping[str, Any] | None
) -> list[AccessPath]:
    """Those that lead to what is wanted: first the one to walk along, then those that may have fewer rows."""
    first, *others = _ordered_paths(wanted, limits)
    indexed = [AccessPath([one.indexed], one.parameters, in_order=False) for one in conditions if one.indexed]
    return [first, *indexed, *others]


def _ordered_paths(wanted: ContextQuery, limits: Mapping[str, Any] | None) -> list[AccessPath]:
    """Those with few rows first, as far as one can guess."""
    equal = {
        name: AccessPath([sql], {name: getattr(wanted, name)}) for name, sql in EQUAL.items() if getattr(wanted, name)
    }
    by_profile = [equal.pop("profile")] if wanted.profile else []
    cut = [AccessPath([CUT])] if wanted.only == "cut" else []
    seen = [_agent_condition(limits["seen_agents"])] if limits and not wanted.agent else []
    return [*equal.values(), *seen, *cut, *by_profile] or [AccessPath([EVERYTHING])]


def _agent_condition(agents: Sequence[UUID]) -> AccessPath:
    if len(agents) > MAX_MERGED:
        return AccessPath([EVERYTHING])
    names = {f"seen_{number}": agent for number, agent in enumerate(agents)}
    return AccessPath([f"agent_id = %({name})s" for name in names] or ["FALSE"], names)
