"""Each trigger moves exactly the documented parameter, within its bounds, and the profile stays valid."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.profile import Profile, Section, Weights
from assembly.engine.tuning import (
    UNTUNED,
    Tuning,
    WindowValues,
    adjustments,
    coherence_share,
    tuned,
)
from assembly.engine.types import field_values

ENTITIES = Section("entities", "Entities", "L2", "entities", "blocks", share=20)
RELATIONS = Section("relations", "Relations", "L2", "relations", "blocks", share=10)
OTHERS = Section("memories", "Memories", "L4", "agent_memories", "blocks", share=50)
PROFILE = Profile("house", 1, (ENTITIES, RELATIONS, OTHERS))
GOOD = WindowValues(contradiction_rate=0.0, completeness=1.0, coherence=0.9)


def moved(profile: Profile = PROFILE, tuning: Tuning = UNTUNED, **values: Any) -> list[tuple[str, float, Any]]:
    steps = adjustments(profile, tuning, [replace(GOOD, **values)] * 50)
    return [(step.parameter, step.before, pytest.approx(step.after)) for step in steps]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, []),
        ({"contradiction_rate": 0.05}, []),
        ({"contradiction_rate": 0.06}, [("conflict_sensitivity", 1.0, 1.2)]),
        ({"completeness": 0.8}, []),
        ({"completeness": 0.79}, [("entity_share", 1.0, 1.2)]),
        ({"coherence": 0.75}, []),
        ({"coherence": 0.74}, [("coherence_weight", 0.0, 0.05)]),
    ],
)
def test_a_trigger_moves_its_own_parameter_alone(values: dict[str, Any], expected: list[object]) -> None:
    assert moved(**values) == expected


def test_the_sensitivity_goes_back_by_clean_windows_and_stays_in_bounds() -> None:
    assert moved(tuning=Tuning(conflict_sensitivity=1.9), contradiction_rate=0.5) == [
        ("conflict_sensitivity", 1.9, 2.0)
    ]
    assert moved(tuning=Tuning(conflict_sensitivity=2.0), contradiction_rate=0.5) == []
    assert moved(tuning=Tuning(conflict_sensitivity=1.2)) == [("conflict_sensitivity", 1.2, 1.2 / 1.05)]
    assert moved(tuning=Tuning(conflict_sensitivity=1.01)) == [("conflict_sensitivity", 1.01, 1.0)]


def test_the_weight_of_coherence_stops_at_its_bound() -> None:
    assert moved(tuning=Tuning(coherence_weight=0.23), coherence=0.1) == [("coherence_weight", 0.23, 0.25)]
    assert moved(tuning=Tuning(coherence_weight=0.25), coherence=0.1) == []


def test_a_profile_that_does_not_weight_coherence_gets_no_such_weight() -> None:
    plain = replace(PROFILE, weights=Weights(coherence=0.0))
    assert moved(plain, coherence=0.1) == []
    assert tuned(plain, Tuning(coherence_weight=0.2)) == plain


def test_a_profile_without_entities_has_nothing_to_widen() -> None:
    assert moved(replace(PROFILE, sections=(OTHERS,)), completeness=0.1) == []


def test_a_full_budget_leaves_no_room_to_widen() -> None:
    full = replace(PROFILE, sections=(ENTITIES, RELATIONS, replace(OTHERS, share=70)))
    assert moved(full, completeness=0.1) == []


def test_unknown_coherence_moves_nothing() -> None:
    assert adjustments(PROFILE, UNTUNED, [replace(GOOD, coherence=None)] * 50) == []
    assert adjustments(PROFILE, UNTUNED, []) == []


def test_the_tuning_changes_no_other_field() -> None:
    one = tuned(PROFILE, Tuning(1.5, 1.2, 0.05))
    assert {field.name for field in fields(Profile) if getattr(one, field.name) != getattr(PROFILE, field.name)} == {
        "sections", "weights", "conflict_sensitivity",
    }  # fmt: skip
    assert one.conflict_sensitivity == 1.5
    assert [section.share for section in one.sections] == [24, 12, 50]
    assert one.weights.coherence == pytest.approx(0.2)
    assert one.weights.relevance == pytest.approx(0.4 * 0.8 / 0.85)


def test_where_scopes_are_limited_the_limit_of_the_scope_is_widened() -> None:
    bare = replace(
        PROFILE,
        sections=tuple(replace(section, share=None) for section in PROFILE.sections),
        scope_limits={"library": 10, "experience": 5},
    )
    assert tuned(bare, Tuning(entity_share=1.2)).scope_limits == {"library": 12, "experience": 5}
    capped = replace(bare, sections=(replace(bare.sections[0], cap=100), *bare.sections[1:]))
    assert tuned(capped, Tuning(entity_share=1.2)).sections[0].cap == 120
    assert tuned(capped, Tuning(entity_share=1.2)).scope_limits == bare.scope_limits


def test_an_untuned_profile_is_the_same() -> None:
    assert tuned(PROFILE, UNTUNED) is PROFILE


@given(
    rates=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.none() | st.floats(0, 1)), max_size=60),
    weights=st.lists(st.floats(0, 5), min_size=5, max_size=5),
    share=st.floats(0, 100),
    other=st.floats(0, 150),
)
def test_whatever_is_measured_everything_stays_in_bounds(
    rates: list[tuple[float, float, float | None]], weights: list[float], share: float, other: float
) -> None:
    profile = replace(
        PROFILE, weights=Weights(*weights), sections=(replace(ENTITIES, share=share), replace(OTHERS, share=other))
    )
    tuning = UNTUNED
    for rate in rates:
        steps = adjustments(profile, tuning, [WindowValues(*rate)])
        assert len({step.parameter for step in steps}) == len(steps)
        for step in steps:
            tuning = step.applied(tuning)
    assert 1 <= tuning.conflict_sensitivity <= 2
    assert 1 <= tuning.entity_share <= 2
    one = tuned(profile, tuning)
    whole = sum(section.share or 0 for section in one.sections)
    assert whole <= max(100, share + other) + 1e-9
    before, after = coherence_share(profile.weights), coherence_share(one.weights)
    assert after <= max(0.4, before) + 1e-9
    assert sum(field_values(one.weights).values()) == pytest.approx(sum(weights))
