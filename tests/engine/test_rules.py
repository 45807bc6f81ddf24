"""Rules: when they fire, what they select, and who wins where they disagree."""

import datetime as dt
from typing import Any

import pytest

from assembly.engine.codes import Code
from assembly.engine.rule_effects import ALWAYS_INCLUDED, MAX_BOOST, path_matches, rule_effect
from assembly.engine.rules import Condition, Rule, TimeWindow, fired_rules
from assembly.engine.types import Candidate, EngineRequest
from tests.engine.factories import NOW, section
from tests.engine.rule_factories import boost, facts, rule, selector

# --- when ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "task", "holds"),
    [
        (("auth", "login"), "Fix the LOGIN page", True),
        (("auth", "login"), "Name the author", False),
        (("auth",), "OAuth, auth: done", True),
        (("auth",), "oauth_auth", False),
        (("sign in",), "please sign\n in now", True),
        (("straße",), "An der STRASSE", True),
        (("c++",), "written in C++, mostly", True),
        (("(.*)+$",), "x" * 5_000, False),
        (("auth",), "", False),
    ],
)
def test_a_task_contains_a_word_as_a_whole_whatever_its_case(words: tuple[str, ...], task: str, holds: bool) -> None:
    assert Condition(task_contains=words).holds(facts(task=task)) is holds


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (Condition(), True),
        (Condition(agent=("ada", "eve")), True),
        (Condition(agent=("eve",)), False),
        (Condition(team=("care",), profile=("coding",), intent=("fix",)), True),
        (Condition(team=("care",), intent=("explain",)), False),
        (Condition(all=(Condition(agent=("ada",)), Condition(team=("care",)))), True),
        (Condition(all=(Condition(agent=("ada",)), Condition(team=("far",)))), False),
        (Condition(any=(Condition(agent=("eve",)), Condition(team=("care",)))), True),
        (Condition(any=(Condition(agent=("eve",)), Condition(team=("far",)))), False),
        (Condition(never=Condition(agent=("eve",))), True),
        (Condition(never=Condition(agent=("ada",))), False),
        (Condition(agent=("ada",), never=Condition(any=(Condition(team=("far",)), Condition(team=("care",))))), False),
    ],
)
def test_a_condition_holds_where_all_its_parts_do(condition: Condition, holds: bool) -> None:
    assert condition.holds(facts(agent="ada", team="care", profile="coding", intent="fix")) is holds


@pytest.mark.parametrize(
    ("window", "holds"),
    [
        (TimeWindow(), True),
        (TimeWindow(first=dt.date(2026, 11, 20), last=dt.date(2026, 11, 20)), True),
        (TimeWindow(first=dt.date(2026, 11, 21)), False),
        (TimeWindow(last=dt.date(2026, 11, 19)), False),
        (TimeWindow(weekdays=("thu", "fri")), True),
        (TimeWindow(weekdays=("sat",)), False),
        (TimeWindow(opens=dt.time(16, 30), closes=dt.time(17)), True),
        (TimeWindow(opens=dt.time(9), closes=dt.time(16, 30)), False),
        (TimeWindow(opens=dt.time(22), closes=dt.time(6)), False),
        (TimeWindow(opens=dt.time(16), closes=dt.time(6)), True),
    ],
)
def test_a_time_is_within_by_the_clock_of_the_agent(window: TimeWindow, holds: bool) -> None:
    assert Condition(between=window).holds(facts()) is holds


def test_fired_rules_come_narrowest_first_then_by_name() -> None:
    given = [
        rule("b"),
        rule("c", "agent"),
        rule("a"),
        rule("d", "team"),
        rule("e", "agent", Condition(agent=("eve",))),
    ]
    assert [one.name for one in fired_rules(given, facts(agent="ada"))] == ["c", "d", "a", "b"]


def test_a_fired_rule_is_the_same_after_it_was_recorded() -> None:
    given = rule(
        always_include=selector("path", "a/**"), boost=boost("tag", "x", 2.5), exclude=selector("source", "turns")
    )
    assert Rule.from_dict(given.to_dict()) == given
    request = EngineRequest(10, "", "chars4", NOW, rules=(given,))
    assert EngineRequest.from_dict(request.to_dict()) == request


