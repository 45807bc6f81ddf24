"""Which tier a thing belongs in: pure decisions from the facts of things, their policy and the time."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from heapq import heappop, heappush
from pathlib import PurePosixPath
from typing import Generic, TypeVar
from uuid import UUID

from memories.lifecycle.kv_policy import FREEZE_AFTER_DAYS, MB, EvictRule, KVPolicy, PinRule
from memories.lifecycle.tiers import Tier

USE_HALF_LIFE_DAYS = 30
"""The recency of use is 1 on the day of a use, and halves in this time."""


class Reason(StrEnum):
    """Why a thing stays in its tier, or is moved."""

    PINNED_BY_PERSON = "pinned_by_person"
    PINNED_BY_POLICY = "pinned_by_policy"
    YOUNG = "young"
    USED = "used"
    COMPRESS = "compress"
    WITHIN_SIZE = "within_size"
    EVICT = "evict"
    PRUNE = "prune"
    WAITING = "waiting"
    FREEZE = "freeze"
    FROZEN = "frozen"


@dataclass(frozen=True, slots=True)
class ThingFacts:
    """What a decision on a thing needs. `since` is when it came into its tier, `size` its text's size in bytes.

    `recent_uses` are the uses within the policy's age threshold; `quality` is 0 to 1; `label` is a path or a kind.
    """

    id: UUID
    kind: str
    label: str
    tier: Tier
    since: datetime.datetime
    size: int
    quality: float = 0.5
    recent_uses: int = 0
    all_uses: int = 0
    last_used: datetime.date | None = None
    pinned: bool = False
    requested: KVPolicy | None = None
    """The policy of a request that narrows those of admins."""


@dataclass(frozen=True, slots=True)
class TierDecision:
    """The tier that a thing should be in now, why, and when the next change is due if nothing happens until then."""

    tier: Tier
    reason: Reason
    due: datetime.datetime | None = None
    """None where no time alone changes anything."""


def decide(thing: ThingFacts, policy: KVPolicy, now: datetime.datetime, *, is_pinned: bool = False) -> TierDecision:
    """Return the decision on one thing; `is_pinned` says that the policy pins it, see `pinned_by_policy`.

    Warm things become cold by eviction alone, which compares things: see `HighestScores`.
    """
    if thing.pinned:
        return TierDecision(Tier.HOT, Reason.PINNED_BY_PERSON)
    if thing.tier is Tier.HOT:
        return _decide_hot(thing, policy, now, is_pinned=is_pinned)
    if thing.tier is Tier.WARM:
        return TierDecision(Tier.WARM, Reason.WITHIN_SIZE)
    if thing.tier is Tier.COLD:
        due = thing.since + datetime.timedelta(days=FREEZE_AFTER_DAYS)
        return TierDecision(Tier.FROZEN, Reason.FREEZE) if now >= due else TierDecision(Tier.COLD, Reason.WAITING, due)
    return TierDecision(Tier.FROZEN, Reason.FROZEN)


def _decide_hot(thing: ThingFacts, policy: KVPolicy, now: datetime.datetime, *, is_pinned: bool) -> TierDecision:
    if is_pinned:
        return TierDecision(Tier.HOT, Reason.PINNED_BY_POLICY, _pinned_until(thing, policy.pin))
    due = thing.since + datetime.timedelta(hours=policy.compress.age_threshold_hours)
    if now <= due:
        return TierDecision(Tier.HOT, Reason.YOUNG, due)
    if thing.recent_uses >= policy.compress.access_threshold:
        return TierDecision(Tier.HOT, Reason.USED)
    return TierDecision(Tier.WARM, Reason.COMPRESS)


LOOK_AGAIN_AFTER = datetime.timedelta(days=1)
"""A thing is looked at again after this time where the time of the next change is not known."""


def next_look(decision: TierDecision, policy: KVPolicy, now: datetime.datetime) -> datetime.datetime:
    """Return when a thing for which this was decided is to be looked at again if nobody changes it until then.

    Uses are counted by UTC day, so the number that counts does not fall before the first of these days is left behind.
    """
    if decision.due is not None:
        return decision.due
    if decision.reason is not Reason.USED:
        return now + LOOK_AGAIN_AFTER
    hours = datetime.timedelta(hours=policy.compress.age_threshold_hours)
    following = (now - hours).date() + datetime.timedelta(days=1)
    return datetime.datetime.combine(following, datetime.time(), datetime.UTC) + hours


def could_be_pinned(thing: ThingFacts, policy: KVPolicy, now: datetime.datetime) -> bool:
    """Return whether the policy keeps the thing hot now if there is room for it, see `pinned_by_policy`."""
    return all(now < _pinned_until(thing, rule) and _matches(thing.label, rule) for rule in _pin_rules(thing, policy))


def _pin_rules(thing: ThingFacts, policy: KVPolicy) -> list[PinRule]:
    return [policy.pin, thing.requested.pin] if thing.requested else [policy.pin]


def pinned_by_policy(things: Iterable[ThingFacts], policy: KVPolicy, now: datetime.datetime) -> set[UUID]:
    """Return the ids of an owner's things of one content type that the policy keeps hot now.

    They match a pattern and became hot less than `ttl_hours` ago. The most used come first, while all together have at
    most `max_size_mb`; one that does not fit is passed over. Where a request narrows the policy, its pin holds as well.
    """
    free, pinned = dict[float, float](), set[UUID]()
    for thing in sorted(things, key=lambda one: (-one.all_uses, -one.since.timestamp(), one.id)):
        sizes = {rule.max_size_mb for rule in _pin_rules(thing, policy)}
        has_room = all(thing.size <= free.setdefault(size, size * MB) for size in sizes)
        if has_room and could_be_pinned(thing, policy, now):
            free |= {size: free[size] - thing.size for size in sizes}
            pinned.add(thing.id)
    return pinned


def _pinned_until(thing: ThingFacts, rule: PinRule) -> datetime.datetime:
    return thing.since + datetime.timedelta(hours=rule.ttl_hours)


def _matches(label: str, rule: PinRule) -> bool:
    """Return whether a pattern matches the whole label or, of a path, its last part."""
    name = PurePosixPath(label).name
    return bool(label) and any(fnmatchcase(label, one) or fnmatchcase(name, one) for one in rule.patterns)


def recency_of_use(last_used: datetime.date, today: datetime.date) -> float:
    """Return how recently a thing was used: 1 today, halved every 30 days."""
    return float(0.5 ** (max(0, (today - last_used).days) / USE_HALF_LIFE_DAYS))


def evict_score(thing: ThingFacts, rule: EvictRule, today: datetime.date) -> float:
    """Return the score by which things become cold, the highest first. What came into its tier lately counts as used,
    so that what is new or was brought back is not the first to go.
    """
    came = thing.since.date()
    unused = 1 - recency_of_use(max(came, thing.last_used or came), today)
    return rule.lru_weight * unused + rule.quality_weight * (1 - thing.quality)


Item = TypeVar("Item")


class HighestScores(Generic[Item]):
    """The things with the highest scores that have at least `excess` bytes together: as few as needed, at most `most`.

    Things are considered one by one, and none is held that is not among them.
    """

    def __init__(self, excess: float, today: datetime.date, most: int) -> None:
        self.excess, self.today, self.most = excess, today, most
        self.size = 0
        self._heap: list[tuple[float, float, int, int, Item]] = []  # the one that would be evicted last first

    def consider(self, thing: ThingFacts, rule: EvictRule, item: Item) -> None:
        """Take the thing in as `item`, unless a person pinned it, and let go of what is not needed any more."""
        if self.excess <= 0 or thing.pinned:
            return
        score = evict_score(thing, rule, self.today)
        heappush(self._heap, (score, -thing.since.timestamp(), -thing.id.int, thing.size, item))
        self.size += thing.size
        while len(self._heap) > self.most or self.size - self._heap[0][3] >= self.excess:
            self.size -= heappop(self._heap)[3]

    @property
    def is_full(self) -> bool:
        """Whether there may be more that have to be evicted than are held."""
        return len(self._heap) >= self.most and self.size < self.excess

    @property
    def items(self) -> list[Item]:
        """The things as they were taken in, the highest score first; of equal ones the longest in its tier."""
        return [item for *_, item in sorted(self._heap, key=lambda one: one[:3], reverse=True)]
