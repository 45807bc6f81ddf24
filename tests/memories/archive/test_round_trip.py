"""What is exported comes back: byte for byte, in an empty installation and in the same one."""

import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import Agent, DailyLog
from agents.services import agent_delete
from memories.archive.memory_markdown import format_memory, iterate_memories, memory_digest, memory_values_digest
from memories.archive.owner_entries import ROWS_PER_STATEMENT
from memories.archive.sections import scope_of_agent, scope_of_everything
from memories.archive.services import import_begin, import_create
from memories.models import ImportStatus, Memory, MemoryVersion
from memories.services import MemoryFacts, facts_of, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.services import team_delete
from tests.archives import texts_in, zipped

pytestmark = pytest.mark.django_db


def emptied() -> None:
    for agent in Agent.objects.all():
        agent_delete(agent=agent, principal=SYSTEM)
    for team in Team.objects.all():
        team_delete(team=team, principal=SYSTEM)


def test_the_same_data_gives_the_same_bytes(agent: Agent) -> None:
    assert zipped(scope_of_everything(SYSTEM)) == zipped(scope_of_everything(SYSTEM))


def test_importing_into_the_same_installation_changes_nothing(agent: Agent) -> None:
    plan = import_create(archive=zipped(scope_of_everything(SYSTEM)), file_name="all.zip", principal=SYSTEM)
    assert plan.steps == []
    assert plan.aside == []
    assert plan.same == 6 + 3 + 7 + 2  # files, logs, memories, settings


def test_an_empty_installation_becomes_the_same(agent: Agent) -> None:
    archive = zipped(scope_of_everything(SYSTEM))
    before = {memory.id: facts_of(memory) for memory in Memory.objects.all()}
    emptied()
    assert not Memory.objects.exists()
    plan = import_create(archive=archive, file_name="all.zip", principal=SYSTEM)
    done = import_begin(plan=plan, chosen=(), principal=SYSTEM)
    assert done.status == ImportStatus.DONE
    assert [outcome["left"] for outcome in done.outcome.values()] == [[], []]
    assert zipped(scope_of_everything(SYSTEM)) == archive
    assert {memory.id: facts_of(memory) for memory in Memory.objects.all()} == before
    assert MemoryVersion.objects.filter(note="Imported from all.zip").count() == len(before)
    assert DailyLog.objects.get(date=datetime.date(2026, 3, 1)).versions.get().note == "Imported from all.zip"


def test_memories_keep_the_order_in_which_they_were_made(agent: Agent) -> None:
    archive = zipped(scope_of_everything(SYSTEM))
    before = list(agent.memories.order_by("created", "id").values_list("id", flat=True))
    emptied()
    import_begin(
        plan=import_create(archive=archive, file_name="all.zip", principal=SYSTEM), chosen=(), principal=SYSTEM
    )
    assert (
        list(Memory.objects.filter(agent__slug="ada").order_by("created", "id").values_list("id", flat=True)) == before
    )


def test_an_export_of_an_agent_holds_nothing_of_its_teams(agent: Agent) -> None:
    assert {name.split("/")[0] for name in texts_in(zipped(scope_of_agent(agent, SYSTEM)))} == {"agents"}


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=200)
LINES = st.lists(st.sampled_from(["", " ", "  a", "\tb", "- [x] c", "# d", "e\r", "-->", "<!-- {} -->"]), min_size=1)


@given(text=st.one_of(TEXT, LINES.map("\n".join)).filter(str.strip), external_id=TEXT.map(lambda text: text[:200]))
@settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
def test_any_text_comes_back_as_it_was(text: str, external_id: str) -> None:
    memories = [Memory(kind="fact", text=text, external_id=external_id), Memory(kind="fact", text="next")]
    written = "# Memories\n" + "".join("\n" + format_memory(memory) for memory in memories)
    read = list(iterate_memories(written, "MEMORY.md"))
    assert [(one.values["text"], one.values["external_id"]) for one in read] == [(text, external_id), ("next", "")]
    assert [memory_values_digest(one.values, None) for one in read] == [memory_digest(memory) for memory in memories]


def test_an_export_reads_in_batches(agent: Agent, django_assert_num_queries: Any) -> None:
    facts = [MemoryFacts(kind="fact", text=f"Fact {number}") for number in range(ROWS_PER_STATEMENT)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    # teams, files, logs twice, whether there are memories, memories three times, recall tests, decisions
    with django_assert_num_queries(10):
        zipped(scope_of_agent(agent, SYSTEM))
