"""Candidates of blocks get levels of detail: stored ones by one statement, others by extraction, without a model."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from msgspec import structs

from agents.models import Agent
from agents.services import agent_create
from assembly.engine.detail_levels import EXTRACTIVE_LEVELS
from assembly.engine.profile import Profile, Section
from assembly.engine.types import Candidate, Summary
from assembly.models import text_hash
from assembly.pipeline import levels
from assembly.pipeline.levels import with_levels
from assembly.records.stored_levels import store_levels
from memories.services import MemoryFacts, memory_create
from teams.principal import SYSTEM
from tests.assembly.long_texts import LONG, OTHER, extracted
from tests.refused_statements import refused

pytestmark = pytest.mark.django_db

PROFILE = Profile(
    "levels",
    1,
    (Section("blocks", "Blocks", "L4", "agent_memories", "blocks"), Section("lines", "Lines", "L5", "tools", "lines")),
    lod="adaptive",
)


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    levels._cache.clear()
    yield
    levels._cache.clear()


def candidate(text: str = LONG, section: str = "blocks", ref: str = "memory:1@1") -> Candidate:
    return Candidate(ref, section, text)


def levels_of(one: Candidate) -> dict[str, str]:
    return {level: summary.text for level, summary in one.levels.items()}


def queries() -> CaptureQueriesContext:
    return CaptureQueriesContext(connection)


def store(text: str, deriver: str, agent_slug: str = "ada", **texts: str) -> None:
    agent = Agent.objects.filter(slug=agent_slug).first() or agent_create(slug=agent_slug, name="Ada", teams=[])
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="message", text=text), principal=SYSTEM)
    rows: Any = [(text_hash(text), level, Summary(short, deriver)) for level, short in texts.items()]
    store_levels(memory.id, rows)


@pytest.mark.parametrize("lod", [None, "atomic"])
def test_without_shorter_levels_nothing_happens(lod: Any) -> None:
    offered = [candidate()]
    with queries() as seen:
        assert with_levels(replace(PROFILE, lod=lod), offered) is offered
    assert not seen.captured_queries
    assert not offered[0].memo


def test_blocks_get_levels_and_nothing_else_does() -> None:
    offered = [candidate(), candidate(section="lines"), candidate("Short.")]
    block, line, short = with_levels(PROFILE, offered)
    assert levels_of(block) == extracted(LONG)
    assert {summary.model for summary in block.levels.values()} == {EXTRACTIVE_LEVELS}
    assert (line, short) == (offered[1], offered[2])
    assert structs.replace(block, levels={}) == offered[0]


def test_one_statement_reads_those_of_all_candidates() -> None:
    store(LONG, EXTRACTIVE_LEVELS, macro="Stored macro.", micro="Stored micro.")
    offered = [candidate(), candidate(OTHER, ref="memory:2@1"), candidate(LONG, ref="memory:3@1")]
    with queries() as seen:
        first, second, third = with_levels(PROFILE, offered)
    assert len(seen.captured_queries) == 1
    assert levels_of(first) == levels_of(third) == {"macro": "Stored macro.", "micro": "Stored micro."}
    assert levels_of(second) == extracted(OTHER)


def test_they_are_cached_for_the_candidate_and_for_the_text() -> None:
    offered = [candidate()]
    (first,) = with_levels(PROFILE, offered)
    with queries() as seen:
        (again,) = with_levels(PROFILE, offered)
        assert again is first, "with what is known of it, such as its tokens"
        (other,) = with_levels(PROFILE, [candidate()])
        assert other == first
    assert not seen.captured_queries


def test_what_has_levels_keeps_them() -> None:
    recorded = structs.replace(candidate(), levels={"macro": Summary("Recorded.", "older@1")})
    with queries() as seen:
        assert with_levels(PROFILE, [recorded]) == [recorded]
    assert not seen.captured_queries


def test_the_level_of_a_configured_model_is_preferred_once_it_is_stored(settings: Any) -> None:
    settings.SUMMARISER_URL, settings.SUMMARISER_MODEL = "http://127.0.0.1:9/v1", "tiny"
    offered = [candidate()]
    (before,) = with_levels(PROFILE, offered)
    assert levels_of(before) == extracted(LONG), "a context waits for no model"
    store(LONG, EXTRACTIVE_LEVELS, macro="Extracted.", micro="Extracted, longer.")
    store(LONG, "tiny@1", macro="By the model.", agent_slug="bob")
    store(LONG, "other@1", micro="By another model.", agent_slug="cem")
    (after,) = with_levels(PROFILE, offered)
    assert after.levels == {
        "macro": Summary("By the model.", "tiny@1"),
        "micro": Summary("Extracted, longer.", EXTRACTIVE_LEVELS),
    }
    assert with_levels(PROFILE, offered)[0] is after


def test_the_app_cannot_put_other_words_into_a_level() -> None:
    store(LONG, EXTRACTIVE_LEVELS, macro="Stored macro.")
    for change in ("UPDATE text_levels SET text = 'n'", "DELETE FROM text_levels", "TRUNCATE text_levels"):
        assert refused("default", change), change
