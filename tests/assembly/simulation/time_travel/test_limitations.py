"""What is not as of then is said: nothing more, and nothing less."""

import datetime
from typing import Any, NoReturn

import pytest
from django.utils import timezone

from agents.models import Agent
from agents.services import agent_update
from assembly.models import StoredRule
from assembly.pipeline.request import AssemblyRequest
from assembly.profiles.services import profile_create
from assembly.rules.services import rule_save
from assembly.simulation.time_travel import shadow_tables
from assembly.simulation.time_travel.services import SECONDS, PastContext, assemble_as_of
from memories.embeddings.base import EmbedderTimeout, seconds_left
from memories.embeddings.file_splitting import file_split
from memories.models import Entity, Event, TaskFrame, Thread
from memories.services import (
    MemoryFacts,
    agent_item_delete,
    agent_item_update,
    agent_items_create,
    facts_of,
    memories_of,
    memory_delete,
    memory_update,
)
from teams.models import Team
from teams.principal import SYSTEM, Principal
from teams.versioned_text.versioned_file import file_save
from tests.assembly.one_of_each import everything
from tests.assembly.simulation.time_travel.edit_story import Clock, clock_set

pytestmark = pytest.mark.django_db

NOW = datetime.datetime(2026, 3, 14, 12, tzinfo=datetime.UTC)
SOMEBODY = Principal(kind="person", name="Theo")
ABROAD = """
name: abroad
budget: 400
sections:
  - {key: elsewhere, heading: Elsewhere, layer: L6, source: external, shape: blocks}
"""
Kept = tuple[Agent, Team]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return clock_set(monkeypatch, NOW)


@pytest.fixture
def kept(clock: Clock) -> Kept:
    """All that an agent and a team can keep; an hour has passed since."""
    kept = everything(NOW)
    clock.goes_on(hours=1)
    return kept


def then(kept: Kept, principal: Principal = SYSTEM, **wishes: Any) -> PastContext:
    agent, team = kept
    return assemble_as_of(agent=agent, team=team, asked=AssemblyRequest(**wishes), moment=NOW, principal=principal)


def codes(found: PastContext) -> set[str]:
    return {limit.code for limit in found.limits}


def said(found: PastContext, code: str) -> str:
    return " ".join(limit.sentence for limit in found.limits if limit.code == code)


def test_where_nothing_was_changed_only_what_is_of_today_is_named(kept: Kept) -> None:
    assert codes(then(kept)) == {"agent_of_today", "profile_of_today"}
    agent, _ = kept
    alone = assemble_as_of(agent=agent, asked=AssemblyRequest(), moment=NOW, principal=SYSTEM)
    assert codes(alone) == {"profile_of_today"}
    agent_update(agent=agent, expected_version=1, name="Mira R.", timezone="UTC", teams=[kept[1]], principal=SYSTEM)
    agent.refresh_from_db()
    alone = assemble_as_of(agent=agent, asked=AssemblyRequest(), moment=NOW, principal=SYSTEM)
    assert "teams of Mira R. are the current ones" in said(alone, "agent_of_today")


def test_what_keeps_no_history_is_told_as_it_is_now(kept: Kept) -> None:
    agent, _ = kept
    task = TaskFrame.objects.get(agent=agent)
    agent_item_update(thing=task, expected_version=1, changes={"goal": "Print the book"}, principal=SYSTEM)
    for thing in Entity.objects.filter(agent=agent):
        agent_item_update(thing=thing, expected_version=1, changes={"salience": 0.9}, principal=SYSTEM)
    found = then(kept, profile="stack", topic="Is the ink on the paper dry?")
    assert said(found, "changed_since").startswith("1 of the tasks was changed since then. Its current text is used.")
    assert "events, tasks" in said(found, "deleted_without_trace")


def test_what_was_made_since_is_not_there_and_what_was_deleted_is_missing(kept: Kept) -> None:
    agent, _ = kept
    facts = {"title": "The fair", "touched_at": timezone.now()}
    agent_items_create(model=Thread, agent=agent, facts=[facts], principal=SYSTEM)
    wishes: dict[str, Any] = {"profile": "research", "topic": "ink on paper"}
    refs = {decision.ref for decision in then(kept, **wishes).context.decisions}
    assert not any(str(thread.id) in ref for ref in refs for thread in Thread.objects.filter(title="The fair"))
    for event in Event.objects.filter(agent=agent):
        agent_item_delete(thing=event, principal=SYSTEM)
    assert "Deleted items of these kinds leave no trace:" in said(then(kept, **wishes), "deleted_without_trace")


