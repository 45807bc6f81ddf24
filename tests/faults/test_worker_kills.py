"""Workers are killed in the middle of their jobs: nothing is lost, nothing is there twice, no process is left."""

import os
import signal
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from agents.models import Agent
from memories.embeddings.splitting import split_text
from memories.jobs.execution import WORKER_DIED
from memories.jobs.services import MAX_ATTEMPTS, job_create
from memories.models import Chunk, Document, Job, JobStatus
from memories.services.document import documents_create
from teams.principal import SYSTEM
from tests.faults.processes import kill, until
from tests.faults.worker import Command

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("committed_database")]

DOCUMENTS = 500
KILLS = (60, 250)  # when so many documents are split


@pytest.fixture
def commands() -> Iterator[list[Command]]:
    """What a test starts; all of it is gone afterwards."""
    started: list[Command] = []
    yield started
    left = [command.kill() for command in started if command.process.returncode is None]
    print(*left)  # whole, where the assertion shortens it
    assert not left
    assert all(command.is_gone() for command in started)


@pytest.mark.deep
def test_five_hundred_documents_survive_kills_of_their_workers(agent: Agent, commands: list[Command]) -> None:
    facts = [{"path": f"notes/{number}.md", "content": _content(number)} for number in range(DOCUMENTS)]
    documents_create(agent=agent, facts=facts, principal=SYSTEM)
    for moment in KILLS:
        commands.append(Command("work", "--concurrency=2"))
        until(lambda moment=moment: _split() >= moment, seconds=180)  # type: ignore[misc]
        commands[-1].kill()
        assert _split() < DOCUMENTS
        assert Job.objects.filter(status=JobStatus.RUNNING).exists()
    commands.append(Command("work", "--concurrency=2"))
    until(lambda: not Job.objects.exclude(status=JobStatus.DONE).exists(), seconds=180)
    commands[-1].stop()

    assert _chunks() == {
        document.id: [
            (position, piece.start, piece.end, piece.line, piece.text, 1)
            for position, piece in enumerate(split_text(path=document.path, language="", text=document.content))
        ]
        for document in Document.objects.all()
    }
    assert Document.objects.filter(split_version=1).count() == DOCUMENTS
    splitting = Job.objects.filter(kind="split_documents")
    attempts = list(splitting.values_list("attempts", flat=True))
    assert len(attempts) == DOCUMENTS // 50
    assert len(attempts) < sum(attempts) <= len(attempts) + 2 * len(KILLS)
    assert all(job.steps_done == job.steps == 50 for job in splitting)


@pytest.mark.deep
def test_a_job_that_kills_its_workers_is_given_up_and_harms_no_other(commands: list[Command]) -> None:
    deadly = job_create(kind="kill_worker", arguments={}, agent=None, principal=SYSTEM)
    failing = job_create(kind="fail", arguments={}, agent=None, principal=SYSTEM)
    unsent = Job.objects.create(kind="embed_missing")  # as after a crash between commit and message
    commands.append(Command("work", "--concurrency=2"))
    until(lambda: not Job.objects.filter(status__in=("queued", "running")).exists(), seconds=180)
    logged = commands[-1].stop()
    for job in (deadly, failing, unsent):
        job.refresh_from_db()
    assert (deadly.status, deadly.attempts, deadly.error) == ("parked", MAX_ATTEMPTS, WORKER_DIED)
    assert (failing.status, failing.attempts, failing.error) == ("parked", MAX_ATTEMPTS, "RuntimeError: as expected")
    assert (unsent.status, unsent.attempts) == ("done", 1)
    assert "the worker ended with code -9: starting another" in logged


def test_a_worker_stops_when_it_is_asked_to(commands: list[Command]) -> None:
    commands.append(Command("work"))
    job = job_create(kind="embed_missing", arguments={}, agent=None, principal=SYSTEM)
    until(lambda: Job.objects.filter(id=job.id, status="done").exists(), seconds=120)
    assert commands[-1].stop() == ""
    assert commands[-1].process.returncode == 0


@pytest.mark.deep
def test_workers_and_senders_outlive_their_connections(commands: list[Command]) -> None:
    commands.append(Command("work"))
    for _ in range(2):
        job = job_create(kind="embed_missing", arguments={}, agent=None, principal=SYSTEM)
        until(lambda job=job: Job.objects.filter(id=job.id, status="done").exists(), seconds=180)  # type: ignore[misc]
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename = current_user"
            )
            assert cursor.fetchone()[0] >= 3
    commands[-1].stop()


@pytest.mark.deep
def test_the_server_keeps_a_worker_that_ends_with_it(
    commands: list[Command], tmp_path: Path, agent: Agent, monkeypatch: Any
) -> None:
    server = Command("serve", "--port=0", DOSSIER_DATA_DIR=str(tmp_path))
    commands.append(server)
    until(lambda: len(server.workers()) == 1, seconds=180)
    [first] = server.workers()
    kill(first)
    until(lambda: len(server.workers()) == 1, seconds=120)
    job = job_create(kind="embed_missing", arguments={}, agent=None, principal=SYSTEM)
    until(lambda: Job.objects.filter(id=job.id, status="done").exists(), seconds=120)
    server.family()
    os.kill(server.process.pid, signal.SIGKILL)
    logged = server.end()
    assert logged.count("starting another") == 1
    assert "Fatal" not in logged


@pytest.mark.deep
def test_a_server_that_is_asked_to_stop_takes_its_worker_along(commands: list[Command], tmp_path: Path) -> None:
    server = Command("serve", "--port=0", DOSSIER_DATA_DIR=str(tmp_path))
    commands.append(server)
    until(lambda: len(server.workers()) == 1, seconds=180)
    assert server.stop() == ""


def _content(number: int) -> str:
    paragraphs = (f"Paragraph {part} of note {number} says that tea is ready. " * 8 for part in range(12))
    return f"# Note {number}\n\n" + "\n\n".join(paragraphs)


def _split() -> int:
    return Document.objects.exclude(split_version=0).count()


def _chunks() -> dict[Any, list[tuple[Any, ...]]]:
    found = defaultdict(list)
    columns = ("document_id", "position", "start", "end", "line", "text", "document_version")
    for document, *rest in Chunk.objects.order_by("position").values_list(*columns):
        found[document].append(tuple(rest))
    return dict(found)
