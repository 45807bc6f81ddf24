"""Each transition with the seed's numbers, by a clock of the test's own."""

import datetime
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from memories.lifecycle.kv_policy import (
    DEFAULT_POLICIES,
    GB,
    MB,
    InvalidPolicy,
    KVPolicy,
    content_type_of,
    narrow,
    parse_policy,
)
from memories.lifecycle.tier_decisions import (
    HighestScores,
    Reason,
    ThingFacts,
    decide,
    evict_score,
    next_look,
    pinned_by_policy,
    recency_of_use,
)
from memories.lifecycle.tiers import Tier

START = datetime.datetime(2026, 5, 1, 9, tzinfo=datetime.UTC)
TODAY = START.date()


def evictions(things: list[ThingFacts], policy: KVPolicy, limit_gb: float, most: int = 1_000) -> list[ThingFacts]:
    """What has to go, so that the things of one owner and type have at most this size."""
    excess = sum(one.size for one in things) - limit_gb * GB
    scores = HighestScores[ThingFacts](excess, TODAY, most)
    for one in things:
        scores.consider(one, policy.evict, one)
    return scores.items


def after(**interval: float) -> datetime.datetime:
    return START + datetime.timedelta(**interval)


def thing(number: int = 1, **facts: Any) -> ThingFacts:
    told: dict[str, Any] = {
        "kind": "document",
        "label": "notes",
        "tier": Tier.HOT,
        "since": START,
        "size": 1_000,
    } | facts
    return ThingFacts(id=UUID(int=number), **told)


def test_the_defaults_are_those_of_the_seed() -> None:
    assert {name: policy.as_json() for name, policy in DEFAULT_POLICIES.items()} == {
        "code_snippets": {
            "pin": {"patterns": ["*.js", "*.ts", "*.py"], "max_size_mb": 100, "ttl_hours": 24},
            "compress": {"age_threshold_hours": 6, "access_threshold": 3, "compression_ratio": 0.7},
            "evict": {"max_total_size_gb": 2, "lru_weight": 0.6, "quality_weight": 0.4},
        },
        "documentation": {
            "pin": {"patterns": ["README*", "*.md"], "max_size_mb": 50, "ttl_hours": 12},
            "compress": {"age_threshold_hours": 12, "access_threshold": 2, "compression_ratio": 0.8},
            "evict": {"max_total_size_gb": 1, "lru_weight": 0.4, "quality_weight": 0.6},
        },
        "research_papers": {
            "pin": {"patterns": ["*.pdf", "abstract*"], "max_size_mb": 200, "ttl_hours": 48},
            "compress": {"age_threshold_hours": 24, "access_threshold": 1, "compression_ratio": 0.9},
            "evict": {"max_total_size_gb": 5, "lru_weight": 0.2, "quality_weight": 0.8},
        },
        "general": {
            "pin": {"patterns": [], "max_size_mb": 50, "ttl_hours": 12},
            "compress": {"age_threshold_hours": 12, "access_threshold": 2, "compression_ratio": 0.8},
            "evict": {"max_total_size_gb": 1, "lru_weight": 0.4, "quality_weight": 0.6},
        },
    }


@pytest.mark.parametrize(
    ("kind", "label", "expected"),
    [
        ("document", "src/walk.py", "code_snippets"),
        ("event", "src/app.ts", "code_snippets"),
        ("document", "docs/guide.md", "documentation"),
        ("document", "README", "documentation"),
        ("document", "papers/tea.pdf", "research_papers"),
        ("document", "abstract-1.txt", "research_papers"),
        ("document", "data.bin", "general"),
        ("memory", "decision.md", "general"),
        ("event", "", "general"),
    ],
)
def test_the_content_type_is_told_by_the_path(kind: str, label: str, expected: str) -> None:
    assert content_type_of(kind, label) == expected


@pytest.mark.parametrize("name", list(DEFAULT_POLICIES))
def test_what_is_old_and_rarely_used_becomes_warm(name: str) -> None:
    policy = DEFAULT_POLICIES[name]
    hours, uses = policy.compress.age_threshold_hours, policy.compress.access_threshold
    young = decide(thing(), policy, after(hours=hours))
    assert (young.tier, young.reason, young.due) == (Tier.HOT, Reason.YOUNG, after(hours=hours))
    old = after(hours=hours, seconds=1)
    rarely = decide(thing(recent_uses=uses - 1), policy, old)
    assert (rarely.tier, rarely.reason) == (Tier.WARM, Reason.COMPRESS)
    often = decide(thing(recent_uses=uses), policy, old)
    assert (often.tier, often.reason) == (Tier.HOT, Reason.USED)


