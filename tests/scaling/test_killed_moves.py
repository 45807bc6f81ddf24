"""Memories are written, searched and deleted while they are moved into partitions, and the move is killed."""

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
from threading import Event
from typing import Any

import pytest
from django.db import connections

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import agent_create
from config.db.partitions.divided_tables import is_divided
from config.db.statements import fetch_rows
from memories.models import Memory, MemoryVersion
from memories.search import owner_partition
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM
from tests.client import Answer, Api

EACH, AGENTS, KILLS, WRITERS = 300, 4, 5, 3
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
call_command("partition_tables", "--batch", "50", "--pause", "20")
"""


class Load:
    """What is asked for meanwhile: the answers that failed, and the texts that must be there at the end."""

    def __init__(self, agents: list[Agent]) -> None:
        self.agents, self.failed, self.done = agents, list[Any](), 0
        self.texts: dict[str, str] = {str(one.id): one.text for one in Memory.everything.all()}
        self.versions = dict.fromkeys(self.texts, 1)
        self.ended = Event()

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

    def read(self) -> None:
        """Search an agent that nobody writes: it always has the same answer."""
        agent = self.agents[-1]
        api, first = Api(api_key_create(agent=agent, name="Reader")[1]), None
        while not self.ended.is_set():
            found = self.check(api.get(f"agents/{agent.slug}/memories/search?q=When+does+roll+7+dry&limit=9"), 200)
            asked = {"agent": agent.slug, "topic": f"When does roll {self.done} of the paper dry?"}
            context = self.check(api.post("assemblies", asked), 201)
            first = first or found
            if found != first or not context["tokens"]:
                self.failed.append((found, first, context))

    @contextmanager
    def running(self) -> Iterator[None]:
        def run(job: Callable[[], None]) -> None:
            try:
                job()
            finally:
                connections.close_all()

        with ThreadPoolExecutor(WRITERS + 1) as pool:
            jobs = [pool.submit(run, lambda number=number: self.write(number)) for number in range(WRITERS)]  # type: ignore[misc]
            jobs.append(pool.submit(run, self.read))
            try:
                yield
            finally:
                self.ended.set()
            for job in jobs:
                job.result()


def move(database: str, seconds: float | None) -> int | None:
    """Run the move in a process of its own, and kill it after so many seconds; return its status, if it ended."""
    command, root = [sys.executable, "-c", MOVE, database], Path(__file__).parents[2]
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
    load, chance = Load(agents), random.Random()
    with load.running():
        for _ in range(KILLS):
            assert move(committed_database, chance.uniform(0.0, 0.8)) is None, "it was killed before its end"
        assert move(committed_database, None) == 0
    assert is_divided("memories")
    assert load.failed == []
    assert load.done > KILLS
    stored = fetch_rows("SELECT id::text, text, version, owner_id = agent_id FROM memories")
    assert len(stored) == len(load.texts)
    assert {id_: text for id_, text, _, _ in stored} == load.texts
    assert {id_: version for id_, _, version, _ in stored} == load.versions
    assert all(owned for _, _, _, owned in stored)
    assert MemoryVersion.objects.count() == sum(load.versions.values())
    owner_partition.notice_division(is_divided=False)
