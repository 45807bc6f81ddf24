"""A server and its worker behind PgBouncer in transaction mode: many clients share a few sessions of PostgreSQL."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import connections

from agents.keys import api_key_create
from agents.models import Agent
from memories.models import Job, JobStatus, Memory
from teams.principal import SYSTEM
from tests.faults.processes import until
from tests.faults.worker import Command, address_of
from tests.scaling.debian_servers import POOL_SIZE, free_port, pgbouncer, sessions_on

pytestmark = [pytest.mark.deep, pytest.mark.faults, pytest.mark.usefixtures("committed_database")]

CLIENTS, ROUNDS = 12, 5


@pytest.fixture
def pooler_port() -> Iterator[int]:
    with pgbouncer(connections["default"].settings_dict) as port:
        yield port


@pytest.fixture
def address(pooler_port: int, tmp_path: Path) -> Iterator[str]:
    """The address of a server with two web processes and a worker, all behind PgBouncer."""
    facts = connections["default"].settings_dict
    port = free_port()
    pooled = f"postgresql://{facts['USER']}@127.0.0.1:{pooler_port}/{facts['NAME']}"
    environment = {
        "DATABASE_URL": pooled,
        "DATABASE_DIRECT_URL": address_of(facts),
        "DOSSIER_DATA_DIR": str(tmp_path),
        "SECRET_KEY": settings.SECRET_KEY,  # which hashes keys of agents
    }
    server = Command("serve", f"--port={port}", "--processes=2", **environment)
    try:
        until(lambda: _is_up(f"http://127.0.0.1:{port}"), seconds=180)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop()
    assert server.is_gone()


def _is_up(address: str) -> bool:
    try:
        return httpx.get(f"{address}/accounts/login/", timeout=30).status_code == 200
    except httpx.TransportError:
        return False


def test_writes_searches_contexts_and_jobs_share_a_few_sessions(agent: Agent, address: str, pooler_port: int) -> None:
    key = api_key_create(agent=agent, name="client", principal=SYSTEM)[1]

    def client(number: int) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=f"{address}/api/v1", headers=headers, timeout=60) as api:
            for round_ in range(ROUNDS):
                text = f"Customer {number}-{round_} pays by invoice."
                _ok(api.post(f"/agents/{agent.slug}/memories", json={"text": text, "kind": "fact"}))
                found = _ok(api.get(f"/agents/{agent.slug}/memories/search", params={"q": text}))
                assert text in [row["text"] for row in found["results"]]
                context = _ok(api.post("/assemblies", json={"agent": agent.slug, "topic": text}))
                assert text in context["content"]

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(client, range(CLIENTS)))
        assert 0 < sessions_on(pooler_port, connections["default"].settings_dict["NAME"]) <= POOL_SIZE
    assert Memory.objects.filter(agent=agent).count() == CLIENTS * ROUNDS
    until(lambda: not Job.objects.exclude(status=JobStatus.DONE).exists(), seconds=180)


def _ok(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()
