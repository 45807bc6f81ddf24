"""What the policies would move now, found page by page; a run executes it, and a dry run only counts it."""

import datetime
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any
from uuid import UUID

from agents.models import AgentTeam
from config.db.statements import fetch_rows
from memories.lifecycle.kv_policies import PolicyBook
from memories.lifecycle.kv_policy import FREEZE_AFTER_DAYS, KVPolicy, content_type_of, narrow, stored_policy
from memories.lifecycle.last_look import Look
from memories.lifecycle.thing_tables import MEMORIES, THING_TABLES, ThingTable
from memories.lifecycle.tier_checks import IS_LISTED, due_checks, forget_checks
from memories.lifecycle.tier_decisions import (
    Reason,
    ThingFacts,
    could_be_pinned,
    decide,
    next_look,
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
FROM {table} AS thing {sample} WHERE {condition} ORDER BY thing.id LIMIT %(limit)s
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
    dues: Mapping[UUID, datetime.datetime] = field(default_factory=dict)
    """When things that stay, or cannot be moved now, are to be looked at again, by id."""


def read_things(
    table: ThingTable,
    condition: str,
    parameters: Mapping[str, Any],
    *,
    since: datetime.date | None = None,
    after: UUID | None = None,
    share: float = 1,
) -> Iterator[list[OwnedThing]]:
    """Yield the things for which the SQL condition holds, page by page; with their uses if a day is given.

    `after` leaves out ids up to this one. With a share below 1, things on about this share of the table's pages are
    read, the same ones each time.
    """
    while True:
        names = {name: getattr(table, name) for name in ("owner", "label", "size", "quality", "pinned")}
        sql = FACTS_SQL.format(
            table=table.name, condition=f"{AFTER} AND {condition}", sample=sample_sql(share), **names
        )
        rows = fetch_rows(sql, {**parameters, "after": after, "limit": PAGE_ROWS})
        uses = uses_of([row[0] for row in rows], since) if since and rows else {}
        yield [_thing(table, row, uses.get(row[0], Uses())) for row in rows]
        if len(rows) < PAGE_ROWS:
            return
        after = rows[-1][0]


def sample_sql(share: float) -> str:
    """Return the SQL by which a table is read in part; empty for a share of 1."""
    return "" if share >= 1 else f"TABLESAMPLE SYSTEM ({100 * share:.6f}) REPEATABLE (1)"


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


LATE_COMMITS = datetime.timedelta(hours=1)
"""A row may become visible so long after it got its id."""


def compressions(
    policies: OwnersPolicies,
    now: datetime.datetime,
    look: Look | None = None,
    *,
    grown: Callable[[int], object] = lambda _: None,
    share: float = 1,
) -> Iterator[PlannedMove]:
    """Yield the hot things that become warm, with the moments at which the others are looked at again.

    After an earlier look, what is new since then or due is read, and `grown` is told the bytes of what is new; else
    everything is read, or about a share of it, see `read_things`.
    """
    for table in THING_TABLES:
        pins = _PolicyPins(table, policies, now)
        pages = (
            _new_or_due(table, look, now, grown)
            if look
            else read_things(table, IS_HOT, {}, since=now.date(), share=share)
        )
        for page in pages:
            moved, dues = list[OwnedThing](), dict[UUID, datetime.datetime]()
            things = [*_with_recent_uses(page, policies, now)]
            pins.read(things)
            for thing in things:
                policy = policies.of(thing)
                decided = decide(thing.facts, policy, now, is_pinned=thing.facts.id in pins.pinned)
                dues[thing.facts.id] = now if decided.tier is Tier.WARM else next_look(decided, policy, now)
                if decided.tier is Tier.WARM:
                    moved.append(thing)
            yield PlannedMove(table, moved, Tier.WARM, Reason.COMPRESS, dues)


IS_HOT = "thing.tier = 'hot'"


def _new_or_due(
    table: ThingTable, look: Look, now: datetime.datetime, grown: Callable[[int], object]
) -> Iterator[list[OwnedThing]]:
    """Yield the hot things that are new since the look, and those that are due."""
    newest = first_id_of(look.until - LATE_COMMITS)
    for page in read_things(table, f"{IS_HOT} AND NOT {IS_LISTED}", {}, since=now.date(), after=newest):
        grown(sum(thing.facts.size for thing in page))
        yield page
    for ids in due_checks(table.name, now):
        gone = set(ids)
        for page in read_things(table, f"{IS_HOT} AND thing.id = ANY(%(ids)s::uuid[])", {"ids": ids}, since=now.date()):
            gone -= {thing.facts.id for thing in page}
            yield page
        forget_checks(gone)


def first_id_of(moment: datetime.datetime) -> UUID:
    """Return an id that comes before all ids that are made from the moment on; they begin with the time in ms."""
    return UUID(int=max(0, round(1_000 * moment.timestamp())) << 80)


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


class _PolicyPins:
    """What policies pin, read for the owners of things for which it matters, once for each."""

    def __init__(self, table: ThingTable, policies: OwnersPolicies, now: datetime.datetime) -> None:
        self._table, self._policies, self._now = table, policies, now
        self._known, self.pinned = set[UUID](), set[UUID]()

    def read(self, things: Iterable[OwnedThing]) -> None:
        """Read what is pinned of the owners of these things, as far as one of them could be pinned."""
        owners = {
            thing.owner for thing in things if could_be_pinned(thing.facts, self._policies.of(thing), self._now)
        } - self._known
        if owners:
            self._known |= owners
            self.pinned |= policy_pins(self._table, self._policies, self._now, owners)


def policy_pins(
    table: ThingTable, policies: OwnersPolicies, now: datetime.datetime, owners: Collection[UUID] | None = None
) -> set[UUID]:
    """Return the ids of the hot things that policies pin now: patterns match paths, of memories their kinds. With
    `owners`, of those of these owners.
    """
    groups: dict[tuple[UUID, str], list[ThingFacts]] = {}
    if table is MEMORIES and not policies.book.pins("general"):
        return set()
    young = now - datetime.timedelta(hours=policies.book.longest_pin_hours)
    condition = f"{IS_HOT} AND {table.label} <> '' AND coalesce(thing.tier_since, thing.created) > %(young)s"
    if owners is not None:
        condition += f" AND {table.owner} = ANY(%(owners)s::uuid[])"
    parameters = {"young": young, "owners": list(owners or ())}
    for page in read_things(table, condition, parameters, since=now.date()):
        for thing in page:
            groups.setdefault((thing.owner, thing.content_type), []).append(thing.facts)
    pinned = set[UUID]()
    for (owner, content_type), things in groups.items():
        pinned |= pinned_by_policy(things, policies.of_owner(owner, content_type), now)
    return pinned


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
