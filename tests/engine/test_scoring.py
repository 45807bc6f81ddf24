"""The formulas of the seed, against numbers worked by hand."""

import datetime as dt

import pytest

from assembly.engine.query_signals import QuerySignals
from assembly.engine.scoring import (
    candidate_measures,
    chunk_boost,
    entity_score,
    event_relevance,
    keyword_boost,
    keyword_matches,
    keyword_share,
    recency_score,
    success_rate,
)

HOUR = dt.timedelta(hours=1)


@pytest.mark.parametrize(
    ("hours", "score"),
    [
        (-5, 1.0),  # still to come: as new as can be
        (0, 1.0),
        (12, 0.60653),  # exp(-0.5)
        (24, 0.36788),  # exp(-1)
        (48, 0.13534),  # exp(-2)
        (240, 0.0000454),  # exp(-10)
        (24 * 365 * 2_000, 0.0),
    ],
)
def test_recency_decays_exponentially(hours: float, score: float) -> None:
    assert recency_score(hours * HOUR) == pytest.approx(score, rel=1e-4)


@pytest.mark.parametrize(
    ("text", "keywords", "matches"),
    [
        ("The Login fails", ["login", "fail", "cache"], 2),  # "fail" stands in "fails"
        ("login login", ["login"], 1),
        ("ÄPFEL", ["äpfel"], 1),
        ("", ["login"], 0),
        ("login", [], 0),
    ],
)
def test_keywords_match_anywhere_and_count_once(text: str, keywords: list[str], matches: int) -> None:
    assert keyword_matches(text, keywords) == matches


@pytest.mark.parametrize(
    ("matches", "hours", "boosts"),
    [
        (0, 48, 1.0),
        (3, 48, 1.3),  # 1 + 3 x 0.1
        (0, 23.9, 1.2),
        (0, 24, 1.0),  # not younger than a day any more
        (2, 1, 1.44),  # 1.2 x 1.2
        (0, -1, 1.2),
    ],
)
def test_chunks_are_boosted(matches: int, hours: float, boosts: float) -> None:
    assert chunk_boost(matches, hours * HOUR) == pytest.approx(boosts)


def test_each_keyword_adds_a_tenth() -> None:
    assert keyword_boost(4) == pytest.approx(1.4)


def test_an_entity_that_is_mentioned_counts_twice() -> None:
    assert entity_score(0.4, mentioned=False) == 0.4
    assert entity_score(0.4, mentioned=True) == 0.8


@pytest.mark.parametrize(("successes", "applications", "rate"), [(8, 10, 0.8), (0, 5, 0.0), (3, 3, 1.0), (0, 0, 0.0)])
def test_success_rate(successes: int, applications: int, rate: float) -> None:
    assert success_rate(successes, applications) == rate


@pytest.mark.parametrize(
    ("text", "kind", "keywords", "relevance"),
    [
        ("login timeout", "error", ("login", "timeout"), 1.0),  # (2/2 + 1) / 2
        ("login", "error", ("login", "timeout"), 0.75),  # (1/2 + 1) / 2
        ("login", "message", ("login", "timeout"), 0.25),  # (1/2 + 0) / 2
        ("other", "error", ("login",), 0.5),  # (0 + 1) / 2
        ("other", "message", ("login",), 0.0),
        ("login", "error", (), 0.0),  # nothing was asked
    ],
)
def test_an_event_is_relevant_by_its_words_and_its_type(
    text: str, kind: str, keywords: tuple[str, ...], relevance: float
) -> None:
    assert event_relevance(text, kind, QuerySignals(keywords, "fix", ("error",))) == relevance


def test_without_keywords_nothing_has_a_share() -> None:
    assert keyword_share("anything", ()) == 0.0
    assert keyword_share("login page", ("login", "timeout", "page", "cache")) == 0.5


@pytest.mark.parametrize(("relevance", "held"), [(1.44, 1.0), (-0.2, 0.0), (0.3, 0.3)])
def test_relevance_is_held_within_0_and_1(relevance: float, held: float) -> None:
    assert candidate_measures(recency=0.1, relevance=relevance)["relevance"] == held


def test_what_nobody_judged_has_the_defaults() -> None:
    assert candidate_measures(recency=0.1, relevance=0.2, mentioned=True) == {
        "recency": 0.1,
        "relevance": 0.2,
        "salience": 0.5,
        "credibility": 0.5,
        "mentioned": 1.0,
    }
