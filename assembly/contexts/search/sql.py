"""The pieces of contexts that a thing or words are found in: `told` and `omitted` hold their numbers.

What is wanted, as conditions on a row of `assemblies`.

The ways into the table: indexes by which rows are walked from the newest, or found in no order at all.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from assembly.contexts.search.criteria import Thing, Wanted
from assembly.contexts.search.db import rows
from assembly.models import Assembly
from config.http.cursors import decode_keys

MOST_TEXTS = 20_000
"""So many texts with the words are looked at: more have words that say nothing."""
MOST_PIECES = 2_000
"""So many pieces are searched for in contexts."""
DOCUMENT = re.compile(r"chunk:[0-9a-f-]{36}")

OF_THING = "SELECT id FROM pieces WHERE named = %(named)s AND (ref = %(ref)s OR named = %(ref)s) LIMIT %(most)s"
# Contexts hold documents chunk by chunk, each named by itself; found by the index `piece_chunk`.
OF_DOCUMENT = """
SELECT id FROM pieces WHERE named LIKE 'chunk:%%' AND named LIKE %(named)s || '@%%' LIMIT %(most)s
"""
# The profile and the summaries of a record are among its pieces, and were told nobody as they are. The words must read
# as in the index `stored_text_words`: of longer texts, PostgreSQL indexes no more.
WITH_WORDS = """
SELECT pieces.id FROM (
    SELECT sha256 FROM stored_texts
    WHERE to_tsvector('english', left(text, 100000)) @@ websearch_to_tsquery('english', %(words)s) LIMIT %(texts)s
) AS matching JOIN pieces ON pieces.text_sha256 = matching.sha256
WHERE split_part(named, ':', 1) NOT IN ('profile', 'summary') LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The numbers of the pieces that are searched for."""

    contains: Sequence[int] = ()
    omits: Sequence[int] = ()
    words: Sequence[int] = ()

    @property
    def are_too_many(self) -> bool:
        """Whether there may be more than are searched for."""
        return MOST_PIECES in {len(self.contains), len(self.omits), len(self.words)}

    def lack(self, wanted: Wanted) -> bool:
        """Whether a thing that is wanted is no piece at all."""
        return bool((wanted.contains and not self.contains) or (wanted.omits and not self.omits))


def pieces_of(wanted: Wanted) -> Pieces:
    """A query for each that is asked for."""
    return Pieces(
        contains=_of_thing(wanted.contains) if wanted.contains else (),
        omits=_of_thing(wanted.omits) if wanted.omits else (),
        words=_with_words(wanted.words) if wanted.words else (),
    )


def _of_thing(thing: Thing) -> list[int]:
    asked = {"named": thing.named, "ref": thing.ref, "most": MOST_PIECES}
    return [number for (number,) in rows(OF_DOCUMENT if DOCUMENT.fullmatch(thing.named) else OF_THING, asked)]


def _with_words(words: str) -> list[int]:
    asked = {"words": words, "texts": MOST_TEXTS, "most": MOST_PIECES}
    return [number for (number,) in rows(WITH_WORDS, asked)]


EQUAL = {
    "agent": "agent_id = %(agent)s",
    "team": "team_id = %(team)s",
    "requested_by": "requested_by = %(requested_by)s",
    "profile": "profile_name = %(profile)s",
}
WITH_WARNING = "warnings <> '[]'::jsonb"
CUT = f"(truncated OR {WITH_WARNING})"
HEADING = "to_tsvector('english', topic || ' ' || agent_name || ' ' || team_name)"
"""Must read as in the index `assembly_heading_words`."""
FEW = 8
"""Of more pieces PostgreSQL makes a table of hashes to look them up in."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`indexed`: an index finds the rows that meet it, in no order."""

    sql: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    indexed: str = ""


def conditions_of(wanted: Wanted, pieces: Pieces, limits: Mapping[str, Any] | None) -> list[Condition]:
    """All that a row must meet but for the time, those first that are rare as a rule; `limits` are those of Sight."""
    return [*_equal(wanted), *_things(wanted, pieces), *_outcome(wanted), *_seen(limits)]


def _equal(wanted: Wanted) -> list[Condition]:
    given = {name: getattr(wanted, name) for name in EQUAL}
    return [Condition(EQUAL[name], {name: value}) for name, value in given.items() if value]


def _outcome(wanted: Wanted) -> list[Condition]:
    found = []
    if wanted.warning:
        named = {"warning": json.dumps([wanted.warning])}
        given = f"{WITH_WARNING} AND warnings @> %(warning)s::jsonb"
        found.append(Condition(given, named, indexed=given))
    if wanted.reason:
        given = "codes @> ARRAY[%(reason)s]::varchar[]"
        found.append(Condition(given, {"reason": wanted.reason}, indexed=given))
    if wanted.only:
        found.append(Condition(CUT if wanted.only == "cut" else "left_out > 0"))
    return found


def _things(wanted: Wanted, pieces: Pieces) -> list[Condition]:
    found = []
    if wanted.contains:
        found.append(_holding("told", "contains", pieces.contains))
    if wanted.omits:
        found.append(_holding("omitted", "omits", pieces.omits))
    if wanted.words:
        told = _holding("told", "words", pieces.words)
        heading = f"{HEADING} @@ websearch_to_tsquery('english', %(words)s)"
        parameters = {**told.parameters, "words": wanted.words}
        found.append(Condition(f"({heading} OR {told.sql})", parameters, indexed=f"({heading} OR {told.indexed})"))
    return found


def _holding(column: str, name: str, pieces: Sequence[int]) -> Condition:
    """Rows with one of the pieces in the column."""
    parameters = {f"{name}_pieces": list(pieces)}
    overlap = f"{column} && %({name}_pieces)s::bigint[]"
    hashed = f"EXISTS (SELECT FROM unnest({column}) AS held WHERE held = ANY(%({name}_pieces)s::bigint[]))"
    return Condition(overlap if len(pieces) <= FEW else hashed, parameters, indexed=overlap)


def _seen(limits: Mapping[str, Any] | None) -> list[Condition]:
    if limits is None:
        return []
    team = "(team_id IS NULL OR team_id = ANY(%(seen_teams)s))"
    return [Condition(f"agent_id = ANY(%(seen_agents)s) AND {team}", limits)]


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
    created, id_ = decode_keys(Assembly, KEYS, cursor)
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
