"""How near it came: what is on record says it, or nothing is said."""

from typing import Any

import pytest

from assembly.contexts.near_misses import near_misses
from assembly.engine.codes import Code
from assembly.engine.types import Decision
from tests.engine.factories import candidate, profile_of, run, section


def said(*decisions: Decision) -> list[str]:
    found = near_misses(decisions, decisions)
    return [found.get((one.section, one.ref), "") for one in decisions]


def left_out(code: Code, ref: str = "memory:1@1", **facts: Any) -> Decision:
    return Decision(ref, facts.pop("section", "s"), code, tokens_full=40, **facts)


@pytest.mark.parametrize(
    ("decision", "sentence"),
    [
        (
            left_out(Code.OVER_TOTAL_BUDGET, detail={"needed": 312}),
            "It would fit with 312 more tokens.",
        ),
        (
            left_out(Code.OVER_SECTION_BUDGET, detail={"needed": 1}),
            "It would fit with 1 more token.",
        ),
        (left_out(Code.OVER_TOTAL_BUDGET, detail={"dropped_for": "event:1"}), ""),
        (
            left_out(Code.OVER_SECTION_BUDGET, detail={"steps": [{"step": "drop", "before": 40, "after": 0}]}),
            "",
        ),
        (
            left_out(Code.OUTRANKED, rank=6, score=0.58, detail={"top_k": 5, "last_score": 0.61}),
            "The cut-off score is .61.",
        ),
        (
            left_out(Code.OUTRANKED, rank=7, detail={"top_k": 5, "last_score": None}),
            "Missed by 2 ranks.",
        ),
        (
            left_out(Code.BELOW_RELEVANCE, score=0.1, detail={"threshold": 0.2}),
            "The cut-off score is .20.",
        ),
        (left_out(Code.BELOW_RELEVANCE, detail={"threshold": 0.2}), ""),
        (
            left_out(Code.TRUNCATED, detail={"steps": [{"step": "truncate", "before": 40, "after": 30}]}),
            "About 10 more tokens would include it in full.",
        ),
        (left_out(Code.RULE_EXCLUDED, detail={"rule": "quiet@1"}), ""),
        (left_out(Code.FITS), ""),
    ],
)
def test_what_was_missing_is_said_where_a_number_says_it(decision: Decision, sentence: str) -> None:
    assert said(decision) == [sentence]


def test_what_others_would_have_had_first_is_said_so() -> None:
    first, second = (
        left_out(Code.OVER_TOTAL_BUDGET, ref=f"memory:{number}@1", detail={"needed": 20 + number})
        for number in range(2)
    )
    assert said(first, second) == [
        "It would fit with 20 more tokens.",
        "21 tokens were missing when it was considered; items with a higher score come first.",
    ]


def test_in_a_contest_those_with_a_better_score_come_first() -> None:
    weak = left_out(Code.OVER_TOTAL_BUDGET, score=0.2, detail={"needed": 5})
    strong = left_out(Code.OVER_TOTAL_BUDGET, section="t", score=0.8, detail={"needed": 50})
    assert said(weak, strong) == [
        "5 tokens were missing when it was considered; items with a higher score come first.",
        "50 tokens were missing when it was considered; items with a higher score come first.",
    ]


def test_no_score_helps_where_pinned_ones_have_all_places() -> None:
    pinned = left_out(Code.PINNED, ref="memory:2@1", rank=1, score=0.1)
    outranked = left_out(Code.OUTRANKED, rank=2, score=0.9, detail={"top_k": 1, "last_score": 0.1})
    assert said(pinned, outranked) == ["", "Pinned items used all places."]


def test_with_as_many_tokens_more_it_does_fit() -> None:
    items = [candidate(f"memory:{number}@1", "word " * (5 + number), section="s") for number in range(4)]
    profile = profile_of(section(shape="lines"))
    short = run(profile, *items, budget=23)
    (nearest,) = [one for one in short.decisions if one.ref == "memory:2@1"]
    (sentence,) = near_misses(short.decisions, [nearest]).values()
    assert sentence == f"It would fit with {nearest.detail['needed']} more tokens."
    longer = run(profile, *items, budget=23 + nearest.detail["needed"])
    assert next(one for one in longer.decisions if one.ref == nearest.ref).included
