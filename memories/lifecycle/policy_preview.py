"""A dry run says how many things the next run would move with a policy that is not saved yet."""

import datetime
from collections.abc import Iterable
from typing import TypedDict

from memories.lifecycle.kv_policies import PolicyBook
from memories.lifecycle.kv_policy import KVPolicy
from memories.lifecycle.planned_moves import OwnersPolicies, PlannedMove, compressions, size_evictions
from teams.models import Team


class MoveCounts(TypedDict):
    """How many things of a content type a run would compress, and evict."""

    compressed: int
    evicted: int


class PolicyPreview(TypedDict):
    """The numbers with the policies in force, and with the one that is not saved."""

    now: MoveCounts
    then: MoveCounts


def policy_preview(*, content_type: str, team: Team | None, policy: KVPolicy, now: datetime.datetime) -> PolicyPreview:
    """Return what the next run would move with the policies in force, and with this policy instead of one of them.

    It decides as a run does, and writes nothing. For a team, the things whose policies are the team's are counted.
    """
    then = PolicyBook({(team.id if team else None, content_type): policy})
    return {
        "now": _counts(PolicyBook(), content_type, team, now),
        "then": _counts(then, content_type, team, now),
    }


def _counts(book: PolicyBook, content_type: str, team: Team | None, now: datetime.datetime) -> MoveCounts:
    policies = OwnersPolicies(book)

    def count(moves: Iterable[PlannedMove]) -> int:
        return sum(
            thing.content_type == content_type and (team is None or policies.team_of(thing.owner) == team.id)
            for move in moves
            for thing in move.things
        )

    return {"compressed": count(compressions(policies, now)), "evicted": count(size_evictions(policies, now))}
