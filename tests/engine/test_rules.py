"""Rules: when they fire, what they select, who wins where they disagree, and what they do to a context."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from assembly.engine.codes import Code, WarningCode
from assembly.engine.globs import path_matches
from assembly.engine.pipeline import assemble
from assembly.engine.profile import Profile, Section, Weights
from assembly.engine.reasons import sentence, warning_sentence
from assembly.engine.rules import Actions, Boost, Condition, Facts, Rule, Scope, Selector, Window, fired
from assembly.engine.ruling import ALWAYS_INCLUDED, MAX_BOOST, effect
from assembly.engine.types import Assembled, Candidate, Request
from config.tokens import get_tokenizer
from tests.engine.cast import NOW, codes, decision_on, section

FRIDAY = dt.datetime(2026, 11, 20, 16, 30, tzinfo=ZoneInfo("Europe/Berlin"))


def facts(**given: Any) -> Facts:
    return Facts(**{"at": FRIDAY, **given})


def rule(name: str = "r", scope: Scope = "everywhere", when: Condition | None = None, **then: Any) -> Rule:
    return Rule(name, 1, scope, when or Condition(), Actions(**then))


def selector(by: Any, value: str) -> tuple[Selector, ...]:
    return (Selector(by, value),)


def boost(by: Any, value: str, weight: float) -> tuple[Boost, ...]:
    return (Boost(Selector(by, value), weight),)


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
        (Window(), True),
        (Window(first=dt.date(2026, 11, 20), last=dt.date(2026, 11, 20)), True),
        (Window(first=dt.date(2026, 11, 21)), False),
        (Window(last=dt.date(2026, 11, 19)), False),
        (Window(weekdays=("thu", "fri")), True),
        (Window(weekdays=("sat",)), False),
        (Window(opens=dt.time(16, 30), closes=dt.time(17)), True),
        (Window(opens=dt.time(9), closes=dt.time(16, 30)), False),
        (Window(opens=dt.time(22), closes=dt.time(6)), False),
        (Window(opens=dt.time(16), closes=dt.time(6)), True),
    ],
)
def test_a_time_is_within_by_the_clock_of_the_agent(window: Window, holds: bool) -> None:
    assert Condition(between=window).holds(facts()) is holds


def test_fired_rules_come_narrowest_first_then_by_name() -> None:
    given = [
        rule("b"),
        rule("c", "agent"),
        rule("a"),
        rule("d", "team"),
        rule("e", "agent", Condition(agent=("eve",))),
    ]
    assert [one.name for one in fired(given, facts(agent="ada"))] == ["c", "d", "a", "b"]


def test_a_fired_rule_is_the_same_after_it_was_recorded() -> None:
    given = rule(
        always_include=selector("path", "a/**"), boost=boost("tag", "x", 2.5), exclude=selector("source", "turns")
    )
    assert Rule.from_dict(given.to_dict()) == given
    request = Request(10, "", "chars4", NOW, rules=(given,))
    assert Request.from_dict(request.to_dict()) == request


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
    ruling = effect(ITEM, section(), [rule(exclude=selector(by, value))])
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
    rules = fired([rule("in", including, always_include=OPS), rule("out", excluding, exclude=OPS)], facts())
    ruling = effect(ITEM, ALWAYS_INCLUDED, rules)
    assert (ruling.code, ruling.detail) == (
        (None, {"rule": "in@1"}) if is_in else (Code.RULE_EXCLUDED, {"rule": "out@1"})
    )


def test_excluding_beats_boosting_and_what_is_required_is_beyond_both() -> None:
    rules = fired([rule("up", "agent", boost=boost("tag", "ops", 9)), rule("out", exclude=OPS)], facts())
    assert effect(ITEM, section(), rules).code is Code.RULE_EXCLUDED
    assert effect(ITEM, section(required=True), rules).code is None


def test_boosts_multiply_up_to_a_limit() -> None:
    rules = [rule("a", boost=boost("tag", "ops", 2)), rule("b", boost=boost("path", "**", 1.5))]
    ruling = effect(ITEM, section(), rules)
    assert (ruling.boost, ruling.detail) == (3.0, {"rule": "a@1, b@1"})
    assert (ruling.boosted(0.5), ruling.boosted(-0.5)) == (1.5, -0.5)
    assert effect(ITEM, section(), [rule(str(n), boost=boost("tag", "ops", 10)) for n in range(400)]).boost == MAX_BOOST


# --- in a context --------------------------------------------------------------------------------------------------

BLOCKS = section("log", "Log", "blocks")
LINES = section("notes", "Notes", "lines", top_k=1)
IDENTITY = Section("identity", "Identity", "L1", "agent_files", "text", required=True)
PROFILE = Profile("p", 1, (IDENTITY, ALWAYS_INCLUDED, LINES, BLOCKS), weights=Weights(0, 1, 0, 0, 0))


def item(ref: str, text: str, of: str, tag: str = "", **fields: Any) -> Candidate:
    return Candidate(ref, of, text, labels={"tag": (tag,)} if tag else {}, **fields)


def ruled(rules: list[Rule], *candidates: Candidate, budget: int = 1_000) -> Assembled:
    request = Request(budget, "", "chars4", NOW, rules=fired(rules, facts()))
    return assemble(request, PROFILE, candidates, get_tokenizer("chars4"))


def test_a_boost_lifts_a_block_above_a_better_one() -> None:
    better = item("a:1@1", "Better", "log", measures={"relevance": 0.6})
    worse = item("b:1@1", "Worse", "log", "ops", measures={"relevance": 0.4})
    up = rule("up", boost=boost("tag", "ops", 2))
    assert ruled([], better, worse).content == "## Log\n\nBetter\n\nWorse"
    assembled = ruled([up], better, worse)
    assert assembled.content == "## Log\n\nWorse\n\nBetter"
    lifted = decision_on(assembled, "b:1@1")
    assert lifted.score == pytest.approx(0.8)
    assert (dict(lifted.signals)["boost"], lifted.detail["rule"]) == (2.0, "up@1")
    assert "rule" not in decision_on(assembled, "a:1@1").detail


def test_a_boost_changes_which_line_comes_first() -> None:
    near = item("a:1@1", "Near", "notes", similarity=0.6)
    nearer = item("b:1@1", "Boosted", "notes", "ops", similarity=0.4)
    assembled = ruled([rule(boost=boost("tag", "ops", 2))], near, nearer)
    assert codes(assembled) == {"b:1@1": "fits", "a:1@1": "outranked"}


def test_an_excluded_item_makes_room_and_names_its_rule() -> None:
    assembled = ruled(
        [rule("quiet", exclude=selector("tag", "ops"))],
        item("a:1@1", "Noise", "notes", "ops", similarity=0.9),
        item("b:1@1", "Signal", "notes", similarity=0.5),
    )
    assert codes(assembled) == {"b:1@1": "fits", "a:1@1": "rule_excluded"}
    left_out = decision_on(assembled, "a:1@1")
    assert left_out.detail == {"rule": "quiet@1"}
    assert sentence(left_out, "Notes") == "Left out, because the rule “quiet” says so."


ALWAYS = rule("promise", always_include=selector("tag", "ops"))


def test_what_is_always_included_stands_right_after_what_is_required() -> None:
    assembled = ruled(
        [ALWAYS],
        item("i:1@1", "I am.", "identity"),
        item("d:1@1", "Lock the door.", "always_included", "ops", position=0),
        item("n:1@1", "A note", "notes"),
    )
    assert assembled.content == "## Identity\nI am.\n\n## Always Included\n\nLock the door.\n\n## Notes\n- A note"
    decision = decision_on(assembled, "d:1@1")
    assert (decision.code, decision.detail) == (Code.RULE_INCLUDED, {"rule": "promise@1"})
    assert sentence(decision, "") == "In, because the rule “promise” says so."
    assert assembled.warnings == ()


def test_what_a_rule_includes_is_not_said_twice() -> None:
    assembled = ruled(
        [ALWAYS],
        item("i:1@1", "I am.", "identity", "ops"),
        item("i:1@1", "I am.", "always_included", "ops", position=0),
        item("m:1@1", "A fact", "always_included", "ops", position=1),
        item("m:1@1", "A fact", "notes", "ops"),
        item("document:1@3", "Whole.", "always_included", "ops", position=2),
        item("chunk:1@3#0", "Whole.", "log", "ops"),
        item("chunk:1@2#0", "Older.", "log"),
    )
    fates = {(decision.section, decision.ref): decision.code.value for decision in assembled.decisions}
    assert fates["always_included", "i:1@1"] == fates["notes", "m:1@1"] == fates["log", "chunk:1@3#0"] == "duplicate"
    assert fates["always_included", "m:1@1"] == fates["always_included", "document:1@3"] == "rule_included"
    assert fates["identity", "i:1@1"] == "required"
    assert fates["log", "chunk:1@2#0"] == "fits"


def test_what_is_always_included_is_cut_where_it_has_to_be_and_keeps_the_name_of_its_rule() -> None:
    assembled = ruled([ALWAYS], item("d:1@1", "word " * 100, "always_included", "ops", position=0), budget=40)
    decision = decision_on(assembled, "d:1@1")
    assert (decision.code, decision.detail["rule"]) == (Code.TRUNCATED, "promise@1")
    assert assembled.tokens <= 40
    assert assembled.warnings == ()


def test_a_promise_that_has_no_room_at_all_is_broken_loudly() -> None:
    assembled = ruled([ALWAYS], item("d:1@1", "word " * 100, "always_included", "ops", position=0), budget=3)
    assert codes(assembled) == {"d:1@1": "over_total_budget"}
    assert assembled.warnings == (WarningCode.RULE_NOT_KEPT,)
    assert "no room" in warning_sentence(WarningCode.RULE_NOT_KEPT)


def test_a_promise_beside_what_is_required_and_too_large_is_broken_as_well() -> None:
    identity = item("i:1@1", "I am. " * 50, "identity")
    assembled = ruled([ALWAYS], identity, item("d:1@1", "Lock.", "always_included", "ops", position=0), budget=20)
    assert assembled.warnings == (WarningCode.BUDGET_EXCEEDED, WarningCode.RULE_NOT_KEPT)
    assert assembled.content == "## Identity\n" + ("I am. " * 50).rstrip()


def test_a_promise_that_the_request_or_a_narrower_rule_takes_back_is_not_broken() -> None:
    door = item("d:1@1", "Lock.", "always_included", "ops", position=0)
    assembled = ruled([ALWAYS, rule("no", "agent", exclude=selector("tag", "ops"))], door)
    assert (codes(assembled), assembled.warnings) == ({"d:1@1": "rule_excluded"}, ())
    request = Request(100, "", "chars4", NOW, exclude=("d:1",), rules=(ALWAYS,))
    filtered = assemble(request, PROFILE, [door], get_tokenizer("chars4"))
    assert (codes(filtered), filtered.warnings) == ({"d:1@1": "filtered"}, ())


def test_an_appended_event_never_takes_the_place_of_what_is_always_included() -> None:
    latest = Section("latest", "Latest", "L6", "recent_events", "sequence")
    profile = Profile("p", 1, (latest, ALWAYS_INCLUDED, BLOCKS))
    given = [
        item("event:1", "It happened just now.", "latest", position=0),
        item("d:1@1", "Lock the door.", "always_included", "ops", position=0),
        item("a:1@1", "Worth little", "log", measures={"relevance": 0.9}),
    ]
    request = Request(20, "", "chars4", NOW, appended="event:1", rules=(ALWAYS,))
    assembled = assemble(request, profile, given, get_tokenizer("chars4"))
    assert codes(assembled)["d:1@1"] == "rule_included"
    assert codes(assembled)["a:1@1"] == "over_total_budget"
