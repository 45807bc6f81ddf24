"""What stands in sealed texts about a person is found, and erased like what stands in plain."""

import hashlib
import re
from collections.abc import Iterator
from typing import Any

from agents.models import Agent
from assembly.models import Alert, Assembly, ConflictDecision, RecallTest, TextLevel
from assembly.models.assembly import ERASED
from assembly.pipeline.level_derivation import item_levels_derive
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.recall_tests.kept_context import recall_test_from_context
from assembly.records.reader import load_record, replay
from config.db.sealed_columns import stored_text_sql
from config.db.statements import fetch_rows
from memories.jobs.execution import job_run
from memories.lifecycle.plain_texts import plain_text_count
from memories.lifecycle.thing_tables import MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Chunk, Document, Entity, Event, FilePassage, Job, Memory, MemoryVersion
from memories.services import MemoryFacts, agent_items_create, memory_create, memory_update
from memories.services.document import documents_create
from memories.services.event import events_create
from privacy.subjects.services import subject_restrict
from teams.level_changes import level_set
from teams.models import Activity, OrganisationFile, Team, TeamFile, TeamFileVersion
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.sealing.columns import sealed_columns
from teams.sealing.parts import opened_values
from teams.sensitivity import Sensitivity
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.assembly.monitoring.alerts.alert_factories import alert_on
from tests.privacy.erasure.world import begin, damage, follow_all, run_all_jobs, tables_with
from tests.privacy.subject_factories import NAME, link_all, scanned_subject
from tests.sensitivity.restricted_things import raise_level

LONG = " ".join(f"{NAME} drank {day} cups of tea on day {day}." for day in range(40))
REST = LONG.replace(NAME, "[erased]")


def confidential_things(agent: Agent, team: Team) -> dict[str, Any]:
    """A memory with an earlier version, a document with chunks, a file of the team with passages, an event, and an
    entity.
    """
    facts = [MemoryFacts(kind="fact", text=text, sensitivity=Sensitivity.CONFIDENTIAL) for text in (NAME, LONG)]
    memory = memory_create(owner=agent, facts=facts[0], principal=SYSTEM)
    memory = memory_update(memory=memory, expected_version=1, facts=facts[1], superseded_by=None, principal=SYSTEM)
    [document] = documents_create(agent=agent, facts=[{"path": "tea.md", "content": LONG}], principal=SYSTEM)
    raise_level(Document, document.id, Sensitivity.CONFIDENTIAL)
    file = file_save(
        file=team.files.get(file_key="RULES"), content=LONG, expected_version=1, author=SYSTEM.author, note="Tea"
    )
    file = level_set(row=file, level=Sensitivity.CONFIDENTIAL, principal=SYSTEM)
    message = {"text": f"{NAME} called.", "by": [NAME, 7]}
    [event] = events_create(agent=agent, facts=[{"type": "message", "content": message}], principal=SYSTEM)
    raise_level(Event, event.id, Sensitivity.CONFIDENTIAL)
    named = {"type": "Person", "name": NAME, "aliases": [f"{NAME} the elder", "Doc"]}
    [entity] = agent_items_create(model=Entity, agent=agent, facts=[named], principal=SYSTEM)
    raise_level(Entity, entity.id, Sensitivity.CONFIDENTIAL)
    run_all_jobs()
    things = {"memory": memory, "document": document, "team_file": file}
    for kind, thing in things.items():
        item_levels_derive(kind=kind, id_=thing.id)
    return {**things, "event": event, "entity": entity}


def written() -> Iterator[tuple[str, str]]:
    """The sealed columns as they are once they are opened, by table and column."""
    for table, columns in sealed_columns().items():
        for one in columns:
            stored = stored_text_sql(one.column, one.type)
            rows = fetch_rows(f"SELECT {stored} FROM {table} WHERE {one.column} IS NOT NULL")  # noqa: S608
            yield from ((f"{table}.{one.column}", opened_values(one, [text])[0]) for (text,) in rows)


def vectors() -> set[tuple[float, ...]]:
    """The vectors of memories, chunks and passages."""
    rows = (one for model in (Memory, Chunk, FilePassage) for one in model._default_manager.values_list("embedding"))
    return {tuple(vector) for (vector,) in rows if vector is not None}


def counts() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in (MemoryVersion, TeamFileVersion)}


