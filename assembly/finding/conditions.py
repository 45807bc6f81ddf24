"""What is wanted, as conditions on a row of `assemblies`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assembly.finding.pieces import Pieces
from assembly.finding.wanted import Wanted

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
