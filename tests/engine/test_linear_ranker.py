"""Ranking by a linear model: every share of a score is on record, and the score is their sum."""

import json
import math
from dataclasses import replace
from itertools import permutations

import pytest

from assembly.engine.assemble import assemble
from assembly.engine.linear_ranker import Ranker, relevance_of
from assembly.engine.priority import PRIORITY
from assembly.engine.profile import Profile
from assembly.engine.ranking import decision_relevance
from assembly.engine.rules import Actions, Boost, Condition, Rule, Selector
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate, Decision, EngineRequest, EngineResult, InvalidAssembly
from tests.engine.factories import NOW, candidate, codes, decision_on, profile_of, section

RANKER = Ranker("test", 3, (("asks", -1.0), ("similarity", 4.0), ("words", 5.0)), least_words=0.3, reach=3.0)


def memory(ref: str, similarity: float | None = None, **measures: float) -> Candidate:
    known = {} if similarity is None else {"similarity": similarity}
    return candidate(ref, f"text of {ref}", similarity=similarity, measures=known | measures, occurred_at=NOW)


def profile(ranker: Ranker | None = RANKER, top_k: int | None = None) -> Profile:
    plain = profile_of(section(shape="lines", top_k=top_k))
    return Profile("test", 1, plain.sections, similarity_threshold=0.2, ranker=ranker)


def run(*memories: Candidate, ranker: Ranker | None = RANKER, rules: tuple[Rule, ...] = ()) -> EngineResult:
    request = EngineRequest(16_000, "tea", "chars4", NOW, rules=rules)
    return assemble(request, profile(ranker), memories, get_tokenizer("chars4"))


def of_the_score(decision: Decision) -> dict[str, float]:
    """The signals without those of the priority."""
    return {name: value for name, value in decision.signals if not name.startswith(PRIORITY)}


def test_the_score_is_the_sum_of_the_shares_and_all_are_on_record() -> None:
    decision = decision_on(run(memory("a", 0.5, words=0.4, asks=1.0, length=0.7)), "a")
    assert of_the_score(decision) == {
        "similarity": 0.5,
        "words": 0.4,
        "asks": 1.0,
        "share:asks": -1.0,
        "share:similarity": 2.0,
        "share:words": 2.0,
    }
    assert decision.score == 3.0


def test_words_may_put_something_before_what_is_nearer_in_meaning() -> None:
    assert list(codes(run(memory("near", 0.5), memory("worded", 0.3, words=0.8)))) == ["worded", "near"]


def test_without_a_ranker_it_is_similarity_that_ranks() -> None:
    found = run(memory("near", 0.5), memory("worded", 0.3, words=0.8), ranker=None)
    assert list(codes(found)) == ["near", "worded"]
    assert of_the_score(decision_on(found, "worded")) == {"similarity": 0.3}


def test_what_is_far_behind_the_best_is_left_out_unless_it_is_found_by_itself() -> None:
    assembled = run(
        memory("best", 0.9, words=1.0), memory("near", 0.25), memory("far", 0.1), memory("worded", words=0.3)
    )
    assert codes(assembled) == {"best": "fits", "worded": "fits", "near": "fits", "far": "below_relevance"}
    assert dict(decision_on(assembled, "far").detail) == {"threshold": pytest.approx(8.6 - 3)}


def test_what_is_near_the_best_is_in_though_it_alone_would_not_be_found() -> None:
    assembled = run(memory("best", 0.3), memory("beside", 0.1, words=0.2))
    assert codes(assembled) == {"beside": "fits", "best": "fits"}


def test_where_nothing_is_found_the_most_recent_are_used() -> None:
    assembled = run(memory("a", 0.1, words=0.2), memory("b", 0.19, words=0.29))
    assert codes(assembled) == {"a": "fits", "b": "fits"}
    assert {decision.score for decision in assembled.decisions} == {None}


