"""This module builds the SQL of the search: conditions on rows of `assemblies`, and the indexes to read them by.

Items and words are looked up among pieces; the arrays `told` (included) and `omitted` (excluded) of a row hold the ids
of its pieces.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from assembly.contexts.search.criteria import ANY_FILE, ContextQuery, ReferenceQuery
from assembly.models import Assembly
from assembly.models.assembly import PURPOSE_SQL
from config.db.sealed_columns import MARK_SQL
from config.db.statements import fetch_rows
from config.http.cursors import decode_keys
from config.keys.store import is_configured
from config.keys.words import find_texts

MAX_TEXTS = 20_000
"""Most texts that are searched for pieces with the words; words in more texts are too common to be of use."""
MAX_PIECES = 2_000
"""Most pieces of one criterion for which contexts are searched."""
DOCUMENT = re.compile(r"chunk:[0-9a-f-]{36}")
TEXT = re.compile(r"(?:agent_file|team_file|organisation_file|daily_log):[0-9a-f-]{36}")
"""The refs, without versions, of texts that contexts have whole or in passages."""

PIECES_OF_REFERENCE_SQL = (
    "SELECT id FROM pieces WHERE named = %(named)s AND (ref = %(ref)s OR named = %(ref)s) LIMIT %(most)s"
)
# Contexts hold documents as chunks, each with a name of its own; the index `piece_chunk` finds them.
PIECES_OF_DOCUMENT_SQL = """
SELECT id FROM pieces WHERE named LIKE 'chunk:%%' AND named LIKE %(named)s || '@%%' LIMIT %(most)s
"""
# So do passages of files and logs; the index `piece_file_passage` finds them by these very words.
PIECES_OF_TEXT_SQL = f"""
({PIECES_OF_REFERENCE_SQL}) UNION ALL (
    SELECT id FROM pieces WHERE named LIKE '%%@%%#%%' AND named NOT LIKE 'chunk:%%'
        AND named LIKE %(beginning)s || '%%' LIMIT %(most)s
) LIMIT %(most)s
"""  # noqa: S608 - a constant alone is put in
# Profiles and summaries are pieces of a record, too, but no items, so they are excluded. The expression must equal that
# of the index `stored_text_words`, which covers the first 100,000 characters of a text. Of encrypted texts, the key
# store has the words: see `config.keys.words`.
PIECES_WITH_WORDS_SQL = """
SELECT pieces.id FROM (
    (SELECT sha256 FROM stored_texts
    WHERE to_tsvector('english', left(text, 100000)) @@ websearch_to_tsquery('english', %(words)s) LIMIT %(texts)s)
    UNION ALL SELECT * FROM unnest(%(encrypted)s::bytea[])
) AS matching JOIN pieces ON pieces.text_sha256 = matching.sha256
WHERE split_part(named, ':', 1) NOT IN ('profile', 'summary') LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class MatchingPieces:
    """The ids of the pieces that match the criteria `contains`, `omits` and `words`."""

    contains: Sequence[int] = ()
    omits: Sequence[int] = ()
    words: Sequence[int] = ()

    @property
    def are_too_many(self) -> bool:
        """Whether more pieces may match than are searched for."""
        return MAX_PIECES in {len(self.contains), len(self.omits), len(self.words)}

    def lack(self, wanted: ContextQuery) -> bool:
        """Return whether an item of the criteria matches no piece, so that no context can match."""
        return bool((wanted.contains and not self.contains) or (wanted.omits and not self.omits))


def find_matching_pieces(wanted: ContextQuery) -> MatchingPieces:
    """Return the ids of the pieces that match the criteria, by one query for each criterion."""
    return MatchingPieces(
        contains=_reference_pieces(wanted.contains) if wanted.contains else (),
        omits=_reference_pieces(wanted.omits) if wanted.omits else (),
        words=_text_pieces(wanted.words) if wanted.words else (),
    )


