"""Levels of detail are made once after a write, in the background, and go with their item."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, AgentFile, DailyLog
from agents.services import agent_create, agent_delete, daily_log_append, daily_log_delete
from assembly.engine.detail_levels import EXTRACTIVE_LEVELS
from assembly.engine.item_formats import format_chunk
from assembly.engine.refs import Ref
from assembly.engine.tokenizers import get_tokenizer
from assembly.models import TextLevel, UnlevelledItem
from assembly.pipeline.level_derivation import item_levels_derive
from assembly.pipeline.levels import extracted_levels
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record
from assembly.records.stored_levels import Levels
from assembly.sources.level_texts import STORED_CHARACTERS, offered_texts
from memories.archive.sections import scope_of_everything
from memories.archive.services import import_begin, import_create
from memories.embeddings.indexing import document_split
from memories.models import Chunk, Document, Job, Memory
from memories.services import MemoryFacts, agent_item_delete, memories_create, memory_create, memory_delete
from memories.services.document import document_update, documents_create
from memories.services.memory import facts_of, memory_update
from teams.models import Team
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.services import team_create
from teams.versioned_text.versioned_file import file_save
from tests.archives import edited, zipped
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


def noted() -> set[tuple[str, Any]]:
    return set(UnlevelledItem.objects.values_list("kind", "item"))


def save(file: Any, content: str) -> None:
    file.refresh_from_db()
    file_save(file=file, content=content, expected_version=file.version, author=SYSTEM.author)


def test_of_a_batch_the_long_memories_are_noted_by_one_statement(agent: Agent, team: Team) -> None:
    with CaptureQueriesContext(connection) as seen:
        first, _, second = memories_create(owner=agent, facts=facts(LONG, "Short.", OTHER), principal=SYSTEM)
    assert sum("unlevelled_items" in query["sql"] for query in seen.captured_queries) == 1
    assert noted() == {("memory", first.id), ("memory", second.id)}
    assert not Job.objects.filter(kind="derive_levels")
    memories_create(owner=team, facts=facts("Short."), principal=SYSTEM)
    with CaptureQueriesContext(connection) as seen:
        memories_create(owner=team, facts=facts("Short, too."), principal=SYSTEM)
    assert not any("unlevelled_items" in query["sql"] for query in seen.captured_queries)
    memory_create(owner=team, facts=facts(f"{LONG} {OTHER}")[0], principal=SYSTEM)
    assert run_jobs() == 1, "one job for all of them"
    job = Job.objects.get(kind="derive_levels")
    assert (job.agent, job.requested_by, job.steps) == (None, "system", 3)
    assert stored_levels(LONG, item=first.id, deriver=EXTRACTIVE_LEVELS) == extracted(LONG)
    assert stored_levels(OTHER, item=second.id) == extracted(OTHER)
    assert run_jobs() == 0


def test_a_changed_text_has_levels_of_its_own_and_the_old_ones_go(agent: Agent) -> None:
    memory = memory_create(owner=agent, facts=facts(LONG)[0], principal=SYSTEM)
    run_jobs()
    same = memory_update(
        memory=memory, expected_version=1, facts=facts_of(memory), superseded_by=None, pinned=True, principal=SYSTEM
    )
    assert same.version == 2
    assert not noted(), "the text is the same"
    memory_update(memory=same, expected_version=2, facts=facts(OTHER)[0], superseded_by=None, principal=SYSTEM)
    assert run_jobs() == 1
    assert stored_levels(OTHER) == extracted(OTHER)
    assert not stored_levels(LONG)


def test_a_text_that_changes_while_its_levels_are_made_keeps_the_new_levels(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_create(owner=agent, facts=facts(LONG)[0], principal=SYSTEM)
    derived_by = "assembly.pipeline.level_derivation.extracted_levels"

    def extracted_meanwhile(text: str) -> Levels:
        monkeypatch.setattr(derived_by, extracted_levels)
        memory_update(memory=memory, expected_version=1, facts=facts(OTHER)[0], superseded_by=None, principal=SYSTEM)
        item_levels_derive(kind="memory", id_=memory.id)
        return extracted_levels(text)

    monkeypatch.setattr(derived_by, extracted_meanwhile)
    item_levels_derive(kind="memory", id_=memory.id)
    assert stored_levels(OTHER) == extracted(OTHER)
    assert not stored_levels(LONG)


def test_a_memory_that_an_import_changes_is_noted(agent: Agent) -> None:
    memory = memory_create(owner=agent, facts=facts(LONG)[0], principal=SYSTEM)
    run_jobs()
    archive = edited(
        zipped(scope_of_everything(SYSTEM)), "agents/ada/MEMORY.md", lambda text: text.replace(LONG, OTHER)
    )
    import_begin(plan=import_create(archive=archive, file_name="a.zip", principal=SYSTEM), chosen=(), principal=SYSTEM)
    assert noted() == {("memory", memory.id)}


def test_a_job_may_run_twice_and_has_nothing_to_do_for_what_is_gone(agent: Agent) -> None:
    gone, stays = memories_create(owner=agent, facts=facts(OTHER, LONG), principal=SYSTEM)
    memory_delete(memory=gone, principal=SYSTEM)
    run_jobs()
    count = TextLevel.objects.count()
    assert stored_levels(LONG, item=stays.id)
    Job.objects.filter(kind="derive_levels").update(status="queued")
    run_jobs()
    assert TextLevel.objects.count() == count


def test_files_and_logs_have_levels_and_a_log_that_grows_is_noted_once(agent: Agent, team: Team) -> None:
    file, goals = AgentFile.objects.get(agent=agent, file_key="KNOWLEDGE"), team.files.get(file_key="GOALS")
    identity = AgentFile.objects.get(agent=agent, file_key="IDENTITY")
    for one, content in ((file, LONG), (goals, f"# Goals\n\n{OTHER}"), (identity, f"{LONG} {OTHER}")):
        save(one, content)
    style = organisation_file_create(key="style", title="Style guide", content=f"{OTHER}\n\n{LONG}", principal=SYSTEM)
    day = agent.created.date()
    for paragraph in (LONG, OTHER, "Tea."):
        daily_log_append(agent=agent, date=day, text=paragraph, principal=SYSTEM)
    log = DailyLog.objects.get(agent=agent)
    assert noted() == {
        ("agent_file", file.id), ("agent_file", identity.id), ("team_file", goals.id),
        ("organisation_file", style.id), ("daily_log", log.id),
    }  # fmt: skip
    assert run_jobs() == 4, "one of each kind"
    assert stored_levels(LONG, item=file.id) == extracted(LONG)
    rows: tuple[Any, ...] = (goals, style, log)
    for row in rows:
        row.refresh_from_db()
        texts = [offered.text for offered in offered_texts(row) if len(offered.text) >= STORED_CHARACTERS]
        assert texts
        assert all(stored_levels(text, item=row.id) == extracted(text) for text in texts)
    assert not TextLevel.objects.filter(item=identity.id), "contexts have it whole"
    save(log, OTHER)
    assert run_jobs() == 1
    assert not any(stored_levels(text) for text in texts), "of the log as it was"


def test_the_texts_with_levels_are_those_that_a_context_is_offered(agent: Agent, team: Team) -> None:
    long = "\n\n".join(f"# Part {number}\n\n{LONG} {number}" for number in range(9))
    save(AgentFile.objects.get(agent=agent, file_key="KNOWLEDGE"), long)
    save(team.files.get(file_key="GOALS"), long.replace("Part", "Goal"))
    organisation_file_create(key="style", title="Style guide", content=long.replace("Part", "Rule"), principal=SYSTEM)
    daily_log_append(agent=agent, date=agent.today(agent.created), text=long.replace("Part", "Hour"), principal=SYSTEM)
    (document,) = documents_create(agent=agent, facts=[{"path": "a.md", "content": long}], principal=SYSTEM)
    document_split(id_=document.id)
    memory_create(owner=agent, facts=facts(LONG)[0], principal=SYSTEM)
    run_jobs()
    asked = AssemblyRequest(topic="Who recommended the event?", profile="memory")
    record = load_record(assemble(agent=agent, team=team, principal=SYSTEM, asked=asked).assembly)
    offered = [one for one in record.inputs.candidates if len(one.text) >= STORED_CHARACTERS]
    assert {Ref.parse(one.ref).kind for one in offered} == {
        "agent_file", "team_file", "organisation_file", "daily_log", "chunk", "memory",
    }  # fmt: skip
    for one in offered:
        assert stored_levels(one.text) == extracted(one.text), one.ref


def test_the_passages_of_a_document_have_levels_as_their_source_offers_them(agent: Agent) -> None:
    content = "\n\n".join([f"# Part {number}\n\n{LONG} {number}" for number in range(12)])
    facts = {"path": "notes/trip.md", "content": content}
    (document,) = documents_create(agent=agent, facts=[facts], principal=SYSTEM)
    assert not noted(), "it is not split yet"
    document_split(id_=document.id)
    assert noted() == {("document", document.id)}
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
    UnlevelledItem.objects.all().delete()
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
        assert made["macro"] == text[:45].strip()
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
