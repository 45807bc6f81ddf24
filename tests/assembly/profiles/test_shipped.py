"""The profiles that Dossier comes with."""

import dataclasses
from pathlib import Path

import pytest

from assembly.engine.profile import STEPS, Profile, Section, Weights
from assembly.engine.scopes import SCOPE_LAYERS
from assembly.profiles.parser import parse_described_profile, parse_profile
from assembly.profiles.rankers import RANKERS
from assembly.profiles.shipped import CONVERSATION, SHIPPED, SIMILARITY_THRESHOLD
from assembly.sources import SOURCES

KNOWN = tuple(SOURCES)


def test_conversation_is_what_it_always_was() -> None:
    assert SIMILARITY_THRESHOLD == 0.24
    assert dataclasses.asdict(CONVERSATION) == dataclasses.asdict(
        Profile(
            name="conversation",
            version=1,
            budget=16_000,
            similarity_threshold=0.24,
            ranker=RANKERS["default"],
            conflicts="warn",  # which changes no content
            sections=(
                Section("identity", "Identity", "L1", "agent_files", "text", required=True),
                Section("instructions", "Instructions", "L1", "agent_files", "text", required=True),
                Section("goals", "Team Goals", "L2", "team_files", "text"),
                Section("context", "Team Context", "L2", "team_files", "text"),
                Section("rules", "Team Rules", "L2", "team_files", "text"),
                Section("recent_activity", "Recent Activity", "L3", "daily_logs", "entries", cap=3_000),
                Section("team_knowledge", "Team Knowledge", "L4", "team_memories", "lines", cap=2_000, top_k=5),
                Section("personal_memories", "Personal Memories", "L5", "agent_memories", "lines", cap=2_000, top_k=5),
                Section("knowledge", "Knowledge Base", "L7", "agent_files", "text", cap=2_000),
            ),
        )
    )


OTHERS = sorted(SHIPPED.keys() - {"conversation", "memory"})
"""The profiles whose sections are those of the seed "Context Assembly Specification"."""


def shipped(name: str) -> Profile:
    return parse_profile(SHIPPED[name], name=name, version=1, sources=KNOWN)


def test_dossier_comes_with_six_profiles() -> None:
    assert SHIPPED.keys() == {"conversation", "coding", "research", "operations", "stack", "memory"}
    assert all(
        parse_described_profile(text, name=name, version=1, sources=KNOWN).description for name, text in SHIPPED.items()
    )


@pytest.mark.parametrize("name", OTHERS)
def test_a_shipped_profile_has_the_seeds_sections_in_their_order(name: str) -> None:
    ours = {"task_stack", "project_structure", "organisation_files"}
    labels = [section.label for section in shipped(name).sections if section.source not in ours]
    assert labels == [
        "Identity", "Instructions", "Team Goals", "Team Context", "Team Rules", "Daily Logs", "Team Knowledge",
        "Personal Memories", "Recent Activity", "Relevant Content", "Known Entities", "Relationships",
        "Applicable Patterns", "Additional Context", "Narrative Threads", "Open Files", "Tools", "Tool Results",
        "Knowledge Base", "Recent Turns",
    ]  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_a_shipped_profile_promises_no_more_than_there_is(name: str) -> None:
    profile = shipped(name)
    assert sum(section.share or 0 for section in profile.sections) == 100
    assert sum(dataclasses.asdict(profile.weights).values()) == pytest.approx(1)


@pytest.mark.parametrize("name", OTHERS)
def test_a_shipped_profile_takes_every_step_before_it_leaves_out(name: str) -> None:
    profile = shipped(name)
    assert (profile.over_budget, profile.fill) == (STEPS, True)
    assert profile.cut_at != "anywhere"


def test_every_profile_but_conversation_tells_what_the_organisation_knows() -> None:
    telling = {name for name in SHIPPED if "organisation_files" in {one.source for one in shipped(name).sections}}
    assert telling == SHIPPED.keys() - {"conversation"}


def test_only_coding_and_memory_have_tags() -> None:
    assert {name for name in SHIPPED if shipped(name).delimit == "tags"} == {"coding", "memory"}


def test_the_stack_has_the_seeds_shares() -> None:
    shares = {section.key: section.share for section in shipped("stack").sections if section.source == "task_stack"}
    assert shares == {"task_root": 5, "task_path": 15, "sibling_results": 10, "current_task": None}


def test_memory_has_the_seeds_priority_limits_and_scopes() -> None:
    memory = shipped("memory")
    assert memory.weights == Weights()
    assert {scope: memory.scope_limits[scope] for scope in ("noosphere", "library", "experience")} == {
        "noosphere": 15, "library": 10, "experience": 5,
    }  # fmt: skip
    assert (memory.lod, memory.over_budget, memory.delimit) == ("adaptive", (), "tags")
    scopes = [section.scope for section in memory.sections if section.shape == "blocks"]
    assert None not in scopes
    for section in memory.sections:
        assert section.scope is None or section.layer == SCOPE_LAYERS[section.scope]


@pytest.mark.parametrize("name", sorted(SHIPPED.keys() - {"conversation"}))
def test_only_tools_have_a_floor(name: str) -> None:
    """The relevance of other sources depends on how much an agent has, or on how its topic is worded."""
    floors = {section.source: section.relevance_floor for section in shipped(name).sections if section.relevance_floor}
    assert floors == {"tools": 0.01}


def test_the_files_of_shipped_profiles_are_read_by_people() -> None:
    folder = Path(parse_profile.__code__.co_filename).parent / "shipped"
    for path in folder.glob("*.yaml"):
        assert max(map(len, path.read_text(encoding="utf-8").splitlines())) <= 130
