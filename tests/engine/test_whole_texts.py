"""Texts that belong whole: what a caller sends itself, a document beside its passages, the best block of a section."""

from typing import Any

import pytest

from assembly.engine.profile import Profile, Section, Weights
from assembly.engine.types import WHOLE_TEXTS_SINCE, Candidate, EngineResult, LevelPreference, Summary
from tests.engine.factories import codes, decision_on, run

LINE = "The gate of the yard opens at seven. "
RELEVANCE = Weights(relevance=1)
OTHERS = Section("others", "Others", "L6", "recent_events", "blocks")


def block(ref: str, text: str, relevance: float = 0.5, section: str = "others", **fields: Any) -> Candidate:
    return Candidate(ref, section, text, score=relevance, measures={"relevance": relevance}, **fields)


def with_text_of_caller(shape: Any, others: str, budget: int, **wishes: Any) -> EngineResult:
    source = "turns" if shape == "turns" else "additional_context"
    said = Section("said", "Said", "L6", source, shape, share=10)
    profile = Profile("p", 1, (OTHERS, said), weights=RELEVANCE)
    text = Candidate("request:1", "said", LINE * 20, score=0.1, position=0, measures={"relevance": 0.1})
    return run(profile, block("event:1", others), text, budget=budget, **wishes)


@pytest.mark.parametrize("shape", ["text", "blocks", "turns"])
def test_what_a_caller_sends_is_whole_while_there_is_room(shape: Any) -> None:
    assert codes(with_text_of_caller(shape, "short", budget=400))["request:1"] == "fits"
    before = with_text_of_caller(shape, "short", budget=400, engine_version=WHOLE_TEXTS_SINCE - 1)
    assert codes(before)["request:1"] == "truncated", "at its share of the budget"


@pytest.mark.parametrize("shape", ["text", "blocks", "turns"])
def test_it_gets_what_others_leave_and_displaces_none(shape: Any) -> None:
    assembled = with_text_of_caller(shape, f"{LINE}Then it rains. " * 12, budget=300)
    before = with_text_of_caller(shape, f"{LINE}Then it rains. " * 12, budget=300, engine_version=WHOLE_TEXTS_SINCE - 1)
    assert codes(assembled) == {"event:1": "fits", "request:1": "truncated"}
    assert decision_on(before, "request:1").tokens < decision_on(assembled, "request:1").tokens
    assert assembled.tokens <= 300


@pytest.mark.parametrize("preference", [None, "atomic", "adaptive"])
def test_an_open_file_that_is_told_whole_stands_for_its_passages(preference: LevelPreference | None) -> None:
    profile = Profile("p", 1, (OTHERS,), weights=RELEVANCE, lod=preference, deduplicate=True)
    whole = block("document:1@1", f"a.md\n{LINE * 9}", 0.4, levels={"macro": Summary("An outline.", "m")})
    passages = [block(f"chunk:1@1#{place}", f"a.md:{place}\n{LINE}{place}", 0.9) for place in range(2)]
    assembled = run(profile, whole, *passages, budget=2_000)
    assert codes(assembled) == {"document:1@1": "fits", "chunk:1@1#0": "duplicate", "chunk:1@1#1": "duplicate"}
    tight = run(profile, whole, *passages, budget=60)
    if preference == "adaptive":
        assert codes(tight) == {"chunk:1@1#0": "fits", "chunk:1@1#1": "fits", "document:1@1": "summarised"}


@pytest.mark.parametrize("version", [WHOLE_TEXTS_SINCE - 1, WHOLE_TEXTS_SINCE])
def test_the_best_block_is_cut_rather_than_replaced_by_a_lesser_one(version: int) -> None:
    section = Section("others", "Others", "L6", "recent_events", "blocks", share=10)
    profile = Profile("p", 1, (section,), weights=RELEVANCE, cut_at="paragraph")
    best = block("event:1", "\n\n".join([LINE * 2] * 8), 0.9)
    assembled = run(profile, best, block("event:2", "short", 0.1), budget=1_200, engine_version=version)
    cut = {"event:1": "truncated", "event:2": "over_section_budget"}
    assert codes(assembled) == (
        cut if version == WHOLE_TEXTS_SINCE else {"event:1": "over_section_budget", "event:2": "fits"}
    )


def test_a_block_that_has_room_for_less_than_half_is_left_out() -> None:
    section = Section("others", "Others", "L6", "recent_events", "blocks", share=10)
    profile = Profile("p", 1, (section,), weights=RELEVANCE, cut_at="paragraph")
    best = block("event:1", "\n\n".join([LINE * 2] * 30), 0.9)
    assembled = run(profile, best, block("event:2", "short", 0.1), budget=1_200)
    assert codes(assembled) == {"event:1": "over_section_budget", "event:2": "fits"}


def test_a_section_that_cuts_nothing_has_the_lesser_block() -> None:
    section = Section("others", "Others", "L6", "recent_events", "blocks", share=10, overflow="drop")
    profile = Profile("p", 1, (section,), weights=RELEVANCE, cut_at="paragraph")
    best = block("event:1", "\n\n".join([LINE * 2] * 8), 0.9)
    assembled = run(profile, best, block("event:2", "short", 0.1), budget=1_200)
    assert codes(assembled) == {"event:1": "over_section_budget", "event:2": "fits"}


def test_the_room_of_repeated_passages_tells_another_document_whole_once() -> None:
    profile = Profile("p", 1, (OTHERS,), weights=RELEVANCE, lod="adaptive", deduplicate=True)
    texts = {number: f"{number}.md\n" + f"{LINE}{number} " * 9 for number in (1, 2)}
    documents = [
        block(f"document:{number}@1", text, 0.9 / number, levels={"macro": Summary(f"Outline {number}.", "m")})
        for number, text in texts.items()
    ]
    passages = [
        block(f"chunk:{number}@1#{place}", f"{number}.md:{place}\n{number}{place} {LINE * 4}", 0.3)
        for number in texts
        for place in range(2)
    ]
    for budget in range(200, 700, 10):
        told = {decision.ref: decision for decision in run(profile, *documents, *passages, budget=budget).decisions}
        for number in texts:
            if told[f"document:{number}@1"].code.value == "fits":
                assert not told[f"chunk:{number}@1#0"].included
