"""Data folders with a server of their own, and what shares them. No test leaves a process behind."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config.postgres.embedded import EmbeddedPostgres
from tests.faults.client import Client
from tests.faults.processes import processes
from tests.faults.sessions import execute


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder whose server and supervisor are gone after the test."""
    folder = tmp_path / "var"
    yield folder
    EmbeddedPostgres(folder).detach(wait=True)
    left = processes(folder)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert not left
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stopped data folder with one committed row, to be copied."""
    folder = tmp_path_factory.mktemp("original") / "var"
    server = EmbeddedPostgres(folder)
    server.attach()
    execute(server, "CREATE TABLE kept AS SELECT 1 AS value")
    server.detach(wait=True)
    return folder


@pytest.fixture
def server(data: Path, original: Path) -> EmbeddedPostgres:
    """A running server with one committed row."""
    subprocess.run(["/bin/cp", "-a", str(original), str(data)], check=True)
    server = EmbeddedPostgres(data)
    server.attach()
    return server


@pytest.fixture(scope="module")
def quiet_server(original: Path) -> Iterator[EmbeddedPostgres]:
    """A running server for the tests that do it no harm."""
    server = EmbeddedPostgres(original)
    server.attach()
    yield server
    server.detach(wait=True)
    assert not processes(original)


@pytest.fixture
def another(data: Path) -> Iterator[Callable[[], Client]]:
    """Makes attached client processes, which do not outlive the test."""
    clients: list[Client] = []

    def start() -> Client:
        clients.append(Client(data))
        clients[-1].tell("attach")
        return clients[-1]

    yield start
    for client in clients:
        client.kill()


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with us and must survive."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"]) as process:
        yield process
        survived = process.poll() is None
        process.kill()
    assert survived
