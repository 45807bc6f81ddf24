"""A request's own strategy: which numbers of a profile it may change, and which it may not."""

from dataclasses import replace
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from assembly.contexts.request_serializers import StrategySerializer
from assembly.engine.profile import Profile, Section, Weights
from assembly.profiles.request_overrides import apply_strategy
from config.http.errors import Invalid

PROFILE = Profile(
    "test",
    7,
    (
        Section("identity", "Identity", "L1", "agent_files", "text", required=True),
        Section("ours", "Ours", "L4", "team_memories", "lines", cap=2_000, top_k=5),
        Section("mine", "Mine", "L5", "agent_memories", "lines", cap=2_000, top_k=5),
        Section("root", "Root", "L6", "task_stack", "sequence", share=5),
        Section("path", "Path", "L6", "task_stack", "sequence", share=15),
        Section("tools", "Tools", "L6", "tools", "blocks", share=10),
    ),
)


def changed(key: str, **facts: Any) -> Profile:
    sections = tuple(replace(one, **facts) if one.key == key else one for one in PROFILE.sections)
    return replace(PROFILE, sections=sections)


def without(key: str) -> Profile:
    return replace(PROFILE, sections=tuple(one for one in PROFILE.sections if one.key != key))


def validated(strategy: Any) -> dict[str, Any]:
    serializer = StrategySerializer(data=strategy)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ({}, PROFILE),
        ({"weights": {"recency": 0.5}}, replace(PROFILE, weights=Weights(recency=0.5))),
        ({"weights": {"coherence": 0, "salience": 1}}, replace(PROFILE, weights=Weights(coherence=0, salience=1))),
        ({"depth_limit": 0}, replace(PROFILE, depth_limit=0)),
        ({"similarity_threshold": 1}, replace(PROFILE, similarity_threshold=1.0)),
        ({"budget_allocation": {"tools": 30}}, changed("tools", share=30)),
        ({"budget_allocation": {"agent_memories": 12.5}}, changed("mine", share=12.5)),
        ({"caps": {"ours": 100}}, changed("ours", cap=100)),
        ({"caps": {"ours": None}}, changed("ours", cap=None)),
        ({"caps": {"identity": None}}, PROFILE),
        ({"top_k": {"mine": 1}}, changed("mine", top_k=1)),
        ({"top_k": {"mine": None}}, changed("mine", top_k=None)),
        ({"omit": ["ours", "ours"]}, without("ours")),
        ({"over_budget": ["drop", "summarise"]}, replace(PROFILE, over_budget=("drop", "summarise"))),
        ({"over_budget": []}, PROFILE),
        ({"fill": True}, replace(PROFILE, fill=True)),
        ({"cut_at": "paragraph"}, replace(PROFILE, cut_at="paragraph")),
        ({"omit": ["ours"], "caps": {"ours": 1}}, without("ours")),
    ],
    ids=str,
)  # fmt: skip
def test_it_changes_what_it_names(strategy: dict[str, Any], expected: Profile) -> None:
    assert apply_strategy(PROFILE, validated(strategy)) == expected


def test_percents_for_a_source_go_to_each_of_its_sections_but_those_that_are_named() -> None:
    strategy = {"budget_allocation": {"task_stack": 20, "path": 1}}
    shares = {section.key: section.share for section in apply_strategy(PROFILE, validated(strategy)).sections}
    assert (shares["root"], shares["path"], shares["tools"]) == (20, 1, 10)


