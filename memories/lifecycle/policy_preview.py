"""A dry run says how many things the next run would move with a policy that is not saved yet."""

import datetime
from collections.abc import Iterable
from typing import TypedDict

from config.db.statements import fetch_rows
from memories.lifecycle.kv_policies import PolicyBook
from memories.lifecycle.kv_policy import KVPolicy
from memories.lifecycle.planned_moves import OwnersPolicies, PlannedMove, compressions
from memories.lifecycle.size_evictions import size_evictions
from memories.lifecycle.thing_tables import THING_TABLES
from teams.models import Team


class MoveCounts(TypedDict):
    """How many things of a content type a run would compress, and evict."""

    compressed: int
    evicted: int


class PolicyPreview(TypedDict):
    """The numbers with the policies in force, and with the one that is not saved."""

    now: MoveCounts
    then: MoveCounts
    is_estimated: bool
    """Whether the numbers were computed from a part of the things, because there are very many."""


COUNTED_THINGS = 10_000
"""Of more things than this, about as many are looked at."""
ROWS_SQL = """
SELECT sum(greatest(reltuples, 0)) FROM unnest(%(tables)s::regclass[]) AS whole, leaves_of(whole) AS leaf
JOIN pg_class ON pg_class.oid = leaf
"""


def policy_preview(*, content_type: str, team: Team | None, policy: KVPolicy, now: datetime.datetime) -> PolicyPreview:
    """Return what the next run would move with the policies in force, and with this policy instead of one of them.

    It decides as a run does, and writes nothing. For a team, the things whose policies are the team's are counted. Of
    very many things, about COUNTED_THINGS are looked at, and the numbers are estimated from them.
    """
    share = _share()
    then = PolicyBook({(team.id if team else None, content_type): policy})
    return {
        "now": _counts(PolicyBook(), content_type, team, now, share),
        "then": _counts(then, content_type, team, now, share),
        "is_estimated": share < 1,
    }


def _share() -> float:
    """Return which share of the things is looked at, by PostgreSQL's estimate of how many there are."""
    ((rows,),) = fetch_rows(ROWS_SQL, {"tables": [table.name for table in THING_TABLES]})
    return float(min(1, COUNTED_THINGS / max(1, rows or 0)))


def _counts(book: PolicyBook, content_type: str, team: Team | None, now: datetime.datetime, share: float) -> MoveCounts:
    policies = OwnersPolicies(book)

    def count(moves: Iterable[PlannedMove]) -> int:
        counted = sum(
            thing.content_type == content_type and (team is None or policies.team_of(thing.owner) == team.id)
            for move in moves
            for thing in move.things
        )
        return round(counted / share)

    return {
        "compressed": count(compressions(policies, now, share=share)),
        "evicted": count(size_evictions(policies, now, share=share)),
    }
