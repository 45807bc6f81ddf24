"""All large tables are written, searched and emptied while they are moved into partitions, and moves are killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event as Signal
from typing import Any
from uuid import UUID

import pytest
from django.db import connections
from django.utils import timezone

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import agent_create
from assembly.models import Assembly
from assembly.records.reader import load_record, replay
from config.db.partitions.divided_tables import DIVIDED, is_divided
from config.db.statements import fetch_rows
from memories.embeddings.indexing import document_split
from memories.models import Chunk, Event, Memory, MemoryVersion
from memories.search import owner_partition
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM
from tests.assembly.contexts.context_rows import context, piece
from tests.client import Answer, Api

EACH, AGENTS, KILLS, WRITERS = 300, 4, 5, 3
OTHERS = [f"--table={table}" for table in DIVIDED if table != "memories"]
"""These tables are moved by one process, which is killed once; the moves of memories are killed KILLS times."""
MOVE = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
from django.conf import settings
for database in settings.DATABASES.values():
    database["NAME"] = sys.argv[1]
django.setup()
from django.core.management import call_command
print("begins", flush=True)
call_command("partition_tables", "--batch", "50", "--pause", "20", *sys.argv[2:])
"""


class Load:
    """What is asked for meanwhile: the answers that failed, and the texts that must be there at the end."""

    def __init__(self, agents: list[Agent]) -> None:
        self.agents, self.failed, self.done = agents, list[Any](), 0
        self.texts: dict[str, str] = {str(one.id): one.text for one in Memory.everything.all()}
        self.versions = dict.fromkeys(self.texts, 1)
        self.events = {str(id_) for id_ in Event.objects.values_list("id", flat=True)}
        self.chunks: dict[str, int] = {}
        self.contexts = {str(id_) for id_ in Assembly.objects.values_list("id", flat=True)}
        self.ended = Signal()

    def check(self, answer: Answer, status: int) -> Any:
        self.done += 1
        if answer.status_code != status:
            self.failed.append((answer.status_code, answer.content))
        return answer.json() if answer.content else None

    def write(self, number: int) -> None:
        """Create, change and delete memories of one agent, whose rows nobody else writes."""
        agent, chance = self.agents[number], random.Random(number)
        api, path = Api(api_key_create(agent=agent, name="Writer")[1]), f"agents/{agent.slug}/memories"
        own = [str(id_) for id_ in Memory.everything.filter(agent=agent).values_list("id", flat=True)]
        while not self.ended.is_set():
            made = self.check(api.post(path, {"kind": "fact", "text": f"Sheet {self.done} is dry."}), 201)
            own.append(made["id"])
            self.texts[made["id"]], self.versions[made["id"]] = made["text"], 1
            changed, deleted = chance.sample(own, 2)
            version = self.versions[changed]
            text = f"{self.texts[changed]} And so on."
            self.check(api.patch(f"{path}/{changed}", {"text": text}, if_match=f'"{version}"'), 200)
            self.texts[changed], self.versions[changed] = text, version + 1
            self.check(api.delete(f"{path}/{deleted}"), 204)
            own.remove(deleted)
            del self.texts[deleted], self.versions[deleted]

    def keep(self) -> None:
        """Create and delete events, documents with chunks, and contexts of an agent that has no other rows."""
        agent = agent_create(slug="keeper", name="Keeper")
        api, path = Api(api_key_create(agent=agent, name="Keeper")[1]), f"agents/{agent.slug}"
        while not self.ended.is_set():
            body = {"type": "message", "content": {"text": f"Sheet {self.done}"}}
            kept, gone = (self.check(api.post(f"{path}/events", body), 201)["id"] for _ in range(2))
            self.check(api.delete(f"{path}/events/{gone}"), 204)
            self.events.add(kept)
            document = {"path": f"{kept}.md", "content": f"The ink of sheet {self.done} dries in a day.\n\n" * 40}
            made = self.check(api.post(f"{path}/documents", document), 201)["id"]
            document_split(id_=UUID(made))
            self.chunks[made] = Chunk.objects.filter(document_id=made).count()
            if len(self.chunks) > 1:
                former = self.chunks.popitem() if self.done % 2 else (made, self.chunks.pop(made))
                self.check(api.delete(f"{path}/documents/{former[0]}"), 204)
            self.ask(api, agent, f"When does sheet {self.done} dry?")

    def ask(self, api: Api, agent: Agent, topic: str) -> Any:
        made = self.check(api.post("assemblies", {"agent": agent.slug, "topic": topic}), 201)
        self.contexts.add(made["id"])
        return made

    def read(self) -> None:
        """Search an agent that nobody writes: it always has the same answer."""
        agent = self.agents[-1]
        api, first = Api(api_key_create(agent=agent, name="Reader")[1]), None
        while not self.ended.is_set():
            found = self.check(api.get(f"agents/{agent.slug}/memories/search?q=When+does+roll+7+dry&limit=9"), 200)
            made = self.ask(api, agent, f"When does roll {self.done} of the paper dry?")
            first = first or found
            if found != first or not made["tokens"]:
                self.failed.append((found, first, made))

    @contextmanager
    def running(self) -> Iterator[None]:
        def run(job: Callable[[], None]) -> None:
            try:
                job()
            finally:
                connections.close_all()

        with ThreadPoolExecutor(WRITERS + 2) as pool:
            jobs = [pool.submit(run, lambda number=number: self.write(number)) for number in range(WRITERS)]  # type: ignore[misc]
            jobs += [pool.submit(run, job) for job in (self.keep, self.read)]
            try:
                yield
            finally:
                self.ended.set()
            for job in jobs:
                job.result()


