"""Everything about a person is erased, everywhere, and the chain of seals proves what."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock
from uuid import UUID

import pytest
from django.conf import settings
from django.db import ProgrammingError, transaction

from agents.models import Agent
from assembly.models import Assembly, RecordErasure, Seal, UnusedKey
from assembly.models.assembly import EMPTIED_BODY
from assembly.models.encryption import RecordErased
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from assembly.records.seal_hashing import canonical_json
from config.caching.shared_cache import SharedCache
from config.caching.sqlite_store import SQLiteStore
from config.db.statements import fetch_rows
from config.keys import store
from memories.models import Document, Job, Memory
from memories.services import MemoryFacts, memory_create
from privacy.erasure import erasure_job
from privacy.erasure.places import Treatment, places_of
from privacy.models import SubjectErasure
from teams.models import Team, User
from teams.principal import SYSTEM
from tests import personas
from tests.client import Api
from tests.privacy.erasure.meaning import EMBEDDED, Meaning, alike, meaning, vectors_in
from tests.privacy.erasure.world import (
    MAIL,
    MENTIONING,
    Told,
    damage,
    destroyed_keys,
    erase,
    files_with,
    files_with_vectors,
    follow_all,
    recorded_texts_with,
    reread,
    run_all_jobs,
    stored_files,
    tables_with,
    tell,
    write_ahead_files,
)
from tests.privacy.subject_factories import NAME

owner, editor, teammate, team, agent = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent
)
[admin_api] = personas.once_per_module(personas.admin_api)
SAID = f"{NAME} likes green tea of Uji, brewed at seventy degrees for two minutes."
"""Almost what a memory says."""
SPELLINGS = (NAME, MAIL, "zora  quell", "Quell")


@dataclass
class Erased:
    """What was there before the erasure, and the erasure."""

    told: Told
    tables: dict[str, int]
    recorded: int
    files: list[str]
    damage: list[str]
    replayed: dict[UUID, str]
    erasure: SubjectErasure
    destroyed_keys: int
    meaning: Meaning
    vector_files: list[str]


@contextmanager
def topics_on_disk() -> Iterator[SharedCache]:
    """The cache of topics' vectors in the data folder, as other embedders than the bundled one use it."""
    store = SQLiteStore(settings.DATA_DIR / "cache" / "topic_vectors.sqlite3", 1_000_000)
    cache = SharedCache("disk", "topic_vectors", store)
    with mock.patch.object(erasure_job, "topic_vectors", return_value=cache):
        yield cache
    store.close()


@pytest.fixture(scope="module")
def erased(module_database: str, agent: Agent, team: Team, owner: User, admin_api: Api) -> Erased:
    told = tell(agent, team, owner, admin_api)
    replayed = {one.id: replay(load_record(one)).content for one in told.untouched}
    tables, before = tables_with(NAME), damage()
    recorded, keys, means = recorded_texts_with(NAME), destroyed_keys(), meaning(SAID)
    vectors = [vector for found in means.vectors.values() for vector in found]
    with topics_on_disk() as topics:
        topics.put(NAME.encode(), b"0123", 3_600)
        files, vector_files = files_with(NAME, stored_files()), files_with_vectors(vectors, stored_files())
        erasure = erase(told.subject)
    run_all_jobs()
    keys = destroyed_keys() - keys
    return Erased(told, tables, recorded, files, before, replayed, erasure, keys, means, vector_files)


def test_the_person_is_nowhere_afterwards(erased: Erased) -> None:
    told = {"memories", "memory_versions", "events", "documents", "chunks", "assemblies"}  # drafts are sealed
    stored = {"entities", "subject_identifiers", "text_levels", "context_files"}
    assert told | stored <= erased.tables.keys()
    assert {spelling: tables_with(spelling) for spelling in SPELLINGS} == {spelling: {} for spelling in SPELLINGS}
    assert erased.recorded, "they are encrypted"
    assert not any(recorded_texts_with(spelling) for spelling in SPELLINGS)


def test_the_keys_of_what_is_gone_are_destroyed(erased: Erased) -> None:
    emptied = {one.id.bytes for one in Assembly.everything.filter(body=EMPTIED_BODY)}
    assert emptied, "contexts whose requests name the person"
    assert store.is_destroyed(emptied).keys() == emptied
    assert not UnusedKey.objects.exists()


def test_the_report_says_how_many_keys_were_destroyed(erased: Erased) -> None:
    bodies = Assembly.everything.filter(body=EMPTIED_BODY)
    said = erased.erasure.report["keys"]
    assert said["destroyed"] == erased.destroyed_keys > bodies.count()
    assert said["places"] == {"assemblies": bodies.count(), "stored_texts": said["destroyed"] - bodies.count()}
    assert said["agents"] == dict(Counter(str(one.agent_id) for one in bodies))


def test_the_bytes_are_gone_from_the_files_of_tables_indexes_and_catalogues(erased: Erased) -> None:
    assert any("topic_vectors" in file for file in erased.files), "the cache on the disk, by the key"
    assert files_with("Quell", stored_files()) == []


