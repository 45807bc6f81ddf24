"""REST: contexts in a hurry. What is late is left out and said, nonsense is refused, and nothing is a 500."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from agents.keys import api_key_create
from assembly.models import Assembly
from assembly.sources import SOURCES
from assembly.sources.base import SourceResult
from config.http.models import IdempotentRequest
from tests.assembly.failing_sources import dying, leaving_nothing_behind, locked, replaced
from tests.assembly.one_of_each import everything
from tests.client import Api, problem

LATE = "It timed out, so its items are missing in the context."
BODY = {"agent": "mira", "team": "press", "profile": "coding", "topic": "Is the ink dry on the Paper?"}


@pytest.fixture
def api(committed_database: str) -> Iterator[Api]:
    """The key of an admin, in an installation with one of everything, which was asked once."""
    everything(timezone.now())
    key = Api(api_key_create(agent=None, name="Ops")[1])
    assert key.post("assemblies", BODY).status_code == 201
    with leaving_nothing_behind():
        yield key


def asked(api: Api, **budgets: Any) -> dict[str, Any]:
    answer = api.post("assemblies", {**BODY, "budgets": budgets})
    assert answer.status_code == 201, answer.content
    document: dict[str, Any] = answer.json()
    return document


def reports(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {report["name"]: report for report in document["metadata"]["sources"]}


@pytest.mark.parametrize("headers", [{}, {"idempotency_key": "one"}], ids=["alone", "in a transaction"])
def test_a_table_that_is_locked_costs_its_source(api: Api, headers: dict[str, str]) -> None:
    body = {**BODY, "budgets": {"time_ms": 4_000}}
    with locked("patterns"):
        answer = api.post("assemblies", body, **headers)
    assert answer.status_code == 201, answer.content
    document = answer.json()
    assert document["warnings"] == [{"code": "SOURCE_TIMEOUT", "message": f"Patterns: {LATE}"}]
    whole = reports(asked(api))
    assert {name: report["count"] for name, report in reports(document).items()} == {
        name: 0 if name == "patterns" else report["count"] for name, report in whole.items()
    }
    late = reports(document)["patterns"]
    assert (late["code"], late["error"]) == ("SOURCE_TIMEOUT", "OperationalError")
    assert 0 < late["started_ms"] < late["deadline_ms"] <= 3_200
    assert api.post(f"assemblies/{document['id']}/replay").json()["identical"]
    if headers:
        assert IdempotentRequest.objects.get().status == 201
        assert api.post("assemblies", body, **headers).json() == document


@pytest.mark.parametrize("headers", [{}, {"idempotency_key": "one"}], ids=["alone", "in a transaction"])
def test_without_the_rules_it_says_to_try_again(api: Api, headers: dict[str, str]) -> None:
    before = Assembly.objects.count()
    with locked("rules"):
        answer = api.post("assemblies", {**BODY, "budgets": {"time_ms": 200}}, **headers)
    assert problem(answer) == (503, "busy")
    assert (answer["Retry-After"], Assembly.objects.count()) == ("1", before)
    assert not IdempotentRequest.objects.exists()
    assert api.post("assemblies", BODY, **headers).status_code == 201


def test_a_connection_that_is_lost_is_made_anew(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced(monkeypatch, "relations", dying(1, SOURCES["relations"].gather))
    assert asked(api, time_ms=5_000)["warnings"] == []
    replaced(monkeypatch, "relations", dying(2, SOURCES["relations"].gather))
    assert [warning["code"] for warning in asked(api, time_ms=5_001)["warnings"]] == ["SOURCE_FAILED"]


def test_a_transaction_that_is_lost_with_its_connection_may_be_tried_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {**BODY, "budgets": {"time_ms": 5_000}}
    with monkeypatch.context() as patch:
        replaced(patch, "relations", dying(1, SOURCES["relations"].gather))
        assert problem(api.post("assemblies", body, idempotency_key="one")) == (503, "busy")
    assert api.post("assemblies", body, idempotency_key="one").json()["warnings"] == []


def test_what_takes_too_long_in_all_returns_what_there_is(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that computes cannot be cancelled: it is in, and those after it are not even asked."""

    def slow(*arguments: Any) -> SourceResult:
        found = patterns(*arguments)
        time.sleep(1.6)
        return found

    patterns = SOURCES["patterns"].gather
    with monkeypatch.context() as patch:
        replaced(patch, "patterns", slow)
        document = asked(api, time_ms=1_500)
    assert [warning["code"] for warning in document["warnings"]] == ["SOURCE_TIMEOUT", "TIME_EXCEEDED"]
    assert document["warnings"][1]["message"] == "Assembling took longer than its deadline."
    assert reports(document)["patterns"].items() >= {"code": None, "count": 1}.items()
    late = {"code": "SOURCE_TIMEOUT", "count": 0, "error": "TimeoutError"}
    assert reports(document)["tools"].items() >= late.items()
    assert '<section name="Identity"' in document["content"]
    assert asked(api, time_ms=1_500)["repeat_of_id"] is None


def test_hardly_any_time_is_no_error(api: Api) -> None:
    document = asked(api, time_ms=10)
    codes = {warning["code"] for warning in document["warnings"]}
    assert {"SOURCE_TIMEOUT", "TIME_EXCEEDED"} >= codes
    assert api.post(f"assemblies/{document['id']}/replay").json()["identical"]