def test_ties_go_to_the_lower_ref_whatever_the_order_of_arrival() -> None:
    for order in permutations("abc"):
        assert list(codes(run(*(memory(ref, 0.5, words=0.5) for ref in order)))) == ["a", "b", "c"]


@pytest.mark.parametrize(("weight", "share"), [(8.0, math.log(8)), (0.5, math.log(0.5)), (0.0, math.log(1e-6))])
def test_a_boost_multiplies_the_odds(weight: float, share: float) -> None:
    boost = Boost(Selector("source", "source"), weight)
    rule = Rule("first", 1, "everywhere", Condition(), Actions(boost=(boost,)))
    decision = decision_on(run(memory("a", 0.5), rules=(rule,)), "a")
    assert dict(decision.signals)["share:boost"] == pytest.approx(share, abs=1e-4)
    assert decision.score == pytest.approx(2 + share, abs=1e-4)
    assert decision.detail["rule"] == "first@1"


def test_a_boost_makes_nothing_else_irrelevant() -> None:
    boost = Boost(Selector("memory_kind", "fact"), 1_000.0)
    rule = Rule("first", 1, "everywhere", Condition(), Actions(boost=(boost,)))
    fact = candidate("fact", "x", similarity=0.3, measures={"similarity": 0.3}, labels={"memory_kind": ("fact",)})
    assert codes(run(fact, memory("other", 0.1), rules=(rule,))) == {"fact": "fits", "other": "fits"}


def test_scores_count_as_relevance_from_0_to_1_in_their_order() -> None:
    relevances = [relevance_of(score) for score in (-5.0, 0.0, 1.0, 10.0, 40.0)]
    assert relevances == [0.0, 0.0, pytest.approx(1 / 11), 0.5, 0.8]
    decision = decision_on(run(memory("a", 0.5, words=1.6)), "a")
    assert decision_relevance(decision, "lines") == relevance_of(10.0)


def test_a_ranker_survives_its_record_whatever_the_order_of_its_keys() -> None:
    stored = json.loads(json.dumps(profile().to_dict()))
    stored["ranker"]["weights"] = dict(reversed(stored["ranker"]["weights"].items()))
    assert Profile.from_dict(stored) == profile()


def test_a_profile_from_before_there_were_rankers_has_none() -> None:
    stored = profile().to_dict()
    del stored["ranker"]
    assert Profile.from_dict(stored) == profile(None)


def test_weights_must_be_numbers() -> None:
    with pytest.raises(InvalidAssembly, match="finite"):
        Ranker("test", 1, (("words", math.nan),), least_words=0.3, reach=3.0)


def test_what_nobody_measured_ranks_by_similarity_as_ever() -> None:
    memories = [candidate(ref, "x", similarity=near) for ref, near in (("a", 0.3), ("b", 0.9), ("far", 0.1))]
    assert codes(run(*memories)) == {"b": "fits", "a": "fits", "far": "below_relevance"}


TWO_COLUMNS = replace(RANKER, brief_weights=(("asks", 1.0), ("similarity", 0.0), ("words", 9.0)))


@pytest.mark.parametrize(("brevity", "share"), [(0.0, 5.0), (0.25, 6.0), (1.0, 9.0)])
def test_the_brevity_of_an_owners_texts_blends_both_columns_of_weights(brevity: float, share: float) -> None:
    decision = decision_on(run(memory("a", 0.5, words=1.0, brevity=brevity), ranker=TWO_COLUMNS), "a")
    assert dict(decision.signals)["share:words"] == share
    assert decision.score == share + round((1 - brevity) * 2.0, 4)


def test_without_brief_weights_a_ranker_is_recorded_as_it_always_was() -> None:
    assert "brief_weights" not in RANKER.to_dict()
    for ranker in (RANKER, TWO_COLUMNS):
        assert Ranker.from_dict(json.loads(json.dumps(ranker.to_dict()))) == ranker


def test_both_columns_weigh_the_same_features() -> None:
    with pytest.raises(InvalidAssembly, match="same features"):
        replace(RANKER, brief_weights=(("asks", 1.0),))
