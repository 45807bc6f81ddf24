"""Levels of detail are made once after a write, in the background, and go with their item."""

from typing import Any

import pytest
from django.core.management import call_command

from agents.models import Agent, AgentFile, DailyLog
from agents.services import agent_create, agent_delete, daily_log_append, daily_log_delete
from assembly.engine.detail_levels import EXTRACTIVE_LEVELS
from assembly.engine.item_formats import format_chunk
from assembly.engine.tokenizers import get_tokenizer
from assembly.models import TextLevel
from memories.embeddings.indexing import document_split
from memories.models import Chunk, Document, Job, Memory
from memories.services import MemoryFacts, agent_item_delete, memories_create, memory_create, memory_delete
from memories.services.document import document_update, documents_create
from memories.services.memory import facts_of, memory_update
from teams.models import Team
from teams.principal import SYSTEM
from teams.services import team_create
from teams.versioned_text.versioned_file import file_save
from tests.assembly.long_texts import LONG, OTHER, extracted, run_jobs, stored_levels
from tests.assembly.pipeline.summaries.conftest import MODEL, ServerOf, server_of
from tests.assembly.pipeline.summaries.summary_factories import completion
from tests.http_endpoints import Handler, giving

pytestmark = pytest.mark.django_db
__all__ = ["server_of"]
NAMED = f"{MODEL}@1"


@pytest.fixture
def team(db: None) -> Team:
    return team_create(slug="care", name="Care")


@pytest.fixture
def agent(team: Team) -> Agent:
    return agent_create(slug="ada", name="Ada", teams=[team])


def facts(*texts: str) -> list[MemoryFacts]:
    return [MemoryFacts(kind="message", text=text) for text in texts]


def waiting() -> list[dict[str, Any]]:
    return list(Job.objects.filter(kind="derive_levels", status="queued").values_list("arguments", flat=True))


def save(file: Any, content: str) -> None:
    file.refresh_from_db()
    file_save(file=file, content=content, expected_version=file.version, author=SYSTEM.author)


def test_a_batch_of_memories_has_one_job_for_the_long_ones(agent: Agent, team: Team) -> None:
    first, _, second = memories_create(owner=agent, facts=facts(LONG, "Short.", OTHER), principal=SYSTEM)
    assert waiting() == [{"kind": "memory", "items": [str(first.id), str(second.id)]}]
    job = Job.objects.get(kind="derive_levels")
    assert (job.agent, job.requested_by) == (agent, "system")
    assert run_jobs() == 1
    assert stored_levels(LONG, item=first.id, deriver=EXTRACTIVE_LEVELS) == extracted(LONG)
    assert stored_levels(OTHER, item=second.id) == extracted(OTHER)
    assert run_jobs() == 0
    memories_create(owner=team, facts=facts("Short."), principal=SYSTEM)
    assert not waiting()
    memory_create(owner=team, facts=facts(LONG)[0], principal=SYSTEM)
    assert Job.objects.filter(kind="derive_levels", status="queued").get().agent is None


def test_a_changed_text_has_levels_of_its_own_and_the_old_ones_go(agent: Agent) -> None:
    memory = memory_create(owner=agent, facts=facts(LONG)[0], principal=SYSTEM)
    run_jobs()
    same = memory_update(
        memory=memory, expected_version=1, facts=facts_of(memory), superseded_by=None, pinned=True, principal=SYSTEM
    )
    assert same.version == 2
    assert not waiting(), "the text is the same"
    memory_update(memory=same, expected_version=2, facts=facts(OTHER)[0], superseded_by=None, principal=SYSTEM)
    assert run_jobs() == 1
    assert stored_levels(OTHER) == extracted(OTHER)
    assert not stored_levels(LONG)


def test_a_job_may_run_twice_and_has_nothing_to_do_for_what_is_gone(agent: Agent) -> None:
    gone, stays = memories_create(owner=agent, facts=facts(OTHER, LONG), principal=SYSTEM)
    memory_delete(memory=gone, principal=SYSTEM)
    run_jobs()
    count = TextLevel.objects.count()
    assert stored_levels(LONG, item=stays.id)
    Job.objects.filter(kind="derive_levels").update(status="queued")
    run_jobs()
    assert TextLevel.objects.count() == count


def test_files_and_logs_have_levels_and_a_log_that_grows_has_one_job(agent: Agent, team: Team) -> None:
    file, goals = AgentFile.objects.get(agent=agent, file_key="KNOWLEDGE"), team.files.get(file_key="GOALS")
    save(file, LONG)
    save(goals, f"# Goals\n\n{OTHER}")
    day = agent.created.date()
    for paragraph in (LONG, OTHER, "Tea."):
        daily_log_append(agent=agent, date=day, text=paragraph, principal=SYSTEM)
    assert [one["kind"] for one in waiting()] == ["agent_file", "team_file", "daily_log"]
    run_jobs()
    assert stored_levels(LONG, item=file.id) == extracted(LONG)
    assert stored_levels(f"# Goals\n\n{OTHER}", item=goals.id)
    log = DailyLog.objects.get(agent=agent)
    assert stored_levels(log.content, item=log.id) == extracted(log.content)
    daily_log_append(agent=agent, date=day, text="More tea.", principal=SYSTEM)
    assert run_jobs() == 1
    assert not stored_levels(log.content), "of the log as it was"