# --- what ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "pattern", "matches"),
    [
        ("docs/security-decisions.md", "docs/security-decisions.md", True),
        ("docs/security-decisions.md", "docs/*.md", True),
        ("docs/deep/a.md", "docs/*.md", False),
        ("docs/deep/a.md", "docs/**/*.md", True),
        ("docs/a.md", "docs/**/*.md", True),
        ("generated/a/b/c.py", "generated/**", True),
        ("src/generated/a.py", "generated/**", False),
        ("src/generated/a.py", "**/generated/**", True),
        ("a.md", "**", True),
        ("a.md", "?.md", True),
        ("a.MD", "*.md", False),
        ("pages/[id].tsx", "pages/[id].tsx", True),
        ("pages/i.tsx", "pages/[id].tsx", False),
        ("GOALS", "GOALS", True),
        ("a/x/b/x/c", "a/**/x/c", True),
        ("/".join("a" * 200), "/".join(["**", "a"] * 100) + "/b", False),
        ("a" * 500, "*a" * 200 + "b", False),
    ],
)
def test_a_glob_matches_a_whole_path(path: str, pattern: str, matches: bool) -> None:
    assert path_matches(path, pattern) is matches


ITEM = Candidate(
    "x:1@1",
    "s",
    "text",
    labels={
        "path": ("docs/a.md",),
        "kg_entity": ("authservice", "the gate"),
        "memory_kind": ("fact",),
        "tag": ("Ops",),
    },
)


@pytest.mark.parametrize(
    ("by", "value", "selected"),
    [
        ("path", "docs/*", True),
        ("path", "docs", False),
        ("kg_entity", "AuthService", True),
        ("kg_entity", "The  Gate", True),
        ("kg_entity", "Auth", False),
        ("memory_kind", "Fact", True),
        ("tag", "ops", True),
        ("source", "source", True),
        ("source", "turns", False),
    ],
)
def test_a_selector_finds_items_by_their_labels(by: Any, value: str, selected: bool) -> None:
    ruling = rule_effect(ITEM, section(), [rule(exclude=selector(by, value))])
    assert (ruling.code is Code.RULE_EXCLUDED) is selected


# --- who wins ------------------------------------------------------------------------------------------------------

OPS = selector("tag", "ops")


@pytest.mark.parametrize(
    ("including", "excluding", "is_in"),
    [
        ("agent", "team", True),
        ("agent", "everywhere", True),
        ("team", "everywhere", True),
        ("agent", "agent", False),
        ("team", "team", False),
        ("everywhere", "everywhere", False),
        ("team", "agent", False),
        ("everywhere", "agent", False),
        ("everywhere", "team", False),
    ],
)
def test_the_narrower_scope_wins_and_within_one_excluding_does(including: Any, excluding: Any, is_in: bool) -> None:
    rules = fired_rules([rule("in", including, always_include=OPS), rule("out", excluding, exclude=OPS)], facts())
    ruling = rule_effect(ITEM, ALWAYS_INCLUDED, rules)
    assert (ruling.code, ruling.detail) == (
        (None, {"rule": "in@1"}) if is_in else (Code.RULE_EXCLUDED, {"rule": "out@1"})
    )


def test_excluding_beats_boosting_and_what_is_required_is_beyond_both() -> None:
    rules = fired_rules([rule("up", "agent", boost=boost("tag", "ops", 9)), rule("out", exclude=OPS)], facts())
    assert rule_effect(ITEM, section(), rules).code is Code.RULE_EXCLUDED
    assert rule_effect(ITEM, section(required=True), rules).code is None


def test_boosts_multiply_up_to_a_limit() -> None:
    rules = [rule("a", boost=boost("tag", "ops", 2)), rule("b", boost=boost("path", "**", 1.5))]
    ruling = rule_effect(ITEM, section(), rules)
    assert (ruling.boost, ruling.detail) == (3.0, {"rule": "a@1, b@1"})
    assert (ruling.boosted(0.5), ruling.boosted(-0.5)) == (1.5, -0.5)
    assert (
        rule_effect(ITEM, section(), [rule(str(n), boost=boost("tag", "ops", 10)) for n in range(400)]).boost
        == MAX_BOOST
    )