def test_what_is_sealed_is_found_and_erased_and_the_rest_stays_sealed(
    committed_database: str, agent: Agent, team: Team
) -> None:
    things = confidential_things(agent, team)
    facts = MemoryFacts(kind="fact", text=f"{LONG} Cold.")
    internal = memory_create(owner=agent, facts=facts, principal=SYSTEM)
    subject = scanned_subject()
    assert set(subject.mentions.values_list("thing", flat=True)) == {
        internal.id, *(thing.id for thing in things.values())
    }  # fmt: skip
    link_all(subject)
    before, old = counts(), {bytes(one) for one in TextLevel.objects.values_list("text_sha256", flat=True)}
    near = vectors()
    assert len(near) >= 3
    named = {place for place, text in written() if "Quell" in text}
    places = "memories.text memory_versions.content documents.content chunks.text team_md_files.content"
    places += " entities.name entities.aliases"
    places += " team_md_file_versions.content file_passages.text events.content text_levels.text"
    assert set(places.split()) <= named
    subject = subject_restrict(subject=subject, restricted=True, principal=SYSTEM)
    assert things_move(MEMORIES, [internal.id], Tier.COLD) == [internal.id]
    assert plain_text_count() == 0
    sealed = {"memories", "documents", "chunks", "team_md_files", "file_passages", "events", "entities"}
    assert not sealed & {*tables_with("Quell")}

    erasure = begin(subject, whole=[])
    assert erasure.job_id
    job_run(job_id=erasure.job_id)
    erasure.refresh_from_db()
    assert erasure.state == "finished"
    run_all_jobs()

    assert tables_with("Quell") == {}
    assert not {place for place, text in written() if "Quell" in text}
    assert plain_text_count() == 0
    memory = Memory.objects.get(id=things["memory"].id)
    assert (memory.text, memory.sensitivity) == (REST, Sensitivity.CONFIDENTIAL)
    assert [one.content for one in memory.versions.order_by("version")] == ["[erased]", REST]
    document = Document.objects.get(id=things["document"].id)
    assert (document.path, document.content) == ("tea.md", REST)
    entity = Entity.objects.get(id=things["entity"].id)
    assert re.fullmatch(r"\[erased [0-9a-f]{8}\]", entity.name)
    assert entity.aliases == ["[erased] the elder", "Doc"]
    assert sorted(entity.names) == ["[erased]", "[erased] the elder", "doc"]
    assert TeamFile.objects.get(id=things["team_file"].id).content == REST
    assert Event.objects.get(id=things["event"].id).content == {"text": "[erased] called.", "by": ["[erased]", 7]}
    assert Memory.objects.get(id=internal.id).text == f"{REST} Cold."
    assert counts() == before
    for version in (*MemoryVersion.objects.all(), *TeamFileVersion.objects.filter(file=things["team_file"])):
        assert version.sha256 == hashlib.sha256(version.content.encode()).hexdigest()
    # What follows from the texts was made again, sealed.
    assert "[erased] drank 39 cups" in "".join(Chunk.objects.values_list("text", flat=True))
    assert "[erased] drank 39 cups" in "".join(FilePassage.objects.values_list("text", flat=True))
    assert not old & {bytes(one) for one in TextLevel.objects.values_list("text_sha256", flat=True)}
    assert not near & vectors()
    assert damage() == []


def test_sealed_titles_names_reasons_and_topics_are_found_and_erased(
    committed_database: str, agent: Agent, team: Team
) -> None:
    """The mentions of the person are a title, a reason and the topic of a context alone, all of them sealed."""
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.CONFIDENTIAL)
    agent.refresh_from_db()
    file = organisation_file_create(key="guests", title=f"About {NAME}", content="# Tea", principal=SYSTEM)
    file = level_set(row=file, level=Sensitivity.CONFIDENTIAL, principal=SYSTEM)
    facts = [
        MemoryFacts(kind="fact", text=text, sensitivity=Sensitivity.CONFIDENTIAL) for text in ("Tea at 4.", "Tea at 5.")
    ]
    left, right = (memory_create(owner=agent, facts=one, principal=SYSTEM) for one in facts)
    right = memory_update(
        memory=right,
        expected_version=1,
        facts=facts[1],
        superseded_by=None,
        retired_because=f"{NAME} said so",
        principal=SYSTEM,
    )
    conflict_between(left, right).decisions.create(action="undo", reason=f"{NAME} decided", by_ref="system")
    asked = AssemblyRequest(topic=f"When does {NAME} come?", sensitivity=Sensitivity.CONFIDENTIAL, profile="memory")
    record = assemble(agent=agent, asked=asked, principal=SYSTEM).assembly
    stranger = Agent.objects.create(slug="other", name="Other")
    other = assemble(agent=stranger, asked=AssemblyRequest(topic="Tea?"), principal=SYSTEM).assembly
    alert = alert_on(agent, name=NAME, detail={"why": f"{NAME} is cut."}, sensitivity=Sensitivity.CONFIDENTIAL)
    recall = recall_test_from_context(assembly=record, refs=[left.ref], principal=SYSTEM)
    follow_all()
    run_all_jobs()
    assert tables_with("Quell") == {}
    subject = scanned_subject()
    kinds = set(subject.mentions.values_list("ref_kind", flat=True))
    assert kinds == {"organisation_file", "memory", "context"}
    link_all(subject)
    assert {place for place, text in written() if "Quell" in text} == {
        *("organisation_files.title", "organisation_file_versions.title", "activities.target", "pieces.facts"),
        *("memories.retired_because", "memory_versions.retired_because", "conflict_decisions.reason"),
        *("assemblies.topic", "alerts.name", "alerts.detail", "recall_tests.name", "recall_tests.topic"),
    }

    erasure = begin(subject, whole=[])
    assert erasure.job_id
    job_run(job_id=erasure.job_id)
    erasure.refresh_from_db()
    assert erasure.state == "finished", Job.objects.get(id=erasure.job_id).error
    run_all_jobs()

    assert tables_with("Quell") == {}
    assert not {place for place, text in written() if "Quell" in text}
    assert OrganisationFile.objects.get(id=file.id).title == "About [erased]"
    assert Memory.objects.get(id=right.id).retired_because == "[erased] said so"
    assert ConflictDecision.objects.get().reason == "[erased] decided"
    assert Alert.objects.get(id=alert.id).detail == {"why": "[erased] is cut."}
    assert RecallTest.objects.get(id=recall.id).name == "When does [erased] come?"
    assert Activity.objects.get(action="organisation_file.created").target == "About [erased]"
    assert Assembly.objects.get(id=record.id).topic == ERASED
    assert Assembly.objects.get(id=other.id).topic == "Tea?"
    assert replay(load_record(Assembly.objects.get(id=other.id))).identical
    assert damage() == []