def test_no_search_by_meaning_finds_it(erased: Erased) -> None:
    before = erased.meaning
    assert {table for table, _column in before.columns} <= EMBEDDED.keys(), "the erasure knows each table with vectors"
    assert {"memories", "entities", "chunks"} <= before.vectors.keys()
    assert any("Quell" in text for text in before.nearest)
    after = meaning(SAID)
    assert after.columns == before.columns
    assert not any("quell" in text.casefold() for text in after.nearest)
    gone = [vector for vectors in before.vectors.values() for vector in vectors]
    for table, column in after.columns:
        assert not any(alike(one, other) for one in vectors_in(table, column) for other in gone), (table, column)


def test_no_bytes_of_its_vectors_are_left_in_tables_and_indexes(erased: Erased) -> None:
    for place in ("memories", "chunks", "memory_embedding_meaning"):
        assert any(place in file for file in erased.vector_files), place
    gone = [vector for vectors in erased.meaning.vectors.values() for vector in vectors]
    assert files_with_vectors(gone, stored_files()) == []


def test_what_cannot_be_searched_is_emptied_and_what_was_sent_or_queued_is_clean(erased: Erased) -> None:
    assert {"import_plans", "webhook_deliveries", "jobs"} <= erased.tables.keys()
    for place in places_of(Treatment.EMPTIED):
        [[rows]] = fetch_rows(f"SELECT count(*) FROM {place.table}")  # noqa: S608 - a constant
        assert rows == 0, place.table
    assert Job.objects.get(kind="unknown").arguments == {"of": "[erased]"}


def test_write_ahead_files_that_still_have_it_are_named(erased: Erased) -> None:
    named = erased.erasure.report["write_ahead"]["segments"]
    still = files_with("Quell", write_ahead_files())
    assert {name for name in still if name <= max(named)} <= set(named)


def test_the_records_still_verify_and_all_others_replay_byte_for_byte(erased: Erased) -> None:
    assert erased.damage == damage() == []
    for one in erased.told.untouched:
        assert replay(load_record(Assembly.everything.get(id=one.id))).content == erased.replayed[one.id]
        assert replay(load_record(Assembly.everything.get(id=one.id))).identical


def test_the_report_says_what_was_destroyed_and_has_no_names(erased: Erased) -> None:
    report = erased.erasure.report
    assert report["search"]["found"] == report["search"]["found_by_vector"] == 0
    assert report["search"]["vectors"] > 0
    assert report["write_ahead"]["segments"]
    assert bool(report["write_ahead"]["gone_by"]) is not bool(
        report["write_ahead"]["notes"]
    )  # tests of standbys keep some
    assert {line["place"]: line["destroyed"] for line in report["places"]}["documents"] >= 2
    assert {line["place"]: line["destroyed"] for line in report["places"]}["idempotent_requests"] >= 1
    assert report["things"]["memories"] >= 3
    assert report["things"]["relations"] >= 1  # although they would go with their entities
    assert report["records"]["pieces"] > 0
    assert report["records"]["topics"] == MENTIONING
    assert set(report["rewritten"].values()) == {"written anew"}
    assert "Quell" not in str(report)


def test_the_report_is_sealed_and_what_was_looked_for_forgotten(erased: Erased) -> None:
    erasure = erased.erasure
    assert erasure.sealed_spellings == ""
    last = RecordErasure.objects.exclude(report="").get(erasure=erasure.id)
    assert last.report == canonical_json(erasure.report).decode()
    assert hashlib.sha256(last.report.encode()).digest() == bytes(erasure.sha256 or b"")
    assert Seal.objects.filter(erasure=last.id).exists()
    subject = reread(erased.told.subject)
    assert (subject.name, subject.note) == ("[erased]", "")
    assert subject.erased_at
    assert not subject.identifiers.exists()


def test_long_texts_stay_without_the_spellings_and_are_searched_again(erased: Erased) -> None:
    letters = Document.everything.get(path="letters.md")
    assert letters.content.startswith("Paragraph 0: [erased] asked about tea")
    assert letters.chunks.exists()
    assert not Memory.everything.filter(id=erased.told.memory.id).exists()


def test_a_context_says_what_is_gone_and_when(erased: Erased) -> None:
    gone = list(Assembly.everything.exclude(agent_slug="other"))
    assert len(gone) >= MENTIONING
    for one in gone:
        with pytest.raises(RecordErased) as refused:
            replay(load_record(one))
        assert refused.value.status == 410
        assert f"Erasure {erased.erasure.number} removed" in refused.value.detail


def test_the_same_text_can_be_recorded_again(erased: Erased, agent: Agent) -> None:
    text = f"{NAME} prefers white tea now."
    memory_create(owner=agent, facts=MemoryFacts(kind="preference", text=text), principal=SYSTEM)
    made = assemble(agent=agent, asked=AssemblyRequest(topic="tea"), principal=SYSTEM)
    assert text in made.content
    follow_all()
    assert damage() == []
    assert replay(load_record(Assembly.everything.get(id=made.assembly.id))).identical


def test_an_erasure_can_be_neither_deleted_nor_changed(erased: Erased) -> None:
    rows = SubjectErasure.objects.filter(id=erased.erasure.id)
    with pytest.raises(ProgrammingError), transaction.atomic():
        rows.delete()
    with pytest.raises(ProgrammingError), transaction.atomic():
        rows.update(reason="another")