def test_deletions_are_counted_for_admins_alone(kept: Kept) -> None:
    agent, team = kept
    for owner in (agent, team):
        memory = memories_of(owner).first()
        assert memory
        memory_delete(memory=memory, principal=SYSTEM)
    assert "(of all agents): 2 memories." in said(then(kept), "deleted")
    assert said(then(kept, SOMEBODY), "deleted").startswith("Something was deleted since then.")


def test_a_rule_that_was_switched_since_is_as_it_was_and_it_is_said_how_that_is_known(kept: Kept) -> None:
    rule = StoredRule.objects.get(name="hurry")
    rule_save(rule=rule, content=rule.content, enabled=False, expected_version=1, principal=SYSTEM)
    found = then(kept, topic="the deadline")
    assert [fired.name for fired in found.context.inputs.request.rules] == ["hurry"]
    assert "rule_switches" in codes(found)


def test_memories_beyond_the_bound_are_found_by_their_words_alone(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow_tables, "MAX_EMBEDDED", 1)
    for memory in memories_of(kept[0]):
        facts = MemoryFacts(kind="fact", text=f"Otherwise {memory.text}")
        memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    found = then(kept, topic="paper on Mondays")
    assert said(found, "meaning_unknown").startswith("1 memory was changed since then")
    assert "Paper comes on Mondays" in found.context.content
    assert "Otherwise" not in found.context.content
    assert "meaning_unknown" not in codes(then(kept))


def test_an_embedder_on_a_server_is_not_waited_for_longer_than_a_source(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    def late(*_: object) -> NoReturn:
        waited.append(seconds_left(1_000))
        raise EmbedderTimeout("Not now.")

    memory = memories_of(kept[0]).get(text__contains="Paper comes on Mondays")
    facts = MemoryFacts(kind="fact", text="No paper")
    memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    monkeypatch.setattr(shadow_tables, "embed_texts", late)
    found = then(kept, topic="paper on Mondays")
    assert said(found, "meaning_unknown").startswith("1 memory was changed since then")
    assert "Paper comes on Mondays" in found.context.content
    (seconds,) = waited
    assert 0 < seconds < SECONDS


def test_a_session_that_was_not_begun_is_left_aside(kept: Kept) -> None:
    assert "session_unknown" in codes(then(kept, profile="coding", session="nobody-knows"))


def test_external_sources_are_not_asked(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assembly.pipeline.gather.PendingExternalSources.asked", lambda *_: pytest.fail("asked"))
    profile_create(name="abroad", content=ABROAD, principal=SYSTEM)
    found = assemble_as_of(
        agent=kept[0], asked=AssemblyRequest(profile="abroad", topic="rain"), moment=timezone.now(), principal=SYSTEM
    )
    assert "external" in codes(found)
    assert not found.context.inputs.candidates


def test_a_look_back_asks_a_fixed_number_of_questions(kept: Kept, django_assert_max_num_queries: Any) -> None:
    for memory in memories_of(kept[0]):
        memory_update(
            memory=memory, expected_version=1, facts=facts_of(memory), superseded_by=None, pinned=True, principal=SYSTEM
        )
    with django_assert_max_num_queries(30):
        then(kept)


# --- Passages of files ---


def saved(kept: Kept, content: str) -> None:
    file = kept[1].files.get(file_key="GOALS")
    file_save(file=file, content=content, expected_version=file.version, author=SYSTEM.author)
    file_split(kind="team_file", id_=file.id)


def test_passages_of_a_former_text_are_found_by_meaning_unless_an_embedder_on_a_server_would_have_to_be_asked(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(kept, "Sell the press.")
    wishes: dict[str, Any] = {"topic": "print", "profile": "memory"}
    assert "meaning_unknown" not in codes(found := then(kept, **wishes))
    assert "GOALS: print." in found.context.content
    for module in ("assembly.simulation.time_travel.services", "memories.search.file_search"):
        monkeypatch.setattr(f"{module}.is_bundled", lambda _: False)
    assert "Passages of 1 file or log of that time are found by words only" in said(
        found := then(kept, **wishes), "meaning_unknown"
    )
    assert "GOALS: print." in found.context.content
    assert "meaning_unknown" not in codes(then(kept, topic="print")), "whole files are not searched"


def test_of_long_former_texts_only_the_beginning_is_searched(
    kept: Kept, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assembly.sources.file_passages.MAX_SPLIT_CHARACTERS", 10)
    wishes: dict[str, Any] = {"topic": "print", "profile": "memory"}
    assert "texts_cut" not in codes(then(kept, **wishes)), "the passages of then are still stored"
    saved(kept, "Sell the press.")
    assert (
        said(then(kept, **wishes), "texts_cut") == "Of 1 long file or log of that time, only the beginning is searched."
    )
