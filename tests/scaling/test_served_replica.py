"""A server with two web processes, its worker, PostgreSQL, and a standby that is held back by 30 s and then killed."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.db import connections

from agents.keys import api_key_create
from agents.models import Agent
from memories.models import Job, JobStatus
from tests.faults.processes import until
from tests.faults.worker import Command, address_of
from tests.scaling.debian_servers import free_port
from tests.scaling.standby_server import Standby

pytestmark = [pytest.mark.deep, pytest.mark.faults, pytest.mark.usefixtures("committed_database")]

ROUNDS = 15


@pytest.fixture
def server(replica: Standby, tmp_path: Path) -> Iterator[str]:
    """The address of a server that reads what may be late from the standby."""
    port = free_port()
    environment = {
        "DATABASE_REPLICA_URL": address_of(replica.facts(connections["default"].settings_dict)),
        "DOSSIER_DATA_DIR": str(tmp_path),
        "SECRET_KEY": settings.SECRET_KEY,  # which hashes keys of agents
    }
    command = Command("serve", f"--port={port}", "--processes=2", **environment)
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: _is_up(address), seconds=180)
        yield address
    finally:
        command.stop()
    assert command.is_gone()


def _is_up(address: str) -> bool:
    try:
        return httpx.get(f"{address}/accounts/login/", timeout=30).status_code == 200
    except httpx.TransportError:
        return False


def _answered(address: str) -> dict[str, float]:
    """How many requests were answered by the replica, or else why by the primary, in all processes."""
    document = httpx.get(f"{address}/metrics", timeout=30).text
    found = re.findall(r'^database_replica_requests_total\{outcome="(\w+)"\} ([\d.]+)$', document, re.MULTILINE)
    return {outcome: float(number) for outcome, number in found}


def _client(address: str, agent: Agent, name: str) -> httpx.Client:
    key = api_key_create(agent=agent, name=name)[1]
    return httpx.Client(base_url=f"{address}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=60)


def test_nothing_just_written_is_missed_while_the_replica_is_late_or_dead(
    agent: Agent, server: str, replica: Standby
) -> None:
    with (
        _client(server, agent, "writer") as writer,
        _client(server, agent, "requester") as requester,
        _client(server, agent, "reader") as reader,
    ):
        replica.catch_up()
        assert reader.get("/agents/ada/memories").json()["results"] == []
        assert _answered(server) == {"replica": 1}
        replica.hold_back(30)
        written = [_write_and_assemble(writer, requester, number) for number in range(ROUNDS)]
        listed = writer.get("/agents/ada/memories").json()["results"]
        assert {row["text"] for row in listed} == set(written)
        late = reader.get("/agents/ada/memories").json()["results"]
        assert _answered(server) == {"replica": 2, "own_write": 1}
        assert late == []
        replica.hold_back(0)
        replica.catch_up()
        assert len(writer.get("/agents/ada/memories").json()["results"]) == ROUNDS
        assert _answered(server) == {"replica": 3, "own_write": 1}
        replica.kill()
        for number in range(ROUNDS, ROUNDS + 5):
            written.append(_write_and_assemble(writer, requester, number))
            assert len(reader.get("/agents/ada/memories").json()["results"]) == number + 1
        assert _answered(server) == {"replica": 3, "own_write": 1, "unavailable": 5}
    until(lambda: not Job.objects.exclude(status=JobStatus.DONE).exists(), seconds=180)


def _write_and_assemble(writer: httpx.Client, requester: httpx.Client, number: int) -> str:
    """Store a memory with one key, find it at once in a context of the other key, and return its text."""
    text = f"Customer {number} pays by invoice."
    assert writer.post("/agents/ada/memories", json={"text": text, "kind": "fact"}).status_code == 201
    context = requester.post("/assemblies", json={"agent": "ada", "topic": text})
    assert context.status_code == 201, context.text
    assert text in context.json()["content"]
    return text