@pytest.mark.parametrize(
    ("name", "label"), [("code_snippets", "src/a.py"), ("documentation", "README.txt"), ("research_papers", "x.pdf")]
)
def test_a_pattern_pins_for_as_many_hours_as_the_seed_says(name: str, label: str) -> None:
    policy, one = DEFAULT_POLICIES[name], thing(label=label)
    hours = policy.pin.ttl_hours
    last = after(hours=hours, seconds=-1)
    assert pinned_by_policy([one], policy, last) == {one.id}
    kept = decide(one, policy, last, is_pinned=True)
    assert (kept.tier, kept.reason, kept.due) == (Tier.HOT, Reason.PINNED_BY_POLICY, after(hours=hours))
    assert pinned_by_policy([one], policy, after(hours=hours)) == set()
    assert decide(one, policy, after(hours=hours, seconds=1)).tier is Tier.WARM


def test_a_policy_pins_the_most_used_until_their_sizes_reach_the_limit() -> None:
    policy = DEFAULT_POLICIES["documentation"]
    things = [
        thing(1, label="a.md", size=30 * MB, all_uses=1),
        thing(2, label="b.md", size=30 * MB, all_uses=9),
        thing(3, label="c.md", size=20 * MB),
        thing(4, label="d.txt", size=1),
    ]
    assert pinned_by_policy(things, policy, START) == {UUID(int=2), UUID(int=3)}


def test_a_persons_pin_has_no_end() -> None:
    policy = DEFAULT_POLICIES["general"]
    assert decide(thing(pinned=True), policy, after(days=900)).reason is Reason.PINNED_BY_PERSON
    assert decide(thing(pinned=True, tier=Tier.WARM), policy, START).tier is Tier.HOT
    assert evictions([thing(pinned=True, size=2 * GB)], policy, policy.evict.max_total_size_gb) == []


def test_what_is_cold_is_frozen_after_90_days_without_use() -> None:
    policy, one = DEFAULT_POLICIES["general"], thing(tier=Tier.COLD)
    waiting = decide(one, policy, after(days=90, seconds=-1))
    assert (waiting.tier, waiting.reason, waiting.due) == (Tier.COLD, Reason.WAITING, after(days=90))
    assert decide(one, policy, after(days=90)).tier is Tier.FROZEN
    assert decide(thing(tier=Tier.FROZEN), policy, after(days=900)).tier is Tier.FROZEN


def test_a_warm_thing_stays_warm_while_there_is_room() -> None:
    assert decide(thing(tier=Tier.WARM), DEFAULT_POLICIES["general"], after(days=900)).reason is Reason.WITHIN_SIZE


def test_recency_of_use_halves_in_30_days() -> None:
    assert recency_of_use(TODAY, TODAY) == 1
    assert recency_of_use(TODAY - datetime.timedelta(days=30), TODAY) == pytest.approx(0.5)
    assert recency_of_use(TODAY - datetime.timedelta(days=3_000), TODAY) == pytest.approx(0)


@pytest.mark.parametrize(
    ("name", "unused", "poor"),
    [("code_snippets", 0.6, 0.4), ("documentation", 0.4, 0.6), ("research_papers", 0.2, 0.8), ("general", 0.4, 0.6)],
)
def test_the_evict_score_has_the_weights_of_the_seed(name: str, unused: float, poor: float) -> None:
    rule = DEFAULT_POLICIES[name].evict
    old = START - datetime.timedelta(days=3_000)
    assert evict_score(thing(quality=1, since=old), rule, TODAY) == pytest.approx(unused)
    assert evict_score(thing(quality=0, since=old, last_used=TODAY), rule, TODAY) == pytest.approx(poor)
    assert evict_score(thing(quality=0.25, since=old), rule, TODAY) == pytest.approx(unused + poor * 0.75)


def test_what_came_lately_is_not_the_first_to_go() -> None:
    rule = DEFAULT_POLICIES["general"].evict
    used = thing(1, since=START - datetime.timedelta(days=9), last_used=TODAY - datetime.timedelta(days=8))
    assert evict_score(thing(2), rule, TODAY) < evict_score(used, rule, TODAY)


