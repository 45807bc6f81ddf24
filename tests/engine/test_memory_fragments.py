"""The fragments of the shipped profile `memory` add up: each is in the text, and their tokens are the whole count."""

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from assembly.contract.assembled_context import fragments_of, trims_of
from assembly.engine.assemble import FAILURE_NOTE, assemble
from assembly.engine.codes import WarningCode
from assembly.engine.profile import DOMAIN_WEIGHTS, Profile
from assembly.engine.scopes import SCOPES
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import LEVEL_PREFERENCES, ORIGINS, Candidate, EngineRequest, ShorterLevel, Summary
from assembly.pipeline.prepare import FAILURE_NOTE_REF
from assembly.profiles.catalogue import known_sources
from assembly.profiles.parser import parse_described_profile
from assembly.profiles.shipped import SHIPPED
from tests.engine.factories import NOW, texts
from tests.engine.strategies import candidates_of

MEMORY = parse_described_profile(SHIPPED["memory"], name="memory", version=1, sources=known_sources()).profile
CHARACTERS_OF_LEVELS: dict[ShorterLevel, int] = {"macro": 9, "micro": 3}
"""A level has this part of the characters of its text at most."""


@st.composite
def memories(draw: st.DrawFn) -> Profile:
    """The profile memory as requests change it: with another level, other weights, and without some of its scopes."""
    wanted = draw(st.sets(st.sampled_from(SCOPES), min_size=1))
    sections = tuple(section for section in MEMORY.sections if section.scope in wanted)
    note = draw(st.sampled_from([(), (), (FAILURE_NOTE,)]))
    return replace(
        MEMORY,
        sections=(*sections, *note),
        lod=draw(st.sampled_from(LEVEL_PREFERENCES)),
        weights=draw(st.sampled_from([MEMORY.weights, *DOMAIN_WEIGHTS.values()])),
    )


@st.composite
def offered(draw: st.DrawFn, profile: Profile) -> list[Candidate]:
    """Candidates for the sections, of any origin, most with the levels of long texts."""
    memory = profile.without_note
    some = st.lists(st.sampled_from(memory), min_size=1, max_size=4, unique_by=lambda one: one.key)
    filled = draw(some) if memory else []
    chance = draw(st.randoms(use_true_random=False))
    note = [Candidate(FAILURE_NOTE_REF, FAILURE_NOTE.key, "Not available: Patterns.", kind="note")]
    items = [_with_levels(one, chance) for section in filled for one in draw(candidates_of(section))]
    return items if profile.sections == memory else [*items, *note]


def _with_levels(candidate: Candidate, chance: Random) -> Candidate:
    text = candidate.text
    levels = {
        level: Summary(text[: len(text) // part], "extractive@1")
        for level, part in CHARACTERS_OF_LEVELS.items()
        if len(text) > 200 and chance.random() < 0.8
    }
    return structs.replace(candidate, origin=chance.choice([None, *ORIGINS]), levels=levels)


@given(data=st.data())
def test_the_token_costs_of_fragments_are_the_exact_count_of_the_text(data: st.DataObject) -> None:
    profile: Profile = data.draw(memories())
    candidates: list[Candidate] = data.draw(offered(profile))
    size = sum(min(2_000, len(one.text)) for one in candidates)
    budget = data.draw(st.integers(0, size // 2) | st.integers(0, 300) | st.just(200_000))
    tokenizer = get_tokenizer(data.draw(st.sampled_from(["cl100k_base", "chars4"])))
    request = EngineRequest(budget, data.draw(texts(2)), tokenizer.name, NOW)
    assembled = assemble(request, profile, candidates, tokenizer)
    by_ref = {(one.section, one.ref): one for one in candidates}
    decided = [(one, by_ref[one.section, one.ref]) for one in assembled.decisions]
    sections = {section.key: section for section in profile.sections}

    fragments = fragments_of(assembled.content, decided, sections)
    costs = sum(fragment["token_cost"] for fragment in fragments)
    assert costs == assembled.tokens == tokenizer.count(assembled.content) <= budget
    assert WarningCode.BUDGET_EXCEEDED not in assembled.warnings
    end = 0
    for fragment in fragments:
        end = assembled.content.index(fragment["content"], end) + len(fragment["content"])
        assert 0 <= fragment["priority_score"] <= 1
        assert (fragment["source_layer"] in SCOPES) == (fragment["id"] != FAILURE_NOTE_REF)
        assert fragment["lod"] in {"macro", "micro", "atomic"}
    trimmed = {(trim["section"], trim["id"]): trim for trim in trims_of(profile, assembled.decisions)}
    for decision, _candidate in decided:
        if decision.code.is_over_budget:
            assert trimmed[decision.section, decision.ref]["token_cost"] == decision.tokens
