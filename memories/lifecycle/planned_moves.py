"""What the policies would move now, found page by page; a run executes it, and a dry run only counts it."""

import datetime
import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import groupby
from typing import Any
from uuid import UUID

from agents.models import AgentTeam
from config.db.statements import fetch_rows
from memories.lifecycle.kv_policies import PolicyBook
from memories.lifecycle.kv_policy import FREEZE_AFTER_DAYS, GB, KVPolicy, content_type_of, narrow, stored_policy
from memories.lifecycle.requested_policies import least_requested_size
from memories.lifecycle.thing_tables import MEMORIES, THING_TABLES, ThingTable
from memories.lifecycle.tier_decisions import (
    Reason,
    ThingFacts,
    decide,
    evict_score,
    evictions,
    pinned_by_policy,
)
from memories.lifecycle.tiers import Tier
from memories.lifecycle.undone_moves import brought_back
from memories.lifecycle.use_counts import Uses, uses_of

PAGE_ROWS = 1_000
PRUNE_AFTER_DAYS = 30
"""A replaced or archived memory becomes cold after this many days."""

FACTS_SQL = """
SELECT thing.id, {owner}, {label}, thing.tier, coalesce(thing.tier_since, thing.created), coalesce({size}, 0),
    {quality}, {pinned}, (SELECT policy FROM requested_policies AS asked WHERE asked.thing = thing.id)
FROM {table} AS thing WHERE {condition} ORDER BY thing.id LIMIT %(limit)s
"""
AFTER = "(%(after)s::uuid IS NULL OR thing.id > %(after)s)"


@dataclass(frozen=True, slots=True)
class OwnedThing:
    """A thing with its owner and its content type."""

    facts: ThingFacts
    owner: UUID
    content_type: str


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """Things of one table that should be moved to a tier, for one reason."""

    table: ThingTable
    things: Sequence[OwnedThing]
    tier: Tier
    reason: Reason


def read_things(
    table: ThingTable, condition: str, parameters: Mapping[str, Any], *, since: datetime.date | None = None
) -> Iterator[list[OwnedThing]]:
    """Yield the things for which the SQL condition holds, page by page; with their uses if a day is given."""
    after: UUID | None = None
    while True:
        names = {name: getattr(table, name) for name in ("owner", "label", "size", "quality", "pinned")}
        sql = FACTS_SQL.format(table=table.name, condition=f"{AFTER} AND {condition}", **names)
        rows = fetch_rows(sql, {**parameters, "after": after, "limit": PAGE_ROWS})
        uses = uses_of([row[0] for row in rows], since) if since and rows else {}
        yield [_thing(table, row, uses.get(row[0], Uses())) for row in rows]
        if len(rows) < PAGE_ROWS:
            return
        after = rows[-1][0]


def _thing(table: ThingTable, row: Sequence[Any], uses: Uses) -> OwnedThing:
    id_, owner, label, tier, since, size, quality, pinned, requested = row
    facts = ThingFacts(
        id=id_,
        kind=table.kind,
        label=label,
        tier=Tier(tier),
        since=since,
        size=size,
        quality=float(quality),
        recent_uses=uses.recent,
        all_uses=uses.all,
        last_used=uses.last,
        pinned=pinned,
        requested=stored_policy(json.loads(requested)) if requested else None,
    )
    return OwnedThing(facts, owner, content_type_of(table.kind, label))


class OwnersPolicies:
    """The policy for the things of each owner: of a team its own, of an agent that of its only team."""

    def __init__(self, book: PolicyBook, only: UUID | None = None) -> None:
        """Read the teams of all agents, or those of one owner."""
        self.book = book
        self._teams: dict[UUID, UUID] = {}
        links = AgentTeam.objects.order_by("agent_id").values_list("agent_id", "team_id")
        if only:
            links = links.filter(agent_id=only)
        for agent, teams in groupby(links, key=lambda link: link[0]):
            if len(of_agent := [team for _, team in teams]) == 1:
                self._teams[agent] = of_agent[0]

    def of(self, thing: OwnedThing) -> KVPolicy:
        """Return the policy that holds for the thing, narrowed by that of a request."""
        policy = self.of_owner(thing.owner, thing.content_type)
        return narrow(policy, thing.facts.requested) if thing.facts.requested else policy

    def of_owner(self, owner: UUID, content_type: str) -> KVPolicy:
        """Return the policy that holds for things of this type and owner."""
        return self.book.rebalanced(content_type, self.team_of(owner))

    def is_brought_back(self, thing: OwnedThing, back: Mapping[UUID, datetime.datetime]) -> bool:
        """Return whether a person brought the thing back, and the policy is what it was at that time."""
        at = back.get(thing.facts.id)
        return at is not None and at >= self.book.saved_at(thing.content_type, self.team_of(thing.owner))

    def team_of(self, owner: UUID) -> UUID:
        """Return the id of the only team of an agent; of a team, or an agent with several or none, its own."""
        return self._teams.get(owner, owner)