@pytest.mark.parametrize(("name", "gigabytes"), [("code_snippets", 2), ("documentation", 1), ("research_papers", 5)])
def test_the_worst_become_cold_until_the_rest_has_room(name: str, gigabytes: int) -> None:
    policy, half = DEFAULT_POLICIES[name], GB // 2
    things = [thing(place, size=half, quality=place / 100, last_used=TODAY) for place in range(gigabytes * 2 + 2)]
    limit = policy.evict.max_total_size_gb
    assert [one.id.int for one in evictions(things, policy, limit)] == [0, 1]
    assert [one.id.int for one in evictions(things, policy, limit, most=1)] == [0], "no more are held in memory"
    assert evictions(things[2:], policy, limit) == []
    assert len(evictions(things, policy, 0.5)) == len(things) - 1


WIDE = parse_policy(
    {
        "pin": {"patterns": ["*"], "ttl_hours": 900, "max_size_mb": 900},
        "compress": {"age_threshold_hours": 900, "access_threshold": 0},
        "evict": {"max_total_size_gb": 900, "lru_weight": 0, "quality_weight": 0},
    },
    DEFAULT_POLICIES["documentation"],
)


@pytest.mark.parametrize("name", list(DEFAULT_POLICIES))
def test_a_request_never_widens(name: str) -> None:
    policy = DEFAULT_POLICIES[name]
    assert narrow(policy, replace(WIDE, compress=replace(WIDE.compress, compression_ratio=0.8))) == replace(
        policy, compress=replace(policy.compress, compression_ratio=0.8)
    )
    unmatched = thing(label="x.other", requested=WIDE)
    assert pinned_by_policy([unmatched], policy, START) == set()


def test_a_request_narrows_ages_and_sizes() -> None:
    asked = parse_policy({"compress": {"age_threshold_hours": 1, "access_threshold": 5}}, DEFAULT_POLICIES["general"])
    found = narrow(DEFAULT_POLICIES["general"], asked)
    assert (found.compress.age_threshold_hours, found.compress.access_threshold) == (1, 5)


def test_what_a_request_does_not_pin_is_not_pinned() -> None:
    policy = DEFAULT_POLICIES["documentation"]
    guides = parse_policy({"pin": {"patterns": ["guides/*"], "max_size_mb": 1, "ttl_hours": 1}}, policy)
    labels = ("guides/a.md", "guides/b.md", "other/a.md")
    things = [thing(n, label=label, size=MB // 2 + 1, requested=guides) for n, label in enumerate(labels)]
    assert len(pinned_by_policy(things, policy, START)) == 1
    assert pinned_by_policy(things, policy, after(hours=2)) == set()
    assert len(pinned_by_policy([replace(one, requested=None) for one in things], policy, after(hours=2))) == 3


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"pin": {"ttl_hours": -1}}, "pin.ttl_hours"),
        ({"pin": {"ttl_hours": float("nan")}}, "pin.ttl_hours"),
        ({"pin": {"ttl_hours": True}}, "pin.ttl_hours"),
        ({"pin": {"patterns": "*.md"}}, "pin.patterns"),
        ({"pin": {"patterns": [""]}}, "pin.patterns"),
        ({"pin": []}, "pin"),
        ({"compress": {"access_threshold": 1.5}}, "compress.access_threshold"),
        ({"evict": {"lru_weight": 2}}, "evict.lru_weight"),
        ({"evict": {"other": 2}}, "evict.other"),
        ({"other": {}}, "other"),
    ],
)
def test_an_impossible_policy_names_its_field(value: Any, field: str) -> None:
    with pytest.raises(InvalidPolicy) as refused:
        parse_policy(value, DEFAULT_POLICIES["general"])
    assert refused.value.field == field


def test_a_whole_policy_leaves_nothing_out() -> None:
    policy = DEFAULT_POLICIES["documentation"]
    assert parse_policy(policy.as_json()) == policy
    with pytest.raises(InvalidPolicy):
        parse_policy({"pin": {"patterns": []}})


def test_a_thing_is_looked_at_again_when_something_may_change() -> None:
    policy = DEFAULT_POLICIES["general"]
    young = decide(thing(), policy, after(hours=1))
    assert next_look(young, policy, after(hours=1)) == after(hours=12)
    now = after(hours=13)  # 22:00: the uses of that day count until noon of the next but one
    used = decide(thing(recent_uses=2), policy, now)
    assert next_look(used, policy, now) == datetime.datetime(2026, 5, 2, 12, tzinfo=datetime.UTC)
    assert decide(thing(pinned=True), policy, now).reason is Reason.PINNED_BY_PERSON
    assert next_look(decide(thing(pinned=True), policy, now), policy, now) == now + datetime.timedelta(days=1)
