"""What rules do to a context: they lift, leave out and always include, and say so."""

from typing import Any

import pytest

from assembly.engine.assemble import assemble
from assembly.engine.codes import Code, WarningCode
from assembly.engine.profile import Profile, Section, Weights
from assembly.engine.reasons import decision_sentence, warning_sentence
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.engine.rules import Rule, fired_rules
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate, EngineRequest, EngineResult
from tests.engine.factories import NOW, codes, decision_on, section
from tests.engine.rule_factories import boost, facts, rule, selector

BLOCKS = section("log", "Log", "blocks")
LINES = section("notes", "Notes", "lines", top_k=1)
IDENTITY = Section("identity", "Identity", "L1", "agent_files", "text", required=True)
PROFILE = Profile("p", 1, (IDENTITY, ALWAYS_INCLUDED, LINES, BLOCKS), weights=Weights(0, 1, 0, 0, 0))


def item(ref: str, text: str, of: str, tag: str = "", **fields: Any) -> Candidate:
    return Candidate(ref, of, text, labels={"tag": (tag,)} if tag else {}, **fields)


def ruled(rules: list[Rule], *candidates: Candidate, budget: int = 1_000) -> EngineResult:
    request = EngineRequest(budget, "", "chars4", NOW, rules=fired_rules(rules, facts()))
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
    assert decision_sentence(left_out, "Notes") == "Excluded by the rule “quiet”."


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
    assert decision_sentence(decision, "") == "Included by the rule “promise”."
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
    assert "did not fit" in warning_sentence(WarningCode.RULE_NOT_KEPT)


def test_a_promise_beside_what_is_required_and_too_large_is_broken_as_well() -> None:
    identity = item("i:1@1", "I am. " * 50, "identity")
    assembled = ruled([ALWAYS], identity, item("d:1@1", "Lock.", "always_included", "ops", position=0), budget=20)
    assert assembled.warnings == (WarningCode.BUDGET_EXCEEDED, WarningCode.RULE_NOT_KEPT)
    assert assembled.content == "## Identity\n" + ("I am. " * 50).rstrip()


def test_a_promise_that_the_request_or_a_narrower_rule_takes_back_is_not_broken() -> None:
    door = item("d:1@1", "Lock.", "always_included", "ops", position=0)
    assembled = ruled([ALWAYS, rule("no", "agent", exclude=selector("tag", "ops"))], door)
    assert (codes(assembled), assembled.warnings) == ({"d:1@1": "rule_excluded"}, ())
    request = EngineRequest(100, "", "chars4", NOW, exclude=("d:1",), rules=(ALWAYS,))
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
    request = EngineRequest(20, "", "chars4", NOW, appended="event:1", rules=(ALWAYS,))
    assembled = assemble(request, profile, given, get_tokenizer("chars4"))
    assert codes(assembled)["d:1@1"] == "rule_included"
    assert codes(assembled)["a:1@1"] == "over_total_budget"
