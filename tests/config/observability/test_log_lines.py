"""How log lines look, and what is not said too often."""

import asyncio
import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any, cast

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agents.keys import api_key_create
from agents.services import agent_create
from config.asgi import application
from config.observability import tracing
from config.observability.log_lines import TELEMETRY_INTERVAL_SECONDS, TelemetryThrottle, json_lines, readable_lines
from memories.jobs.execution import job_run
from memories.jobs.services import KINDS, job_create
from teams.principal import SYSTEM
from tests.memories.agent_items import things_of


def record(name: str = "agents", message: str = "saved %s", **extra: Any) -> logging.LogRecord:
    line = logging.LogRecord(name, logging.WARNING, __file__, 1, message, ("it",), None)
    line.__dict__.update(extra)
    return line


def test_a_line_of_the_standard_library_is_one_json_object() -> None:
    facts = json.loads(json_lines().format(record(message="saved %s\nand more")))
    assert facts.pop("timestamp").endswith("Z")
    assert facts == {"event": "saved it\nand more", "level": "warning", "logger": "agents"}


def test_what_libraries_attach_stays_away() -> None:
    line = json_lines().format(record(request="<GET /?topic=secret>", body="secret", status=404))
    assert "secret" not in line
    assert json.loads(line)["status"] == 404


@pytest.mark.parametrize("lines", [json_lines, readable_lines])
def test_a_traceback_shows_no_variables(lines: Any) -> None:
    try:
        int("x" * len(secret := "kept to ourselves"))
    except ValueError:
        line = record()
        line.exc_info = sys.exc_info()
    text = lines().format(line)
    assert "ValueError" in text
    assert "Traceback (most recent call last)" in text
    assert f"'{secret}'" not in text


def test_a_readable_line_is_plain_text() -> None:
    text = readable_lines().format(record())
    assert "saved it" in text
    assert "\x1b" not in text


def test_telemetry_complains_seldom_and_others_always(monkeypatch: pytest.MonkeyPatch) -> None:
    seldom, now = TelemetryThrottle(), 1000.0
    monkeypatch.setattr("config.observability.log_lines.time.monotonic", lambda: now)
    telemetry = record("opentelemetry.exporter.otlp")
    assert [seldom.filter(telemetry) for _ in range(3)] == [True, False, False]
    assert [seldom.filter(record()) for _ in range(3)] == [True, True, True]
    now += TELEMETRY_INTERVAL_SECONDS
    assert [seldom.filter(telemetry) for _ in range(2)] == [True, False]


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """All log lines at INFO, as JSON."""
    text, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(text), root.level
    handler.setFormatter(json_lines())
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield text
    root.removeHandler(handler)
    root.setLevel(level)


def test_the_lines_of_a_job_say_its_id(
    committed_database: str, written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "test", lambda *_: logging.getLogger("memories.test").info("half of it"))
    job = job_create(kind="test", arguments={}, agent=None, principal=SYSTEM)
    job_run(job_id=job.id)
    logging.getLogger("memories.test").info("afterwards")
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    said = [(line["event"], line.get("job")) for line in lines if line["logger"].startswith("memories")]
    assert said == [("half of it", str(job.id)), ("the job is done", str(job.id)), ("afterwards", None)]


def test_lines_and_spans_of_a_view_belong_to_its_request_when_uvicorn_serves_it(
    committed_database: str, written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", provider.get_tracer("test"))
    agent = agent_create(slug="ada", name="Ada")
    key = api_key_create(agent=agent, name="Ada's key")[1]
    session = things_of(agent)["sessions"]

    async def ask() -> None:
        transport = httpx.ASGITransport(cast("Any", application))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost/api/v1/") as client:
            client.headers["Authorization"] = f"Bearer {key}"
            deleted = client.delete(f"agents/ada/sessions/{session.id}", headers={"X-Request-ID": "the-deletion"})
            assembled = client.post("assemblies", json={"agent": "ada"}, headers={"X-Request-ID": "the-assembly"})
            assert [answer.status_code for answer in await asyncio.gather(deleted, assembled)] == [204, 201]

    asyncio.run(ask())
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    (deletion,) = [line for line in lines if "was deleted by" in line["event"]]
    assert (deletion["request_id"], deletion["principal"][:4]) == ("the-deletion", "key:")
    found = exporter.get_finished_spans()
    (request,) = [span for span in found if (span.attributes or {}).get("request_id") == "the-assembly"]
    (assemble,) = [span for span in found if span.name == "assemble"]
    assert request.context
    assert assemble.parent
    assert assemble.parent.span_id == request.context.span_id
