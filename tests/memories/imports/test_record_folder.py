"""Importing records: exactly, and once however often it is done."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from agents.services import agent_create
from memories.api.documents import MAX_CONTENT_CHARACTERS
from memories.embeddings.indexing import split_documents
from memories.imports.record_folder import load_records
from memories.imports.record_import import records_import
from memories.models import Chunk, Document, Entity, Event, Job, Pattern, Relation, Session, TaskFrame, Thread, Tool
from memories.services import agent_items_create
from teams.principal import SYSTEM
from tests.memories.imports.record_folders import LINES, fill, load, rows, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fill(tmp_path)
    return tmp_path


def test_it_stores_everything_exactly(folder: Path, capsys: Any) -> None:
    said = load(folder, capsys)
    agent = Agent.objects.get()
    assert (agent.slug, agent.name) == ("ada-two", "Ada Two")
    first, second = Session.objects.order_by("started_at")
    assert (first.title, first.external_id) == ("First run", "run-1")
    assert (second.external_id, second.started_at.hour) == ("run-2", 8)  # made for its events, at the first of them
    leaf = TaskFrame.objects.get(external_id="leaf")
    assert (leaf.parent and leaf.parent.goal, leaf.depth, leaf.session) == ("Plan the feast", 1, first)
    read = Event.objects.get(type="file_read")
    assert (read.session, read.task, read.content) == (first, leaf, {"path": "plan.md"})
    ada = Entity.objects.get(type="Person")
    assert (ada.names, ada.salience, ada.embedding is not None) == (["ada", "the countess"], 0.9, True)
    ends = {(way.source.type, way.type, way.target.type) for way in Relation.objects.all()}
    assert ends == {("Person", "lives_in", "Place"), ("Person", "made", "Engine")}
    assert Pattern.objects.get().success_rate == 0.75
    assert (Thread.objects.get().title, Tool.objects.get().schema) == ("The feast", {"type": "object"})
    assert "1 session (1 new), 2 tasks (2 new), 3 events (3 new), 3 entities (3 new), 2 relations (2 new)" in said
    assert "1 pattern (1 new), 1 thread (1 new), 1 tool (1 new), 2 documents (2 new, 0 changed)." in said


def test_text_files_become_documents_which_a_job_splits(folder: Path, capsys: Any) -> None:
    said = load(folder, capsys)
    kept = Document.objects.order_by("path").values_list("path", "language", "content", "is_open")
    assert list(kept) == [
        ("notes/sum.py", "python", "print(1 + 1)\n", False),
        ("plan.md", "markdown", "# Plan\r\n\r\nBake. \r\n", False),
    ]
    assert "Documents are split and embedded in the background" in said
    split_documents(Job.objects.get(kind="split_documents"), lambda _: None)
    assert Chunk.objects.count() == 2


def test_importing_twice_adds_nothing(folder: Path, capsys: Any) -> None:
    load(folder, capsys)
    before = rows()
    said = load(folder, capsys)
    assert rows() == before
    assert "3 events (0 new), 3 entities (0 new), 2 relations (0 new)" in said
    assert "2 documents (0 new, 0 changed)" in said
    assert "in the background" not in said


def test_a_new_line_is_added_wherever_it_stands(folder: Path, capsys: Any) -> None:
    load(folder, capsys)
    write(folder, "tasks", [{"goal": "Bake", "parent_key": "leaf"}, *LINES["tasks"]])
    lines = [{"type": "Person", "name": "Bo"}, *reversed(LINES["entities"])]
    write(folder, "entities", [*lines, lines[0]])  # a line that is there twice says one thing
    said = load(folder, capsys)
    assert "3 tasks (1 new)" in said
    assert "5 entities (1 new)" in said
    assert TaskFrame.objects.get(goal="Bake").depth == 2


def test_keys_may_name_what_was_stored_before(folder: Path, capsys: Any) -> None:
    load(folder, capsys)
    for name in LINES:
        (folder / f"{name}.jsonl").unlink()
    write(folder, "events", [{"type": "note", "content": {}, "session_key": "run-1", "task_key": "root"}])
    write(folder, "relations", [{"type": "near", "source_name": "London", "target_key": "place-1"}])
    load(folder, capsys)
    assert Event.objects.get(type="note").session == Session.objects.get(external_id="run-1")
    assert Relation.objects.get(type="near").target.name == "London"


def test_a_changed_file_is_the_next_version_of_its_document(folder: Path, capsys: Any) -> None:
    load(folder, capsys)
    (folder / "documents" / "plan.md").write_text("# Plan\n\nBuy.\n")
    assert "2 documents (0 new, 1 changed)" in load(folder, capsys)
    plan = Document.objects.get(path="plan.md")
    assert (plan.version, plan.content) == (2, "# Plan\n\nBuy.\n")
    assert Job.objects.count() == 2


def test_what_the_agent_keeps_already_is_left_alone(folder: Path, capsys: Any) -> None:
    agent = agent_create(slug="ada-two", name="Countess")
    agent_items_create(
        model=Thread, agent=agent, facts=[{"title": "The feast", "external_id": "feast"}], principal=SYSTEM
    )
    write(folder, "threads", [{"title": "Another", "external_id": "feast"}])
    assert "1 thread (0 new)" in load(folder, capsys)
    assert (Thread.objects.get().title, Agent.objects.get().name) == ("The feast", "Countess")


def test_what_is_no_record_is_left_aside_and_named(folder: Path, capsys: Any) -> None:
    documents = folder / "documents"
    (documents / ".git").mkdir()
    (documents / ".git" / "HEAD").write_text("ref")
    for name, data in ((".env", b"x"), ("logo.png", b"\x89PNG\xff"), ("null.txt", b"a\0b")):
        (documents / name).write_bytes(data)
    (documents / "long.txt").write_text("x" * (MAX_CONTENT_CHARACTERS + 1))
    (documents / "again").symlink_to("notes")
    (folder / "README.md").write_text(". They are not records, or hidden, or not valid text.")
    said = load(folder, capsys)
    assert "Skipped: README.md, documents/.git/, documents/again/, documents/.env, documents/logo.png and" in said
    assert set(Document.objects.values_list("path", flat=True)) == {"plan.md", "notes/sum.py"}
    names = load_records(folder).ignored_names
    assert {"documents/null.txt", "documents/long.txt"} < set(names)


def test_a_link_within_the_folder_is_followed(folder: Path, capsys: Any) -> None:
    (folder / "documents" / "copy.md").symlink_to("plan.md")
    load(folder, capsys)
    assert Document.objects.get(path="copy.md").content == Document.objects.get(path="plan.md").content


def many(folder: Path, number: int) -> None:
    day = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
    for name in LINES:
        (folder / f"{name}.jsonl").unlink(missing_ok=True)
    write(folder, "sessions", [{"external_id": f"s{at}"} for at in range(number)])
    write(folder, "tasks", [{"goal": "Do it", "session_key": f"s{at}"} for at in range(number)])
    at_minute = [(day + datetime.timedelta(minutes=at)).isoformat() for at in range(number)]
    event = {"type": "note", "content": {"text": "x"}}
    write(folder, "events", [{**event, "session_key": f"s{at}", "occurred_at": at_minute[at]} for at in range(number)])
    write(folder, "entities", [{"type": "Thing", "name": f"E{at}"} for at in range(number)])
    ends = [{"source_name": f"E{at}", "target_name": f"E{at // 2}"} for at in range(number)]
    write(folder, "relations", [{"type": "near", **end} for end in ends])


def test_more_lines_take_no_more_statements(folder: Path) -> None:
    statements = []
    for agent, number in (("few", 5), ("many", 900)):
        many(folder, number)
        records = load_records(folder)
        with CaptureQueriesContext(connection) as queries:
            records_import(records=records, agent=agent, principal=SYSTEM, advance=lambda _: None)
        statements.append(len(queries))
    assert statements[0] == statements[1]


def test_many_tools_are_checked_in_batches_that_fit(folder: Path) -> None:
    schema = {"type": "object", "description": "x" * 19_900}
    write(folder, "tools", [{"name": f"tool {number}", "schema": schema} for number in range(25)])
    records_import(records=load_records(folder), agent="ada", principal=SYSTEM, advance=lambda _: None)
    assert Tool.objects.count() == 25


def test_progress_counts_every_line_and_document(folder: Path) -> None:
    records, done = load_records(folder), list[int]()
    records_import(records=records, agent="ada", principal=SYSTEM, advance=done.append)
    assert sum(done) == records.size == 16
