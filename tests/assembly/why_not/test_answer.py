"""What somebody means: by its ref, its name, or words of its text."""

import datetime as dt
from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from assembly.engine.profile import Profile, Section
from assembly.engine.types import Candidate, field_values
from assembly.models import Assembly
from assembly.records.reader import StoredAssembly
from assembly.why_not.answer import Match, find_by_ref, find_by_words, rank_context
from tests.assembly.why_not.engine_inputs import inputs

ID = "0197a1b2-0000-7000-8000-000000000001"
PROFILE = Profile(
    "test",
    1,
    (
        Section("goals", "Team Goals", "L2", "team_files", "text"),
        Section("days", "Recent Activity", "L3", "daily_logs", "entries"),
        Section("memories", "Memories", "L4", "agent_memories", "lines", top_k=3),
        Section("people", "Entities", "L6", "entities", "blocks"),
        Section("passages", "Passages", "L6", "semantic_content", "blocks"),
    ),
)
CANDIDATES = (
    Candidate(f"team_file:{ID}@7", "goals", "Sell every seat of the hall.", kind="GOALS"),
    Candidate("daily_log:1@2", "days", "Rehearsed in the hall.", date=dt.date(2026, 3, 1)),
    *(Candidate(f"memory:{n}@1", "memories", f"The hall has door {n}.", similarity=n / 10) for n in range(8)),
    Candidate("entity:1@1", "people", "**person**: Ada Lovelace", labels={"kg_entity": ("Ada Lovelace",)}, score=1),
    Candidate("chunk:9@3#0", "passages", "ada.md:1 A hall.", labels={"path": ("ada.md",)}, measures={"relevance": 1}),
)


@pytest.fixture
def told() -> StoredAssembly:
    given = inputs(PROFILE, *CANDIDATES)
    made = given.assembled()
    by_place = {(one.section, one.ref): one for one in CANDIDATES}
    ordered = tuple(by_place[one.section, one.ref] for one in made.decisions)
    sections = [field_values(one) for one in made.sections]
    assembly = cast("Assembly", SimpleNamespace(sections=sections, tokens=made.tokens))
    given = type(given)(given.request, given.profile, ordered)
    return StoredAssembly(assembly, given, made.decisions)


def refs(matches: Sequence[Match]) -> list[str]:
    return [match.decision.ref for match in matches]


@pytest.mark.parametrize("ref", [f"team_file:{ID}@7", f"team_file:{ID}", ID, f"team_file:{ID}@3"])
def test_a_ref_names_it_with_or_without_its_version(ref: str, told: StoredAssembly) -> None:
    assert refs(find_by_ref(told, ref)) == [f"team_file:{ID}@7"]


def test_a_document_stands_for_its_pieces(told: StoredAssembly) -> None:
    assert refs(find_by_ref(told, "document:9")) == ["chunk:9@3#0"]


def test_a_ref_of_nothing_names_nothing(told: StoredAssembly) -> None:
    assert find_by_ref(told, "memory:77@1") == []


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("goals", f"team_file:{ID}@7"),
        ("TEAM  goals", f"team_file:{ID}@7"),
        ("2026-03-01", "daily_log:1@2"),
        ("ada lovelace", "entity:1@1"),
        ("ada.md", "chunk:9@3#0"),
        ("door 5", "memory:5@1"),
        ("seat sell", f"team_file:{ID}@7"),
    ],
)
def test_the_best_match_comes_first(words: str, first: str, told: StoredAssembly) -> None:
    assert refs(find_by_words(told, words))[0] == first


def test_of_equals_what_is_left_out_comes_first(told: StoredAssembly) -> None:
    matches = find_by_words(told, "the hall has door")[:8]
    assert [match.decision.included for match in matches] == [False] * 5 + [True] * 3


def test_a_word_that_is_nowhere_finds_nothing(told: StoredAssembly) -> None:
    assert find_by_words(told, "velvet") == find_by_words(told, " ") == []


def test_it_stands_among_those_that_rank_around_it(told: StoredAssembly) -> None:
    stands = rank_context(told, ("memories", "memory:1@1"))
    ranks = [(one.decision.rank, one.is_subject) for one in stands.around]
    assert ranks == [(2, False), (3, False), (4, False), (5, False), (6, False), (7, True), (8, False)]
    assert (stands.above, stands.below) == (1, 0)
    assert stands.used_before == sum(one.tokens for one in told.sections[:2])


def test_a_text_that_is_its_section_has_no_rivals(told: StoredAssembly) -> None:
    assert rank_context(told, ("goals", f"team_file:{ID}@7")).around == ()


def test_blocks_stand_among_those_of_all_sections(told: StoredAssembly) -> None:
    stands = rank_context(told, ("people", "entity:1@1"))
    assert [one.decision.ref for one in stands.around] == ["chunk:9@3#0", "entity:1@1"]