def _reference_pieces(thing: ReferenceQuery) -> list[int]:
    asked = {"named": thing.named, "ref": thing.ref, "most": MAX_PIECES}
    statement = PIECES_OF_REFERENCE_SQL
    if DOCUMENT.fullmatch(thing.named):
        statement = PIECES_OF_DOCUMENT_SQL
    elif TEXT.fullmatch(thing.named):
        statement = PIECES_OF_TEXT_SQL
        asked["beginning"] = f"{thing.ref}#" if thing.version else f"{thing.named}@"
    return [number for (number,) in fetch_rows(statement, asked)]


def _text_pieces(words: str) -> list[int]:
    encrypted = find_texts(words, MAX_TEXTS) if is_configured() else []
    asked = {"words": words, "texts": MAX_TEXTS, "most": MAX_PIECES, "encrypted": encrypted}
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
HEADING = (
    f"to_tsvector('english', CASE WHEN starts_with(topic, {MARK_SQL}) THEN '' ELSE topic END"
    " || ' ' || agent_name || ' ' || team_name)"
)
"""Text search expression of a context's heading; must equal that of the index `assembly_heading_words`.

A sealed topic has no words.
"""
WITH_ANY_LOSS = "id IN (SELECT assembly_id FROM file_losses)"
WITH_LOSS_OF_FILE = "id IN (SELECT assembly_id FROM file_losses WHERE ref = %(file_loss)s)"
FEW = 8
"""Most pieces for the && operator; for more pieces, a test that PostgreSQL runs with a hash table is faster."""


@dataclass(frozen=True, slots=True)
class SqlCondition:
    """An SQL condition with its parameters. `indexed`: its form that an (unordered) index can answer; empty if none."""

    sql: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    indexed: str = ""


def sql_conditions(
    wanted: ContextQuery, pieces: MatchingPieces, limits: Mapping[str, Any] | None
) -> list[SqlCondition]:
    """Return all conditions except the time, those that are usually rare first.

    `limits` are the ids of visible owners (`VisibleOwners.limits`); None for no limit.
    """
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
    if wanted.file_loss:
        given = WITH_ANY_LOSS if wanted.file_loss == ANY_FILE else WITH_LOSS_OF_FILE
        found.append(SqlCondition(given, {"file_loss": wanted.file_loss}, indexed=given))
    if wanted.outcome:
        found.append(SqlCondition(CUT if wanted.outcome == "truncated" else "left_out > 0"))
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
    """Return the condition that the array column contains one of the pieces."""
    parameters = {f"{name}_pieces": list(pieces)}
    overlap = f"{column} && %({name}_pieces)s::bigint[]"
    hashed = f"EXISTS (SELECT FROM unnest({column}) AS held WHERE held = ANY(%({name}_pieces)s::bigint[]))"
    return SqlCondition(overlap if len(pieces) <= FEW else hashed, parameters, indexed=overlap)


def _visibility_condition(limits: Mapping[str, Any] | None) -> list[SqlCondition]:
    if limits is None:
        return []
    team = "(team_id IS NULL OR team_id = ANY(%(seen_teams)s))"
    return [SqlCondition(f"agent_id = ANY(%(seen_agents)s) AND {team} AND {CLEARED_SQL}", limits)]


# Of a person, the roles count in the agent's teams and in the team: see `teams.sensitivity`.
CLEARED_SQL = """
(sensitivity <= %(clearance)s OR EXISTS (
    SELECT FROM (VALUES (2, '{editor,admin}'::text[]), (3, '{admin}')) AS cleared (level, roles)
    WHERE sensitivity <= level AND agent_id IN (
        SELECT link.agent_id FROM agent_teams AS link JOIN memberships ON memberships.team_id = link.team_id
        WHERE user_id = %(person)s::uuid AND role = ANY(roles)
    ) AND (team_id IS NULL OR team_id IN (
        SELECT member.team_id FROM memberships AS member WHERE user_id = %(person)s::uuid AND role = ANY(roles)
    ))
))
"""
COLUMNS = """id, created, agent_id, agent_name, team_id, team_name, requested_by, purpose, profile_name, topic,
    warnings, truncated, left_out, told, omitted, codes, sensitivity"""