def test_the_passages_of_a_document_have_levels_as_their_source_offers_them(agent: Agent) -> None:
    content = "\n\n".join([f"# Part {number}\n\n{LONG} {number}" for number in range(12)])
    facts = {"path": "notes/trip.md", "content": content}
    (document,) = documents_create(agent=agent, facts=[facts], principal=SYSTEM)
    assert not waiting(), "it is not split yet"
    document_split(id_=document.id)
    assert waiting() == [{"kind": "document", "items": [str(document.id)]}]
    run_jobs()
    chunks = Chunk.objects.filter(document=document)
    assert chunks.count() > 1
    for chunk in chunks:
        text = format_chunk(path="notes/trip.md", line=chunk.line, text=chunk.text)
        assert stored_levels(text, item=document.id) == extracted(text) != {}
    kept = TextLevel.objects.count()
    document.refresh_from_db()
    document_update(thing=document, expected_version=1, changes={"content": content + f"\n\n{OTHER}"}, principal=SYSTEM)
    document_split(id_=document.id)
    run_jobs()
    assert TextLevel.objects.count() >= kept
    agent_item_delete(thing=Document.objects.get(id=document.id), principal=SYSTEM)
    assert not TextLevel.objects.exists()


def test_levels_go_with_their_item_at_once(agent: Agent) -> None:
    memory, _ = memories_create(owner=agent, facts=facts(LONG, OTHER), principal=SYSTEM)
    daily_log_append(agent=agent, date=agent.created.date(), text=LONG, principal=SYSTEM)
    run_jobs()
    memory_delete(memory=memory, principal=SYSTEM)
    log = DailyLog.objects.get(agent=agent)
    assert set(TextLevel.objects.filter(level="micro").values_list("item", flat=True)) == {
        log.id,
        Memory.objects.get(text=OTHER).id,
    }
    daily_log_delete(log=log, principal=SYSTEM)
    assert not stored_levels(LONG)
    assert stored_levels(OTHER)
    agent_delete(agent=agent, principal=SYSTEM)
    assert not TextLevel.objects.exists()


def test_what_two_items_say_has_levels_as_long_as_one_of_them_is_there(agent: Agent, team: Team) -> None:
    memory = memory_create(owner=agent, facts=facts(LONG)[0], principal=SYSTEM)
    memory_create(owner=team, facts=facts(LONG)[0], principal=SYSTEM)
    run_jobs()
    memory_delete(memory=memory, principal=SYSTEM)
    assert stored_levels(LONG) == extracted(LONG)


def test_the_command_makes_the_levels_of_everything_that_is_there(agent: Agent, capsys: Any) -> None:
    memories_create(owner=agent, facts=facts(LONG, OTHER, "Short."), principal=SYSTEM)
    save(AgentFile.objects.get(agent=agent, file_key="KNOWLEDGE"), LONG)
    Job.objects.all().delete()
    call_command("derive_levels")
    assert "3 items" in capsys.readouterr().out
    assert run_jobs() == 2
    assert stored_levels(LONG)
    assert stored_levels(OTHER)


def answering(handler: Handler) -> None:
    """Answer with the first words of the text, and more than the limit allows for micro."""
    asked = handler.endpoint.seen[-1].body
    text = asked["messages"][1]["content"].split("\n")[1]
    giving(completion(text[:45] if asked["max_tokens"] < 40 else text[:300]))(handler)


def test_a_configured_model_makes_better_levels_within_the_limits(agent: Agent, server_of: ServerOf) -> None:
    text = f"{LONG} {OTHER}"
    with server_of(answering) as endpoint:
        memory = memory_create(owner=agent, facts=facts(text)[0], principal=SYSTEM)
        assert not endpoint.seen
        run_jobs()
        assert stored_levels(text, deriver=EXTRACTIVE_LEVELS) == extracted(text)
        made = stored_levels(text, deriver=NAMED)
        assert made["macro"] == text[:45]
        tokenizer = get_tokenizer("cl100k_base")
        assert tokenizer.count(made["micro"]) <= tokenizer.count(text) / 3
        asked = len(endpoint.seen)
        Job.objects.update(status="queued")
        run_jobs()
        assert len(endpoint.seen) == asked, "what is stored is not asked again"
        assert stored_levels(text, item=memory.id, deriver=NAMED) == made


def test_without_an_answer_the_extracted_levels_stay(agent: Agent, server_of: ServerOf) -> None:
    def failing(handler: Handler) -> None:
        handler.send_error(500)

    with server_of(failing):
        memory_create(owner=agent, facts=facts(LONG)[0], principal=SYSTEM)
        run_jobs()
        assert stored_levels(LONG) == extracted(LONG)
        assert not TextLevel.objects.filter(deriver=NAMED)
