"""Each kind of change, where it is what is wanted: by how much, and what it does to the others."""

import datetime as dt
from typing import Any

import pytest

from assembly.engine.codes import Code
from assembly.engine.linear_ranker import Ranker
from assembly.engine.profile import Profile, Section, Weights
from assembly.engine.rules import Actions, Boost, Condition, Rule, Selector
from assembly.engine.types import Candidate
from assembly.records.reader import EngineInput
from assembly.why_not.fix_search import Remedy
from assembly.why_not.sentences import remedy_sentence
from tests.assembly.why_not.engine_inputs import check, decision_of, found_for, inputs
from tests.engine.factories import NOW, candidate, profile_of, section

LINES = section(label="Memories", shape="lines", top_k=2)


def memories(*similarities: float, **facts: Any) -> list[Candidate]:
    return [
        candidate(f"memory:{number}@1", f"Number {number}", similarity=similarity, **facts)
        for number, similarity in enumerate(similarities)
    ]


def remedies(given: EngineInput, ref: str) -> dict[str, Remedy]:
    """The first of each kind, proved."""
    decision = decision_of(given, ref)
    found = found_for(given, decision)
    assert found.untried == ()
    check(given, decision, found)
    by_kind: dict[str, Remedy] = {}
    for remedy in found.found:
        assert remedy.is_least
        by_kind.setdefault(remedy.change.kind, remedy)
    return by_kind


def sentence(given: EngineInput, remedy: Remedy) -> str:
    return remedy_sentence(remedy, given, {})


def test_outranked_more_places_a_higher_score_a_boost_or_a_pin() -> None:
    given = inputs(profile_of(LINES), *memories(0.9, 0.6, 0.5, 0.4, kind="fact"))
    by_kind = remedies(given, "memory:3@1")
    assert {"top_k", "score", "pin"} <= by_kind.keys()
    assert (by_kind["top_k"].change.value, by_kind["score"].change.value) == (4, 0.2001)
    assert sentence(given, by_kind["top_k"]) == "It would be included if Memories had a limit of 4 items instead of 2."
    assert sentence(given, by_kind["score"]) == "It would be included with a score of 0.6001 instead of 0.4."
    assert [change.decision.ref for change in by_kind["pin"].comparison.pushed_out] == ["memory:1@1"]


def test_a_boost_is_for_as_little_else_as_can_be() -> None:
    one, two = memories(0.6, 0.5, labels={"memory_kind": ("fact",)})
    mine = candidate("memory:9@1", "Mine", similarity=0.4, labels={"memory_kind": ("fact",), "tag": ("blue",)})
    given = inputs(profile_of(LINES), one, two, mine)
    boost = remedies(given, "memory:9@1")["boost"]
    assert (boost.change.name, boost.change.value) == ("tag:blue", 1.3)
    assert sentence(given, boost) == "It would be included if a rule boosted the tag “blue” by 1.3."


def test_below_relevance_a_lower_threshold_or_a_higher_score() -> None:
    given = inputs(profile_of(section(label="Memories", shape="lines")), *memories(0.9, 0.15))
    by_kind = remedies(given, "memory:1@1")
    assert (by_kind["threshold"].change.value, by_kind["score"].change.value) == (0.15, 0.05)
    assert sentence(given, by_kind["threshold"]) == (
        "It would be included with a minimum similarity of 0.15 instead of .20."
    )


def test_a_ranker_reaches_further() -> None:
    ranker = Ranker("r", 1, (("length", 2.0),), least_words=0.9, reach=1.0)
    profile = Profile("test", 1, (section(label="Memories", shape="lines"),), ranker=ranker, similarity_threshold=2)
    near = candidate("memory:3@1", "Near", measures={"length": 3.0, "words": 1.0})
    far = candidate("memory:1@1", "Far", measures={"length": 1.0})
    by_kind = remedies(inputs(profile, near, far), "memory:1@1")
    assert (by_kind["score_distance"].change.value, by_kind["score"].change.value) == (4.0, 3.0)


