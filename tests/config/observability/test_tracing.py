"""Sending traces: to a collector that listens, and past one that does not."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3]
PROGRAM = """
import os
from django.conf import settings
endpoint = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
settings.configure(TRACES_ENDPOINT=endpoint, TRACES_SERVICE_NAME="dossier-tried")
from config.observability.tracing import span, start_tracing
start_tracing()
with span("request", {"route": "/agents/"}) as current:
    print(current.is_recording())
"""


@pytest.fixture
def collected() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """The address of a collector, and what came in: paths and bodies."""
    bodies: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", bodies
        server.shutdown()
        thread.join()


def run(endpoint: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=FOLDER, env=environment, capture_output=True, text=True, check=False
    )


def test_spans_reach_the_collector_before_the_process_ends(collected: tuple[str, list[tuple[str, bytes]]]) -> None:
    address, bodies = collected
    finished = run(address)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "True\n", "")
    ((path, body),) = bodies
    assert path == "/v1/traces"
    assert b"request" in body
    assert b"/agents/" in body
    assert b"dossier-tried" in body


def test_a_collector_that_is_away_fails_nothing() -> None:
    finished = run("http://127.0.0.1:9")
    assert (finished.returncode, finished.stdout) == (0, "True\n")
    assert "Traceback" not in finished.stderr


def test_without_a_collector_nothing_is_recorded() -> None:
    assert run("").stdout == "False\n"
