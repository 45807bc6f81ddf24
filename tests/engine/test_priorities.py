"""Lines, entries, sequences and turns have a priority by the profile's weights, and keep an order of their own."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from assembly.engine.codes import Code
from assembly.engine.linear_ranker import Ranker
from assembly.engine.profile import Profile, Section, Weights
from assembly.engine.reconciliation import Reconciliation
from assembly.engine.rules import Actions, Boost, Condition, Rule, Selector
from assembly.engine.types import Candidate, EngineResult
from tests.engine.factories import NOW, candidate, decision_on, profile_of, run, section

DAY = dt.timedelta(days=1)
LINES = Section("lines", "Knowledge", "L5", "agent_memories", "lines")
LOGS = Section("logs", "Daily Logs", "L4", "daily_logs", "entries")
TURNS = Section("turns", "Turns", "L6", "turns", "turns")
EVENTS = Section("events", "Events", "L6", "recent_events", "blocks")
NO_COHERENCE = Weights(relevance=0.4, recency=0.2, credibility=0.2, salience=0.2, coherence=0)


def weighing(*sections: Section, weights: Weights = NO_COHERENCE, **options: Any) -> Profile:
    return replace(profile_of(*sections), weights=weights, **options)


def line(ref: str, **facts: Any) -> Candidate:
    return candidate(ref, facts.pop("text", f"Text of {ref}."), section="lines", **{"occurred_at": NOW} | facts)


def signals(found: EngineResult, ref: str) -> dict[str, float]:
    return dict(decision_on(found, ref).signals)


def test_a_line_is_weighed_by_its_similarity_and_what_is_stored_of_it() -> None:
    found = run(weighing(LINES), line("a", similarity=0.6, measures={"salience": 0.9, "credibility": 0.7}))
    assert signals(found, "a") == {
        "similarity": 0.6,
        "priority:relevance": 0.6,
        "priority:recency": 1.0,
        "priority:salience": 0.9,
        "priority:credibility": 0.7,
        "priority": pytest.approx(0.4 * 0.6 + 0.2 * 1.0 + 0.2 * 0.9 + 0.2 * 0.7),
    }


def test_the_relevance_of_a_ranked_line_is_its_score_without_what_the_profile_weighs() -> None:
    ranker = Ranker("test", 1, (("salience", 5.0), ("words", 20.0)), least_words=0.1, reach=3.0)
    found = run(weighing(LINES, ranker=ranker), line("a", measures={"words": 0.5, "salience": 0.4}), topic="tea")
    assert signals(found, "a")["priority:relevance"] == 0.5  # 20 x .5 = 10, which maps to one half
    assert signals(found, "a")["priority:salience"] == 0.4


def test_a_measure_that_an_item_does_not_have_is_not_counted_against_it() -> None:
    log = candidate("log", "What happened.", section="logs", date=NOW.date() - DAY)
    known = signals(run(weighing(LOGS), log), "log")
    recency = pytest.approx(0.6065, abs=1e-4)  # half a day after its end: exp(-12 / 24)
    assert known == {
        "priority:recency": recency,
        "priority:salience": 0.5,
        "priority:credibility": 0.5,
        "priority": pytest.approx((0.2 * 0.6065 + 0.2 * 0.5 + 0.2 * 0.5) / 0.6, abs=1e-4),
    }


def test_coherence_is_measured_with_the_topic_and_with_what_is_included_before() -> None:
    weights = Weights(relevance=0, recency=0, credibility=0, coherence=1)
    goals = section("goals", "Goals")
    late = replace(LINES, key="late")
    found = run(
        weighing(goals, LINES, late, weights=weights),
        candidate("goals", "Harbour walks", section="goals"),
        line("first", text="harbour lantern"),
        candidate("second", "lantern whale", section="late", occurred_at=NOW),
        topic="whale",
    )
    assert signals(found, "first")["priority:coherence"] == 0.5  # harbour, of the goals
    assert signals(found, "second")["priority"] == 1.0  # lantern, of the line before, and whale, of the topic


def test_only_the_part_of_a_cut_text_that_is_included_surrounds_what_follows() -> None:
    weights = Weights(relevance=0, recency=0, credibility=0, coherence=1)
    goals = section("goals", "Goals", cap=20)
    found = run(
        weighing(goals, LINES, weights=weights),
        candidate("goals", "harbour " + "walks " * 50 + "lantern", section="goals"),
        line("a", text="harbour lantern"),
    )
    assert decision_on(found, "goals").code is Code.TRUNCATED
    assert signals(found, "a")["priority"] == 0.5


def test_the_order_of_lines_and_turns_is_not_that_of_their_priorities() -> None:
    best_trusted = line("trusted", similarity=0.5, measures={"credibility": 1.0, "salience": 1.0})
    nearest = line("near", similarity=0.55)
    found = run(weighing(LINES), best_trusted, nearest, topic="tea")
    assert [one.ref for one in found.decisions] == ["near", "trusted"]
    assert signals(found, "trusted")["priority"] > signals(found, "near")["priority"]
    said = [candidate(f"turn{n}", f"Turn {n}", section="turns", kind="user", position=n) for n in range(3)]
    spoken = run(weighing(TURNS), *said)
    assert [one.ref for one in spoken.decisions] == ["turn2", "turn1", "turn0"]
    assert all("priority" in dict(one.signals) for one in spoken.decisions)


def test_scopes_have_their_half_life_and_credibility_in_every_shape() -> None:
    profile = weighing(LINES, LOGS, half_life={"experience": 2}, credibility={"experience": 0.8})
    log = candidate("log", "What happened.", section="logs", date=NOW.date() - 2 * DAY)
    found = run(profile, line("a", occurred_at=NOW - 2 * DAY, measures={"credibility": 0.6}), log)
    assert signals(found, "a")["priority:recency"] == 0.5
    assert signals(found, "a")["priority:credibility"] == 0.9
    assert signals(found, "log")["priority:recency"] == pytest.approx(0.5**0.75, abs=1e-4)  # 1.5 days after its end


def test_a_rule_multiplies_the_priority() -> None:
    boost = Rule("tea", 1, "agent", Condition(), Actions(boost=(Boost(Selector("source", "agent_memories"), 1.5),)))
    plain, boosted = (run(weighing(LINES), line("a", similarity=0.4), rules=rules) for rules in ((), (boost,)))
    assert signals(boosted, "a")["priority"] == pytest.approx(1.5 * signals(plain, "a")["priority"], abs=1e-4)


def test_what_finds_no_room_has_a_priority_and_what_meets_no_others_has_none() -> None:
    lines = [line(ref, similarity=0.5, text="whale " * 40) for ref in "abcd"]
    found = run(weighing(replace(LINES, top_k=3, cap=70)), *lines, exclude=("d",))
    told = {one.ref: (one.code, "priority" in dict(one.signals)) for one in found.decisions}
    assert told == {
        "a": (Code.FITS, True),
        "b": (Code.OVER_SECTION_BUDGET, True),
        "c": (Code.OVER_SECTION_BUDGET, True),
        "d": (Code.FILTERED, False),
    }
    assert "priority" not in signals(run(weighing(replace(LINES, top_k=1)), *lines[:2]), "b")


def test_without_any_weight_the_priority_is_0() -> None:
    found = run(weighing(LINES, weights=Weights(0, 0, 0, 0, 0)), line("a", similarity=0.9))
    assert signals(found, "a") == {"similarity": 0.9, "priority": 0.0}


def test_whole_files_and_blocks_have_no_second_priority() -> None:
    event = candidate("event", "Somebody came.", section="events", score=0.5, measures={"recency": 1.0})
    found = run(weighing(section("goals", "Goals"), EVENTS), candidate("goals", "Walks", section="goals"), event)
    assert not any(name.startswith("priority") for one in found.decisions for name, _ in one.signals)


@pytest.mark.parametrize(("trust", "stays"), [(1.0, "line"), (0.1, "event")])
def test_of_two_texts_that_say_the_same_the_one_of_higher_priority_stays_whatever_their_shapes(
    trust: float, stays: str
) -> None:
    told = line("line", text="The line opens at 8.", similarity=0.5, measures={"credibility": trust})
    event = candidate(
        "event", "At 8 the line opens.", section="events", score=0.5, occurred_at=NOW,
        measures={"relevance": 0.5, "recency": 1.0, "salience": 0.5, "credibility": 0.5},
    )  # fmt: skip
    same = Reconciliation(id="one", left="line", right="event", kind="duplicate", severity=0.0, similarity=0.99)
    found = run(weighing(LINES, EVENTS, conflicts="mark"), told, event, reconciliations=(same,))
    assert [one.ref for one in found.decisions if one.included] == [stays]


def test_engine_version_7_knows_no_priority_of_lines() -> None:
    found = run(weighing(LINES), line("a", similarity=0.6), engine_version=7)
    assert signals(found, "a") == {"similarity": 0.6}
