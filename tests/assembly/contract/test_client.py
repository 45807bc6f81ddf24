"""The client in `examples/`, which knows the published schemas alone, meets every answer of a real server."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from agents.keys import api_key_create
from tests.assembly.one_of_each import everything
from tests.faults.processes import until
from tests.faults.test_web_processes import Server

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("committed_database")]
CLIENT = Path(__file__).parents[3] / "examples" / "memory_client.py"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """One that answers; all of it is gone afterwards."""
    monkeypatch.setenv("SECRET_KEY", settings.SECRET_KEY)  # under which the test makes its key
    server = Server(tmp_path, "--processes=1")
    until(server.answers, seconds=180)
    yield server
    if server.process.returncode is None:
        server.kill()
    assert server.is_gone()


def test_the_client_reads_memory_and_meets_every_code(server: Server) -> None:
    agent, _team = everything(timezone.now())
    _, key = api_key_create(agent=agent)
    # Isolated: it must not need anything but the standard library.
    command = [sys.executable, "-I", "-S", str(CLIENT), server.address, key, "Is the ink dry?"]
    finished = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    told = finished.stdout
    assert "FAIL" not in told
    for code in (
        "BUDGET_EXCEEDED", "QUALITY_BELOW_MINIMUM", "SOURCE_TIMEOUT", "request_id_reused", "404 not_found",
        "401 not_authenticated", "422 invalid",
    ):  # fmt: skip
        assert code in told
    assert told.count("ok  ") >= 20
    assert "Traceback" not in server.stop()


def test_without_arguments_it_says_how_it_is_used() -> None:
    finished = subprocess.run([sys.executable, "-I", str(CLIENT)], check=False, capture_output=True, text=True)
    assert finished.returncode == 2
    assert "python examples/memory_client.py" in finished.stdout