def compressions(policies: OwnersPolicies, now: datetime.datetime) -> Iterator[PlannedMove]:
    """Yield the hot things that become warm."""
    for table in THING_TABLES:
        pinned = policy_pins(table, policies, now)
        for page in read_things(table, "thing.tier = 'hot'", {}, since=now.date()):
            things = _with_recent_uses(page, policies, now)
            moved = [
                thing
                for thing in things
                if decide(thing.facts, policies.of(thing), now, is_pinned=thing.facts.id in pinned).tier is Tier.WARM
            ]
            yield PlannedMove(table, moved, Tier.WARM, Reason.COMPRESS)


def _with_recent_uses(
    page: Sequence[OwnedThing], policies: OwnersPolicies, now: datetime.datetime
) -> Iterator[OwnedThing]:
    """Yield the things with the uses within the age threshold of their policy; uses are counted by day."""
    by_hours: dict[float, list[OwnedThing]] = {}
    for thing in page:
        by_hours.setdefault(policies.of(thing).compress.age_threshold_hours, []).append(thing)
    for hours, things in by_hours.items():
        since = (now - datetime.timedelta(hours=hours)).date()
        uses = uses_of([thing.facts.id for thing in things], since)
        for thing in things:
            recent = uses.get(thing.facts.id, Uses()).recent
            yield replace(thing, facts=replace(thing.facts, recent_uses=recent))


def policy_pins(
    table: ThingTable, policies: OwnersPolicies, now: datetime.datetime, *, only: UUID | None = None
) -> set[UUID]:
    """Return the ids of the hot things that policies pin now: patterns match paths, of memories their kinds. With
    `only`, of those of one owner.
    """
    groups: dict[tuple[UUID, str], list[ThingFacts]] = {}
    if table is MEMORIES and not policies.book.pins("general"):
        return set()
    young = now - datetime.timedelta(hours=policies.book.longest_pin_hours)
    condition = f"thing.tier = 'hot' AND {table.label} <> '' AND coalesce(thing.tier_since, thing.created) > %(young)s"
    if only:
        condition += f" AND {table.owner} = %(owner)s"
    for page in read_things(table, condition, {"young": young, "owner": only}, since=now.date()):
        for thing in page:
            groups.setdefault((thing.owner, thing.content_type), []).append(thing.facts)
    pinned = set[UUID]()
    for (owner, content_type), things in groups.items():
        pinned |= pinned_by_policy(things, policies.of_owner(owner, content_type), now)
    return pinned


OWNER_SIZES_SQL = """
SELECT {owner}, sum({size}) FROM {table} AS thing WHERE thing.tier IN ('hot', 'warm')
GROUP BY 1 HAVING sum({size}) > %(least)s
"""
OF_OWNER = "thing.tier IN ('hot', 'warm') AND {owner} = %(owner)s"


def size_evictions(policies: OwnersPolicies, now: datetime.datetime) -> Iterator[PlannedMove]:
    """Yield the things that become cold, because those of their owner and type take more than their policy allows."""
    least, back = min(policies.book.least_size, least_requested_size()) * GB, brought_back()
    for table in THING_TABLES:
        sizes = OWNER_SIZES_SQL.format(owner=table.owner, size=table.size, table=table.name)
        large = fetch_rows(sizes, {"least": least})
        pinned = policy_pins(table, policies, now) if large else set()
        for owner, _ in large:
            groups: dict[str, list[OwnedThing]] = {}
            condition = OF_OWNER.format(owner=table.owner)
            for page in read_things(table, condition, {"owner": owner}, since=now.date()):
                for thing in page:
                    groups.setdefault(thing.content_type, []).append(thing)
            for content_type, things in groups.items():
                policy, facts = policies.of_owner(owner, content_type), [thing.facts for thing in things]
                spared = pinned | {thing.facts.id for thing in things if policies.is_brought_back(thing, back)}
                gone = _over_their_size(facts, policy, now, spared)
                chosen = [thing for thing in things if thing.facts.id in gone]
                yield PlannedMove(table, chosen, Tier.COLD, Reason.EVICT)


