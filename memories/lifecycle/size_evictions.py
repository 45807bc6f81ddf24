"""Which things have no room, by the sizes that policies and requests allow, and by the budget of the installation.

Sizes are those of the texts as they are stored. The things of an owner are read page by page, and a bounded number of
those to be evicted is held in memory: very many are chosen in several rounds.
"""

import datetime
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from config.db.statements import fetch_rows
from memories.lifecycle.kv_policy import GB, EvictRule
from memories.lifecycle.planned_moves import (
    OwnedThing,
    OwnersPolicies,
    PlannedMove,
    policy_pins,
    read_things,
    sample_sql,
)
from memories.lifecycle.requested_policies import least_requested_size
from memories.lifecycle.thing_tables import TABLES_BY_KIND, THING_TABLES
from memories.lifecycle.tier_decisions import HighestScores, Reason
from memories.lifecycle.tiers import IS_SEARCHED_SQL, Tier
from memories.lifecycle.undone_moves import brought_back

MOST_CHOSEN = 20_000
"""How many things of a round of evictions are held in memory."""
IS_SEARCHED = f"thing.{IS_SEARCHED_SQL}"
SIZE_SQL = " UNION ALL ".join(
    f"SELECT coalesce(sum({table.size}), 0) FROM {table.name} AS thing WHERE {IS_SEARCHED}"  # noqa: S608
    for table in THING_TABLES
)
_SIZES = " UNION ALL ".join(
    f"SELECT {table.owner}, {table.size} FROM {table.name} AS thing {{sample}} WHERE {IS_SEARCHED}"  # noqa: S608
    for table in THING_TABLES
)
LARGE_OWNERS_SQL = f"""
SELECT owner FROM ({_SIZES}) AS sizes (owner, size) GROUP BY owner HAVING sum(size) > %(least)s ORDER BY owner
"""  # noqa: S608 - constant names


def searched_bytes() -> int:
    """Return the size in bytes of the texts of all hot and warm things, as they are stored."""
    return int(sum(size for (size,) in fetch_rows(SIZE_SQL)))


@dataclass(frozen=True, slots=True)
class _Group:
    """Things of one owner and content type, in all tables, that have a common limit; `requested_gb` is that of
    requests, None for the limit of the policy.
    """

    content_type: str
    requested_gb: float | None = None


def size_evictions(policies: OwnersPolicies, now: datetime.datetime, *, share: float = 1) -> Iterator[PlannedMove]:
    """Yield the things that become cold, because those of their owner and type take more than their policy allows, or
    than what requests allow. What was yielded must be moved before the next is asked for.

    With a share below 1, it is decided by about this share of all things, see `read_things`; nothing may be moved then.
    """
    least = min(policies.book.least_size, least_requested_size()) * GB * share
    large = fetch_rows(LARGE_OWNERS_SQL.format(sample=sample_sql(share)), {"least": least})
    back = brought_back() if large else {}
    for (owner,) in large:
        yield from _OwnersEvictions(policies, now, owner, back, share).moves()


class _OwnersEvictions:
    """The evictions of one owner: first what the policies do not allow, then what requests do not."""

    def __init__(
        self,
        policies: OwnersPolicies,
        now: datetime.datetime,
        owner: UUID,
        back: Mapping[UUID, datetime.datetime],
        share: float,
    ) -> None:
        self.policies, self.now, self.owner, self.back, self.share = policies, now, owner, back, share
        self._gone, self._pinned = set[UUID](), set[UUID]()
        self._excess = math.inf  # of the round before

    def moves(self) -> Iterator[PlannedMove]:
        """Yield the moves."""
        for of_requests in (False, True):
            self._excess = math.inf
            yield from self._rounds(of_requests=of_requests)

    def _rounds(self, *, of_requests: bool) -> Iterator[PlannedMove]:
        while found := self._chosen(of_requests=of_requests):
            things = [thing for one in found for thing in one.items]
            self._gone = {thing.facts.id for thing in things}
            yield from _moves_of(things)
            if not any(one.is_full for one in found):
                return

    def _chosen(self, *, of_requests: bool) -> list[HighestScores[OwnedThing]]:
        """Return what is to be evicted of each group that is too large; nothing where the round before moved nothing,
        because others are changing those things.
        """
        sizes = Counter[_Group]()
        for thing in self._things():
            if group := self._group(thing, of_requests=of_requests):
                sizes[group] += thing.facts.size
        excess = {group: size - self._limit(group) for group, size in sizes.items()}
        today = self.now.date()
        over = {
            group: HighestScores[OwnedThing](some, today, MOST_CHOSEN) for group, some in excess.items() if some > 0
        }
        before, self._excess = self._excess, sum(one.excess for one in over.values())
        if not over or self._excess >= before:
            return []
        self._pinned = set().union(
            *(policy_pins(table, self.policies, self.now, [self.owner]) for table in THING_TABLES)
        )
        for thing in self._things():
            group = self._group(thing, of_requests=of_requests)
            if group in over and not self._is_spared(thing):
                over[group].consider(thing.facts, self._rule(thing.content_type), thing)
        return [one for one in over.values() if one.items]

    def _things(self) -> Iterator[OwnedThing]:
        for table in THING_TABLES:
            condition = f"{IS_SEARCHED} AND {table.owner} = %(owner)s"
            parameters = {"owner": self.owner}
            for page in read_things(table, condition, parameters, since=self.now.date(), share=self.share):
                yield from page

    def _group(self, thing: OwnedThing, *, of_requests: bool) -> _Group | None:
        if not of_requests:
            return _Group(thing.content_type)
        if thing.facts.requested is None or thing.facts.id in self._gone:
            return None
        return _Group(thing.content_type, thing.facts.requested.evict.max_total_size_gb)

    def _limit(self, group: _Group) -> float:
        allowed = self.policies.of_owner(self.owner, group.content_type).evict.max_total_size_gb
        return (allowed if group.requested_gb is None else group.requested_gb) * GB * self.share

    def _rule(self, content_type: str) -> EvictRule:
        return self.policies.of_owner(self.owner, content_type).evict

    def _is_spared(self, thing: OwnedThing) -> bool:
        return thing.facts.id in self._pinned or self.policies.is_brought_back(thing, self.back)


def _moves_of(things: Sequence[OwnedThing]) -> Iterator[PlannedMove]:
    for kind, table in TABLES_BY_KIND.items():
        if of_kind := [thing for thing in things if thing.facts.kind == kind]:
            yield PlannedMove(table, of_kind, Tier.COLD, Reason.EVICT)


def pressure_evictions(policies: OwnersPolicies, now: datetime.datetime, excess: int) -> Iterator[PlannedMove]:
    """Yield things of all owners with at least `excess` bytes together, the highest score first. What was yielded must
    be moved before the next is asked for: very many things are chosen in several rounds.

    What people or policies pinned, and what was brought back, is none of them.
    """
    while excess > 0:
        chosen = HighestScores[OwnedThing](excess, now.date(), MOST_CHOSEN)
        back = brought_back()
        for table in THING_TABLES:
            spared = policy_pins(table, policies, now) | set(back)
            for page in read_things(table, IS_SEARCHED, {}, since=now.date()):
                for thing in page:
                    if thing.facts.id not in spared:
                        chosen.consider(thing.facts, policies.of(thing).evict, thing)
        yield from _moves_of(chosen.items)
        excess -= chosen.size
        if not chosen.is_full:
            return
