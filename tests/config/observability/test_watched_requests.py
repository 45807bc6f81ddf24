"""Watching requests: what traces and log lines say, and what they and the metrics never do."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
from django.conf import settings
from django.test import Client
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agents.models import Agent
from assembly.engine.scopes import SOURCE_SCOPES
from assembly.models import Assembly
from config.observability import tracing
from config.observability.log_lines import json_lines, readable_lines
from teams.models import Team, User
from tests.client import Answer, Api

pytestmark = pytest.mark.django_db

TOPIC = "Zanzibar's hidden ledger"


@pytest.fixture(autouse=True)
def _uncollected_static_files(settings: Any) -> None:
    """Pages name their static files as they are in the source: nothing has to be collected first."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What a collector would get."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", provider.get_tracer("test"))
    return exporter


@pytest.fixture(params=[json_lines, readable_lines])
def written(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """All log lines, at INFO, as this form has them."""
    text, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(text), root.level
    handler.setFormatter(request.param())
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield text
    root.removeHandler(handler)
    root.setLevel(level)


def ask(api: Api, **headers: str) -> Answer:
    answer = api.post("assemblies", {"agent": "ada", "team": "care", "topic": TOPIC, "max_tokens": 500}, **headers)
    assert answer.status_code == 201, answer.content
    return answer


# --- traces -----------------------------------------------------------------------------------------------------


def tree(found: tuple[ReadableSpan, ...]) -> dict[str, str | None]:
    """Each span's parent, by their names."""
    names = {span.context.span_id: span.name for span in found if span.context}
    return {span.name: names.get(span.parent.span_id) if span.parent else None for span in found}


def attributes(found: tuple[ReadableSpan, ...], name: str) -> dict[str, Any]:
    (span,) = [span for span in found if span.name == name]
    return dict(span.attributes or {})


def test_a_request_is_one_trace(agent_api: Api, team: Team, spans: InMemorySpanExporter) -> None:
    answer = ask(agent_api)
    found, told = spans.get_finished_spans(), Assembly.objects.get()
    sources = [source["name"] for source in told.sources]
    assert tree(found) == {
        "request": None,
        "assemble": "request",
        "query": "assemble",
        **{f"source {name}": "query" for name in sources},
        "rank": "assemble",
        "record": "assemble",
    }
    assert len({span.context.trace_id for span in found if span.context}) == 1
    assert attributes(found, "request") == {
        "http.request.method": "POST",
        "http.route": "/api/v1/assemblies",
        "http.response.status_code": 201,
        "request_id": answer["X-Request-ID"],
    }
    counts = {"considered", "included", "left_out"}
    whole, rank = attributes(found, "assemble"), attributes(found, "rank")
    assert whole | {"assembly": str(told.id), "profile": "conversation", "budget": 500, "cache_hit": False} == whole
    assert whole.items() >= {"time_ms": settings.ASSEMBLY_TIME_MS, "quality_min": 0}.items()
    assert "lod" not in whole
    assert (whole["tokens"], whole["left_out"]) == (told.tokens, told.left_out)
    assert rank == {name: whole[name] for name in counts}
    assert rank["considered"] == rank["included"] + rank["left_out"] > 0
    for source in told.sources:
        facts = {"source": source["name"], "layer": SOURCE_SCOPES[source["name"]]}
        assert attributes(found, f"source {source['name']}") == {
            **facts, "rows": source["count"], "limit": source["limit"]
        }  # fmt: skip


def test_the_span_has_the_level_of_detail_and_the_budgets(agent_api: Api, spans: InMemorySpanExporter) -> None:
    body = {"request_id": "one", "intent": "ink", "budgets": {"time_ms": 9_000, "quality_min": 0.25}}
    assert agent_api.post("memory/assemble", body).status_code == 201
    budgets = {"lod": "adaptive", "time_ms": 9_000, "quality_min": 0.25}
    assert attributes(spans.get_finished_spans(), "assemble").items() >= budgets.items()


def test_a_hit_asks_nothing(agent_api: Api, spans: InMemorySpanExporter) -> None:
    ask(agent_api)
    spans.clear()
    ask(agent_api)
    assert tree(spans.get_finished_spans()) == {"request": None, "assemble": "request"}
    assert attributes(spans.get_finished_spans(), "assemble")["cache_hit"] is True


def test_it_goes_on_with_the_callers_trace(agent_api: Api, spans: InMemorySpanExporter) -> None:
    ask(agent_api, traceparent=f"00-{'ab' * 16}-{'cd' * 8}-01")
    found = spans.get_finished_spans()
    assert {span.context.trace_id for span in found if span.context} == {int("ab" * 16, 16)}
    (request,) = [span for span in found if span.name == "request"]
    assert request.parent is not None
    assert request.parent.span_id == int("cd" * 8, 16)


@pytest.mark.parametrize("nonsense", ["", "00-zz", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "x" * 5000])
def test_a_traceparent_that_is_none_starts_a_new_trace(
    nonsense: str, agent_api: Api, spans: InMemorySpanExporter
) -> None:
    ask(agent_api, traceparent=nonsense)
    assert tree(spans.get_finished_spans())["request"] is None


def test_an_error_leaves_its_class_alone(
    agent_api: Api, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch, agent: Agent
) -> None:
    monkeypatch.setattr("assembly.pipeline.prepare.gather", _fails)
    agent_api.client.raise_request_exception = False
    assert agent_api.post("assemblies", {"agent": "ada", "topic": TOPIC}).status_code == 500
    found = spans.get_finished_spans()
    assert {span.name: span.status.description for span in found} == {
        "query": "LookupError",
        "assemble": "LookupError",
        "request": None,
    }
    assert not [event for span in found for event in span.events]


def _fails(*_: Any, **__: Any) -> NoReturn:
    raise LookupError("the source is gone")


# --- log lines --------------------------------------------------------------------------------------------------


def test_a_line_says_which_response_it_belongs_to(agent_api: Api, written: io.StringIO) -> None:
    answer = ask(agent_api, x_request_id="mine-42")
    (line,) = [line for line in written.getvalue().splitlines() if "config.observability.request_log" in line]
    assert answer["X-Request-ID"] == "mine-42"
    assert "mine-42" in line
    assert "key:" in line
    if line.startswith("{"):
        facts = json.loads(line)
        assert facts.keys() == {
            "event", "level", "logger", "timestamp", "request_id", "route", "principal", "method", "status", "ms",
        }  # fmt: skip
        assert (facts["event"], facts["level"], facts["status"], facts["method"]) == ("request", "info", 201, "POST")
        assert facts["route"] == "/api/v1/assemblies"


@pytest.mark.parametrize("written", [json_lines], indirect=True)
def test_a_page_names_the_person_by_ref_and_an_anonymous_one_not(
    written: io.StringIO, client: Client, admin: User
) -> None:
    client.get("/accounts/login/")
    client.force_login(admin)
    client.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"})
    client.get("/jobs/", {"q": TOPIC})
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    facts = [(line["route"], line["status"], line.get("principal")) for line in lines if line["event"] == "request"]
    assert facts == [
        ("/accounts/login/", 200, None),
        ("/metrics", 404, f"person:{admin.id}"),
        ("/jobs/", 200, f"person:{admin.id}"),
    ]
    assert admin.name not in written.getvalue()


def test_an_unexpected_error_leaves_its_traceback_with_the_id_and_without_variables(
    agent: Agent, agent_api: Api, written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assembly.pipeline.prepare.gather", _fails)
    agent_api.client.raise_request_exception = False
    answer = agent_api.post("assemblies", {"agent": "ada", "topic": TOPIC}, x_request_id="mine-43")
    assert answer.status_code == 500
    text = written.getvalue()
    assert "LookupError: the source is gone" in text
    assert "Traceback (most recent call last)" in text
    started = [line for line in text.splitlines() if line.startswith(("{", "20"))]
    assert len(started) == 3, "ours, Django's and the request's"
    assert all("mine-43" in line for line in started)
    assert "Zanzibar" not in text


def test_nothing_that_was_sent_is_told_anybody(
    agent: Agent, agent_api: Api, client: Client, spans: InMemorySpanExporter, written: io.StringIO
) -> None:
    ask(agent_api)
    ask(agent_api)
    agent_api.post("assemblies", {"agent": "ada", "topic": TOPIC, "profile": "Zanzibar"})
    agent_api.get("agents/ada/memories/search?q=Zanzibar")
    Api("dsr_Zanzibar_key").get("agents/ada")
    client.get("/Zanzibar/", {"q": "Zanzibar"})
    told = "".join(span.to_json() for span in spans.get_finished_spans())
    key = agent_api.headers["Authorization"].removeprefix("Bearer ")
    for text in (told, written.getvalue(), client.get("/metrics").content.decode()):
        assert text
        assert "Zanzibar" not in text
        assert key not in text
        assert "Ada" not in text