def _over_their_size(
    things: Sequence[ThingFacts], policy: KVPolicy, now: datetime.datetime, spared: Container[UUID]
) -> set[UUID]:
    """Return the ids of things of one owner and type that have no room by the policy, or by what requests allow."""
    gone = {one.id for one in evictions(things, policy, now.date(), spared=spared)}
    narrowed: dict[float, list[ThingFacts]] = {}
    for thing in things:
        if thing.requested and thing.id not in gone:
            narrowed.setdefault(thing.requested.evict.max_total_size_gb, []).append(thing)
    for limit, some in narrowed.items():
        gone |= {one.id for one in evictions(some, policy, now.date(), limit_gb=limit, spared=spared)}
    return gone


LOST_SQL = """
thing.tier IN ('hot', 'warm') AND {lost} AND coalesce(thing.tier_since, thing.created) <= %(before)s
    AND {changed} <= %(before)s
"""


def prunings(policies: OwnersPolicies, now: datetime.datetime) -> Iterator[PlannedMove]:
    """Yield the memories that were replaced or archived long ago, which become cold."""
    before = {"before": now - datetime.timedelta(days=PRUNE_AFTER_DAYS)}
    spared = policy_pins(MEMORIES, policies, now) | set(brought_back())
    for page in read_things(MEMORIES, LOST_SQL.format(lost=MEMORIES.lost, changed=MEMORIES.changed), before):
        chosen = [thing for thing in page if thing.facts.id not in spared]
        yield PlannedMove(MEMORIES, chosen, Tier.COLD, Reason.PRUNE)


def freezings(now: datetime.datetime) -> Iterator[PlannedMove]:
    """Yield the cold things that are frozen."""
    before = {"before": now - datetime.timedelta(days=FREEZE_AFTER_DAYS)}
    for table in THING_TABLES:
        for page in read_things(table, "thing.tier = 'cold' AND thing.tier_since <= %(before)s", before):
            yield PlannedMove(table, page, Tier.FROZEN, Reason.FREEZE)


SIZE_SQL = " UNION ALL ".join(
    f"SELECT coalesce(sum({table.size}), 0) FROM {table.name} AS thing WHERE thing.tier IN ('hot', 'warm')"  # noqa: S608
    for table in THING_TABLES
)


def searched_bytes() -> int:
    """Return the size in bytes of the texts of all hot and warm things."""
    return int(sum(size for (size,) in fetch_rows(SIZE_SQL)))


MOST_CHOSEN = 20_000
"""How many things of a round of evictions are held in memory."""


def pressure_evictions(policies: OwnersPolicies, now: datetime.datetime, excess: int) -> Iterator[PlannedMove]:
    """Yield things of all owners with at least `excess` bytes together, the highest score first. What was yielded must
    be moved before the next is asked for: very many things are chosen in several rounds.
    """
    while excess > 0:
        chosen = _highest_scores(policies, now, excess)
        taken = sum(thing.facts.size for _, thing in chosen)
        excess -= taken
        for table in THING_TABLES:
            if things := [thing for of, thing in chosen if of is table]:
                yield PlannedMove(table, things, Tier.COLD, Reason.EVICT)
        if not taken or len(chosen) < MOST_CHOSEN:
            return


def _highest_scores(
    policies: OwnersPolicies, now: datetime.datetime, excess: int
) -> list[tuple[ThingTable, OwnedThing]]:
    """Return the things with the highest scores, as few as have `excess` bytes together, and at most MOST_CHOSEN.

    What people or policies pinned, and what was brought back, is none of them.
    """
    heap: list[tuple[float, float, int, ThingTable, OwnedThing]] = []  # the one that would be evicted last first
    total, back = 0, brought_back()
    for table in THING_TABLES:
        spared = policy_pins(table, policies, now) | set(back)
        for page in read_things(table, "thing.tier IN ('hot', 'warm')", {}, since=now.date()):
            for thing in page:
                facts = thing.facts
                if facts.pinned or facts.id in spared:
                    continue
                score = evict_score(facts, policies.of(thing).evict, now.date())
                heappush(heap, (score, -facts.since.timestamp(), -facts.id.int, table, thing))
                total += facts.size
                while len(heap) > MOST_CHOSEN or total - heap[0][-1].facts.size >= excess:
                    total -= heappop(heap)[-1].facts.size
    return [(table, thing) for *_, table, thing in sorted(heap, key=lambda one: one[:3], reverse=True)]