def test_no_room_in_the_section_or_in_the_whole() -> None:
    days = [
        candidate(f"daily_log:{n}@1", "Rehearsed all day. " * 10, date=NOW.date() - dt.timedelta(days=n))
        for n in range(3)
    ]
    capped = inputs(profile_of(section(label="Days", shape="entries", cap=120, overflow="drop")), *days)
    by_kind = remedies(capped, "daily_log:2@1")
    needed = decision_of(capped, "daily_log:2@1").detail["needed"]
    assert by_kind["cap"].change.value == 120 + needed
    assert sentence(capped, by_kind["cap"]) == (
        f"It would have fitted with {needed} more tokens for Days (a cap of {120 + needed})."
    )
    small = inputs(profile_of(section(label="Days", shape="entries", overflow="drop")), *days, budget=120)
    by_kind = remedies(small, "daily_log:2@1")
    assert sentence(small, by_kind["budget"]) == (
        f"It would have fitted with {needed} more tokens (a budget of {120 + needed})."
    )
    assert "tokens shorter (its first" in sentence(small, by_kind["shorter"])


def test_a_share_of_the_budget_grows_with_it_or_gives_way_to_a_cap() -> None:
    days = [candidate(f"daily_log:{n}@1", "Rehearsed. " * 9, date=NOW.date() - dt.timedelta(days=n)) for n in range(3)]
    given = inputs(profile_of(section(label="Days", shape="entries", share=25)), *days, budget=240)
    by_kind = remedies(given, "daily_log:2@1")
    assert by_kind["budget"].change.value == 4 * by_kind["cap"].change.value


def test_a_text_that_is_left_out_may_come_in_part_or_whole() -> None:
    profile = profile_of(section("a", "Goals", "text"), section("b", "Knowledge", "text"))
    goals = candidate("team_file:1@1", "Sell all seats. " * 9, section="a")
    knowledge = candidate(
        "agent_file:1@1", "The stage is oak. " * 9, section="b", kind="KNOWLEDGE", labels={"path": ("KNOWLEDGE",)}
    )
    given = inputs(profile, goals, knowledge, budget=40)
    found = [one for one in found_for(given, decision_of(given, "agent_file:1@1")).found if one.change.kind == "budget"]
    assert [(one.after.code, one.whole) for one in found] == [(Code.TRUNCATED, False), (Code.FITS, True)]
    assert sentence(given, found[0]).startswith("Its beginning would be included with ")
    assert sentence(given, found[1]).startswith("It would be included in full with ")
    included = remedies(given, "agent_file:1@1")["always_include"]
    assert included.after.section == "always_included"
    assert sentence(given, included).endswith("if a rule always included “KNOWLEDGE”.")


def test_what_is_cut_is_whole_with_so_much_more() -> None:
    text = candidate("team_file:1@1", "Sell all seats. " * 9)
    given = inputs(profile_of(section(label="Goals", cap=20)), text)
    by_kind = remedies(given, "team_file:1@1")
    assert all(one.whole and one.after.code is Code.FITS for one in by_kind.values())
    assert by_kind.keys() == {"cap", "shorter"}


def rule(name: str, then: Actions, scope: Any = "team") -> Rule:
    return Rule(name, 1, scope, Condition(), then)


def test_without_all_the_rules_that_exclude_it() -> None:
    exclude = Actions(exclude=(Selector("tag", "blue"),))
    rules = (rule("quiet", exclude, "agent"), rule("still", exclude))
    given = inputs(profile_of(LINES), candidate("memory:1@1", "Hello", labels={"tag": ("blue",)}), rules=rules)
    without = remedies(given, "memory:1@1")["without_rule"]
    assert without.change.value == 2
    assert sentence(given, without) == "It would be included if the rules “quiet”, “still” did not exclude it."


@pytest.mark.parametrize(
    ("facts", "wishes", "kind", "said"),
    [
        ({"superseded_by": "memory:2"}, {}, "not_superseded", "if it were not superseded"),
        ({"retired": "It was moved"}, {}, "not_archived", "if it were not archived"),
        ({}, {"exclude": ("1",)}, "without_exclusion", "if the request did not exclude it"),
        ({"text": " "}, {}, "text", "if it had a text"),
    ],
)
def test_past_what_gives_it_no_chance(facts: dict[str, Any], wishes: dict[str, Any], kind: str, said: str) -> None:
    one = candidate("memory:1@1", facts.pop("text", "Hello"), **facts)
    given = inputs(profile_of(LINES), one, **wishes)
    remedy = remedies(given, "memory:1@1")[kind]
    assert sentence(given, remedy) == f"It would be included {said}."