@pytest.mark.parametrize(
    ("strategy", "field", "words"),
    [
        ({"omit": ["identity"]}, "strategy.omit", "Identity is "),
        ({"caps": {"identity": 5}}, "strategy.caps", "required and has no limit"),
        ({"top_k": {"identity": 1}}, "strategy.top_k", "required and has no limit"),
        ({"budget_allocation": {"identity": 5}}, "strategy.budget_allocation", "required and has no limit"),
        (
            {"budget_allocation": {"agent_files": 5}},
            "strategy.budget_allocation",
            "required and has no limit",
        ),
        ({"caps": {"moon": 5}}, "strategy.caps", "It has: identity, ours, mine, root, path, tools."),
        ({"top_k": {"moon": 5}}, "strategy.top_k", "It has: identity"),
        ({"omit": ["moon"]}, "strategy.omit", "It has: identity"),
        ({"budget_allocation": {"moon": 5}}, "strategy.budget_allocation", "It has: identity"),
    ],
    ids=str,
)
def test_what_a_profile_does_not_allow_is_refused(strategy: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(Invalid, match=words) as caught:
        apply_strategy(PROFILE, validated(strategy))
    assert caught.value.extra["errors"].keys() == {field}


def test_a_request_may_lift_what_its_profile_says() -> None:
    eager = replace(PROFILE, over_budget=("drop", "compact", "summarise"), fill=True, cut_at="heading")
    lifted = apply_strategy(eager, validated({"over_budget": [], "fill": False, "cut_at": "anywhere"}))
    assert lifted == PROFILE


def test_what_the_engine_refuses_is_the_strategys_fault() -> None:
    with pytest.raises(Invalid, match="A weight is") as caught:
        apply_strategy(PROFILE, {"weights": {"recency": -1}})
    assert caught.value.extra["errors"].keys() == {"strategy"}


@pytest.mark.parametrize(
    ("strategy", "field"),
    [
        (7, "non_field_errors"),
        ([], "non_field_errors"),
        ({"zeal": 1}, "zeal"),
        ({"weights": {"zeal": 1}}, "weights"),
        ({"weights": {"recency": 10.5}}, "weights"),
        ({"weights": {"recency": -1}}, "weights"),
        ({"weights": {"recency": "1"}}, "weights"),
        ({"weights": {"recency": True}}, "weights"),
        ({"weights": {"recency": float("nan")}}, "weights"),
        ({"weights": {"recency": 10**400}}, "weights"),
        ({"weights": None}, "weights"),
        ({"depth_limit": 6}, "depth_limit"),
        ({"depth_limit": -1}, "depth_limit"),
        ({"similarity_threshold": 1.1}, "similarity_threshold"),
        ({"budget_allocation": {"tools": 101}}, "budget_allocation"),
        ({"budget_allocation": {"tools": None}}, "budget_allocation"),
        ({"budget_allocation": {"\ud800": 1}}, "budget_allocation"),
        ({"budget_allocation": []}, "budget_allocation"),
        ({"caps": {"tools": -1}}, "caps"),
        ({"caps": {"tools": 200_001}}, "caps"),
        ({"caps": {"\x00": 1}}, "caps"),
        ({"caps": {f"s{number}": 1 for number in range(41)}}, "caps"),
        ({"top_k": {"tools": 0}}, "top_k"),
        ({"top_k": {"tools": 1_001}}, "top_k"),
        ({"omit": "tools"}, "omit"),
        ({"omit": [1]}, "omit"),
        ({"omit": ["a"] * 41}, "omit"),
        ({"over_budget": "drop"}, "over_budget"),
        ({"over_budget": ["flood"]}, "over_budget"),
        ({"over_budget": ["compact", "drop"]}, "over_budget"),
        ({"over_budget": ["drop", "drop"]}, "over_budget"),
        ({"over_budget": [["drop"]]}, "over_budget"),
        ({"over_budget": None}, "over_budget"),
        ({"fill": 1}, "fill"),
        ({"fill": "true"}, "fill"),
        ({"fill": None}, "fill"),
        ({"cut_at": "word"}, "cut_at"),
        ({"cut_at": "\ud800"}, "cut_at"),
        ({"cut_at": []}, "cut_at"),
        ({"quality_min": 0}, "quality_min"),
    ],
    ids=lambda value: str(value)[:40].encode(errors="replace").decode(),
)
def test_bad_values_are_named(strategy: Any, field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        validated(strategy)
    assert caught.value.detail.keys() == {field}  # type: ignore[union-attr]