def move(database: str, seconds: float | None, *arguments: str) -> int | None:
    """Run the move in a process of its own, and kill it after so many seconds; return its status, if it ended."""
    command, root = [sys.executable, "-c", MOVE, database, *arguments], Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root, env=os.environ) as process:
        assert process.stdout
        process.stdout.readline()
        if seconds is None:
            process.stdout.read()
            return process.wait()
        time.sleep(seconds)
        ended = process.poll()
        process.send_signal(signal.SIGKILL)
    return ended


@pytest.mark.deep
def test_nothing_is_lost_or_there_twice_and_no_request_fails(committed_database: str) -> None:
    agents = [agent_create(slug=f"agent-{number}", name=f"Agent {number}") for number in range(AGENTS)]
    for agent in agents:
        facts = [MemoryFacts(kind="fact", text=f"Roll {number} of the paper dries.") for number in range(EACH)]
        memories_create(owner=agent, facts=facts, principal=SYSTEM)
        happened = {"agent": agent, "type": "message", "content": {}, "size": 2, "occurred_at": timezone.now()}
        Event.objects.bulk_create(Event(**happened) for _ in range(EACH))
        for minutes in range(EACH // 10):
            row = context(agent, age=minutes)
            piece(f"event:{row.id}@1")
    load, chance = Load(agents), random.Random()
    with load.running():
        for _ in range(KILLS):
            ended = move(committed_database, chance.uniform(0.0, 0.8), "--table", "memories")
            assert ended is None, "it was killed before its end"
        assert move(committed_database, chance.uniform(0.0, 2.0), *OTHERS) in {None, 0}
        assert move(committed_database, None) == 0
    assert [table for table in DIVIDED if not is_divided(table)] == []
    assert load.failed == []
    assert load.done > KILLS
    stored = fetch_rows("SELECT id::text, text, version, owner_id = agent_id FROM memories")
    assert len(stored) == len(load.texts)
    assert {id_: text for id_, text, _, _ in stored} == load.texts
    assert {id_: version for id_, _, version, _ in stored} == load.versions
    assert all(owned for _, _, _, owned in stored)
    assert MemoryVersion.objects.count() == sum(load.versions.values())
    kept = [str(id_) for (id_,) in fetch_rows("SELECT id FROM events")]
    assert sorted(kept) == sorted(load.events)
    chunks = fetch_rows("SELECT document_id::text, count(*), count(DISTINCT id) FROM chunks GROUP BY 1")
    assert {document: (rows, ids) for document, rows, ids in chunks} == {
        document: (rows, rows) for document, rows in load.chunks.items()
    }
    records = {str(one.id): one for one in Assembly.objects.all()}
    assert sorted(records) == sorted(load.contexts)
    made = [one for one in records.values() if one.body]
    assert made
    assert all(replay(load_record(one)).identical for one in made)
    assert len(records) == Assembly.objects.count()
    owner_partition.notice_division(is_divided=False)
