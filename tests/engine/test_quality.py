"""The measures of quality: their formulas as tables, and that each is 0 to 1 whatever comes in."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.codes import Code
from assembly.engine.quality import (
    NEIGHBOUR_COSINE,
    UNRELATED_COSINE,
    ScopeOutcome,
    coherence_score,
    completeness,
    contradiction_rate,
    item_coherence,
    measure_quality,
    named_entities,
    rescaled_cosine,
    scope_outcomes,
    source_coverage,
)
from assembly.engine.types import Decision

SHARE = st.floats(0, 1)


def outcome(*, asked: bool = True, returned: int = 0, included: int = 0, failed: int = 0) -> ScopeOutcome:
    return ScopeOutcome(asked, returned, included, failed)


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        ([], 1),
        ([outcome()], 1),
        ([outcome(returned=3, included=1)], 1),
        ([outcome(returned=3, included=1), outcome(returned=2)], 0.5),
        ([outcome(returned=3, included=1), outcome(failed=1)], 0.5),
        ([outcome(returned=3, included=1), outcome(asked=False, returned=2)], 1),
        ([outcome(failed=1)], 0),
    ],
)
def test_source_coverage(scopes: list[ScopeOutcome], expected: float) -> None:
    assert source_coverage(scopes) == expected


@pytest.mark.parametrize(
    ("entities", "content", "expected"),
    [
        ([], "", 1),
        ([("",)], "", 1),
        ([("Net Loft",)], "the net\n  loft is here", 1),
        ([("Net Loft",)], "the Net Lofts are here", 0),
        ([("Ann",)], "Annual meeting", 0),
        ([("Ann",), ("Bob",)], "Ann's boat", 0.5),
        ([("Robert", "Bob")], "Bob rows", 1),
        ([("C++",)], "written in C++.", 1),
        ([("Straße",)], "STRASSE", 1),
    ],
)
def test_completeness(entities: list[tuple[str, ...]], content: str, expected: float) -> None:
    assert completeness(entities, content) == expected


@pytest.mark.parametrize(("disputed", "included", "rate"), [(0, 0, 0), (0, 4, 0), (1, 4, 0.25), (4, 4, 1)])
def test_contradiction_rate(disputed: int, included: int, rate: float) -> None:
    assert contradiction_rate(disputed, included) == rate


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        ({}, None),
        ({"coherence": 0.4}, 0.4),
        ({"similarity": NEIGHBOUR_COSINE}, 1),
        ({"similarity": UNRELATED_COSINE}, 0),
        ({"similarity": UNRELATED_COSINE, "coherence": 0.4}, 0.4),
        ({"similarity": (UNRELATED_COSINE + NEIGHBOUR_COSINE) / 2, "coherence": 0.4}, 0.5),
    ],
)
def test_the_coherence_of_an_item_is_the_larger_of_two_measures(
    signals: dict[str, float], expected: float | None
) -> None:
    assert item_coherence(signals) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("items", "rate", "score"), [([], 0, None), ([0.8, 0.4], 0, 0.6), ([0.8, 0.4], 0.1, 0.5), ([0.1], 0.5, 0)]
)
def test_contradictions_are_subtracted_from_coherence(items: list[float], rate: float, score: float | None) -> None:
    assert coherence_score(items, rate) == pytest.approx(score)


def decision(ref: str, code: Code = Code.FITS, **signals: float) -> Decision:
    return Decision(ref, "memories", code, signals=tuple(signals.items()))


def test_a_context_has_all_measures() -> None:
    decisions = [
        decision("memory:1@1", coherence=0.8),
        decision("memory:2@1", coherence=0.4),
        decision("memory:3@1", Code.EXPIRED),
    ]
    request = {"entities": ["Ann", "Bob"], "quality": 0.7}
    found = measure_quality(
        decisions=decisions, content="Ann", request=request, coverage=0.5, disputed={"memory:1@1", "memory:3@1"}
    )
    assert (found.source_coverage, found.completeness, found.contradiction_rate) == (0.5, 0.5, 0.5)
    assert found.coherence_score == pytest.approx(0.1)
    assert found.quality_achieved == 0.7


def test_entities_of_the_topic_count_if_the_request_gives_none() -> None:
    mentioned = {"signals": {"mentioned": [{"id": "1", "type": "person", "name": "Ann"}]}}
    assert named_entities(mentioned) == [("Ann",)]
    assert named_entities({**mentioned, "entities": ["Bob"]}) == [("Bob",)]


def test_scopes_are_counted_by_the_sections_of_the_decisions() -> None:
    outcomes = scope_outcomes(
        {"memories": "experience", "goals": "library", "identity": None},
        [{"name": "team_files", "code": "SOURCE_TIMEOUT"}, {"name": "external:wiki", "code": "SOURCE_FAILED"}],
        [decision("memory:1@1"), decision("memory:2@1", Code.EXPIRED)],
    )
    assert outcomes["experience"] == ScopeOutcome(asked=True, returned=2, included=1, failed=0)
    assert outcomes["library"] == ScopeOutcome(asked=True, returned=0, included=0, failed=2)
    assert not outcomes["noosphere"].asked


@given(
    texts=st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=60),
    content=st.text(max_size=200),
    signals=st.lists(
        st.fixed_dictionaries({}, optional={"similarity": st.floats(-1, 1), "coherence": SHARE}), max_size=20
    ),
    disputed=st.sets(st.integers(0, 25)),
)
def test_every_measure_is_0_to_1(
    texts: list[Any], content: str, signals: list[dict[str, Any]], disputed: set[int]
) -> None:
    decisions = [decision(f"memory:{place}@1", **one) for place, one in enumerate(signals)]
    found = measure_quality(
        decisions=decisions,
        content=content,
        request={"entities": [name for pair in texts for name in pair]},
        disputed={f"memory:{place}@1" for place in disputed},
    )
    assert 0 <= found.completeness <= 1
    assert 0 <= found.contradiction_rate <= 1
    assert found.coherence_score is None or 0 <= found.coherence_score <= 1


@given(st.floats(-1, 1))
def test_a_rescaled_cosine_is_0_to_1(cosine: float) -> None:
    assert 0 <= rescaled_cosine(cosine) <= 1