BLOCKS = (
    Section("a", "Events", "L6", "recent_events", "blocks"),
    Section("b", "Passages", "L6", "semantic_content", "blocks"),
)


def test_blocks_compete_by_score_and_what_says_the_same_makes_room() -> None:
    profile = Profile("test", 1, BLOCKS, weights=Weights(relevance=1, recency=0, credibility=0, coherence=0))
    said = "The harbour walk opens in March. " * 4
    one = Candidate("event:1@1", "a", said, measures={"relevance": 0.9})
    same = Candidate("chunk:1@1#0", "b", said, measures={"relevance": 0.5})
    other = Candidate("chunk:1@1#1", "b", "Who keeps the lighthouse keys? " * 4, measures={"relevance": 0.3})
    given = inputs(profile, one, same, other, budget=60)
    without = remedies(given, "chunk:1@1#0")["without_duplicate"]
    assert remedy_sentence(without, given, {"event:1@1": "“The walk”"}) == (
        "It would be included if “The walk” did not have the same text."
    )
    found = found_for(given, decision_of(given, "chunk:1@1#1"))
    check(given, decision_of(given, "chunk:1@1#1"), found)
    part, whole = (one for one in found.found if one.change.kind == "score")
    assert [one.after.code for one in (part, whole)] == [Code.TRUNCATED, Code.FITS]
    # Of equals, the lower ref comes first: a score that is the same as that of the event is enough.
    assert [one.after.score for one in (part, whole)] == [pytest.approx(0.5001), pytest.approx(0.9)]


def test_within_their_section_blocks_compete_by_their_sources_score() -> None:
    profile = Profile("test", 1, (Section("a", "Events", "L6", "recent_events", "blocks", cap=30),))
    events = [Candidate(f"event:{n}@1", "a", f"Opened the door {n}. " * 4, score=n / 10) for n in (5, 3)]
    by_kind = remedies(inputs(profile, *events), "event:3@1")
    assert by_kind["source_score"].change.value == 0.2  # of equals, the lower ref comes first


def test_two_things_at_once_where_one_is_not_enough() -> None:
    retired = candidate("memory:9@1", "Hello there", similarity=0.1, retired="It was moved")
    given = inputs(profile_of(LINES), *memories(0.9, 0.8), retired)
    decision = decision_of(given, "memory:9@1")
    found = found_for(given, decision)
    check(given, decision, found)
    assert {tuple(change.kind for change in one.changes) for one in found.found} >= {("not_archived", "pin")}
    assert "if it were not archived and if it were pinned" in {
        remedy_sentence(one, given, {}).removeprefix("It would be included ").removesuffix(".") for one in found.found
    }


def test_a_boost_that_a_rule_gives_already_counts_on() -> None:
    half = rule("less", Actions(boost=(Boost(Selector("tag", "blue"), 0.5),)))
    mine = candidate("memory:9@1", "Mine", similarity=0.8, labels={"tag": ("blue",)})
    given = inputs(profile_of(LINES), *memories(0.6, 0.5), mine, rules=(half,))
    by_kind = remedies(given, "memory:9@1")
    assert by_kind["score"].change.value == 0.2001
    assert by_kind["boost"].change.value == 1.3


def test_room_of_both_kinds_where_neither_is_enough() -> None:
    text = candidate("team_file:1@1", "Sell all seats. " * 90)
    given = inputs(profile_of(section(label="Goals", cap=200)), text, budget=100)
    found = found_for(given, decision_of(given, "team_file:1@1"))
    check(given, decision_of(given, "team_file:1@1"), found)
    (both,) = (one for one in found.found if len(one.changes) > 1)
    assert [change.kind for change in both.changes] == ["budget", "cap"]
    assert both.is_least
    assert both.comparison.tokens_after == both.changes[0].value