NEWEST = "ORDER BY created DESC, id DESC"
EVERYTHING = "TRUE"
MAX_MERGED = 100
"""Most agents whose indexes are merged; with more visible agents, all rows are walked instead."""

BY_MOMENT = ("created >= %(since)s", "created < %(until)s")
FIRST_ID = f"'{UUID(int=0)}'::uuid"
BY_PLACE = (f"(created, id) >= (%(since)s, {FIRST_ID})", f"(created, id) < (%(until)s, {FIRST_ID})")

ListPosition = tuple[datetime, UUID]
"""A position in the list of contexts: the time and the id of a row."""


KEYS = ("created", "id")


def parse_cursor(cursor: str) -> ListPosition | None:
    """Return the position after which a page begins; None for the first page. Raises Invalid."""
    if not cursor:
        return None
    created, id_ = decode_keys(Assembly, KEYS, cursor)
    return created, id_


@dataclass(frozen=True, slots=True)
class SearchRange:
    """The part of the list that is searched: after a position, and between two moments."""

    after: ListPosition | None
    since: datetime | None
    until: datetime | None
    exact: bool = False
    """Whether the range is compared by (created, id), so that only the index of that order can find its rows.

    The smaller index of `created` finds rows that are then checked again, which is slow if each row's text must be
    parsed.
    """

    @property
    def sql(self) -> str:
        # The small index holds `created` without `id`.
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
    """A way to read rows by indexes. Rows meet one of the conditions `parts`.

    Each condition has an index in the order of the list; if not `in_order`, there is one condition, with an unordered
    index.
    """

    parts: Sequence[str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    in_order: bool = True

    def rows(self, stretch: SearchRange) -> str:
        """Return the SQL for the rows in the range, newest first."""
        parts = [
            f"SELECT {COLUMNS} FROM assemblies WHERE {part} AND {stretch.sql} {NEWEST}"  # noqa: S608
            for part in self.parts
        ]
        if len(parts) == 1:
            return parts[0]
        # Each part is ordered, so that PostgreSQL merges the parts instead of sorting all rows.
        merged = " UNION ALL ".join(f"({part})" for part in parts)
        return f"SELECT {COLUMNS} FROM ({merged}) AS merged {NEWEST}"  # noqa: S608


def access_paths(
    wanted: ContextQuery, conditions: Sequence[SqlCondition], limits: Mapping[str, Any] | None
) -> list[AccessPath]:
    """Return the access paths for the criteria: first the one to walk along, then those that may find fewer rows."""
    first, *others = _ordered_paths(wanted, limits)
    indexed = [AccessPath([one.indexed], one.parameters, in_order=False) for one in conditions if one.indexed]
    return [first, *indexed, *others]


def _ordered_paths(wanted: ContextQuery, limits: Mapping[str, Any] | None) -> list[AccessPath]:
    """Return the ordered access paths, those that probably have the fewest rows first."""
    equal = {
        name: AccessPath([sql], {name: getattr(wanted, name)}) for name, sql in EQUAL.items() if getattr(wanted, name)
    }
    by_profile = [equal.pop("profile")] if wanted.profile else []
    cut = [AccessPath([CUT])] if wanted.outcome == "truncated" else []
    seen = [_agent_condition(limits["seen_agents"])] if limits and not wanted.agent else []
    return [*equal.values(), *seen, *cut, *by_profile] or [AccessPath([EVERYTHING])]


def _agent_condition(agents: Sequence[UUID]) -> AccessPath:
    if len(agents) > MAX_MERGED:
        return AccessPath([EVERYTHING])
    names = {f"seen_{number}": agent for number, agent in enumerate(agents)}
    return AccessPath([f"agent_id = %({name})s" for name in names] or ["FALSE"], names)
