"""What fails or is late is named in a partial answer; what nobody expected is one error that tells nothing."""

import time
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest
from django.db import OperationalError
from django.utils import timezone

from agents.keys import api_key_create
from assembly.contract import services
from assembly.contract.request_ids import AlreadyAssembled, RequestId
from assembly.models import Assembly, MemoryRequest
from assembly.sources import SOURCES
from assembly.sources.base import SourceResult
from tests.assembly.contract.contract_checks import ask, codes_of, sent
from tests.assembly.failing_sources import leaving_nothing_behind, locked, replaced
from tests.assembly.one_of_each import everything
from tests.client import Api, problem


@pytest.fixture
def api(committed_database: str) -> Iterator[Api]:
    """The key of an agent with one of everything, which was asked once."""
    agent, _team = everything(timezone.now())
    key = Api(api_key_create(agent=agent)[1])
    ask(key, "before", intent="Is it warm?")
    with leaving_nothing_behind():
        yield key


def failing(*_: Any) -> NoReturn:
    raise ZeroDivisionError("the secret of the source")


def test_a_source_that_fails_is_named_and_the_rest_is_there(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced(monkeypatch, "patterns", failing)
    document = ask(api)
    assert document["metadata"]["warnings"] == [
        {
            "code": "SOURCE_FAILED",
            "message": "Patterns: It failed, so its items are missing in the context.",
            "sources": ["patterns"],
        }
    ]
    coverage = document["metadata"]["coverage"]["experience"]
    assert coverage["failed"] == ["patterns"]
    assert coverage["in"] > 0
    (report,) = [one for one in document["metadata"]["sources"] if one["name"] == "patterns"]
    assert (report["code"], report["source_layer"], report["error"]) == (
        "SOURCE_FAILED",
        "experience",
        "ZeroDivisionError",
    )
    assert sent(api).json() == document


def test_a_source_that_is_late_is_named_and_the_rest_is_there(api: Api) -> None:
    with locked("patterns"):
        document = ask(api, budgets={"time_ms": 3_000})
    assert codes_of(document) == ["SOURCE_TIMEOUT"]
    assert document["metadata"]["warnings"][0]["sources"] == ["patterns"]
    assert document["metadata"]["coverage"]["experience"]["deadline_ms"] <= 2_400
    assert document["fragments"]


def test_a_scope_that_failed_counts_against_the_coverage(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("team_memories", "agent_memories", "patterns", "daily_logs", "agent_files"):
        replaced(monkeypatch, name, failing)
    metadata = ask(api)["metadata"]
    assert metadata["coverage"]["experience"]["returned"] == 0
    assert metadata["source_coverage"] == pytest.approx(3 / 4)


def test_an_answer_that_took_longer_than_its_time_says_so(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that computes cannot be cancelled: it is in, and the rest is late."""

    def slow(*arguments: Any) -> SourceResult:
        found = team_files(*arguments)
        time.sleep(0.6)
        return found

    team_files = SOURCES["team_files"].gather
    with monkeypatch.context() as patched:
        replaced(patched, "team_files", slow)
        document = ask(api, budgets={"time_ms": 500})
    assert "TIME_EXCEEDED" in codes_of(document)
    assert {"TIME_EXCEEDED", "SOURCE_TIMEOUT"} >= set(codes_of(document)), codes_of(document)


def test_conflicts_that_cannot_be_read_are_a_coherence_failure(api: Api) -> None:
    with locked("conflicts"):
        document = ask(api, budgets={"time_ms": 3_000})
    assert "COHERENCE_FAILURE" in codes_of(document)
    assert document["fragments"]
    assert document["metadata"]["conflicts"] == []
    assert sent(api, budgets={"time_ms": 3_000}).json() == document


def test_hardly_any_time_gives_an_answer(api: Api) -> None:
    ask(api, budgets={"time_ms": 10})


def test_what_nobody_expected_is_one_error_without_internals(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = Assembly.objects.count()
    with monkeypatch.context() as patched:
        patched.setattr(services, "to_assembly_request", failing)
        answer = sent(api)
    assert problem(answer) == (500, "unrecoverable_assembly")
    document = answer.json()
    assert document["title"] == "Unrecoverable memory assembly failure"
    assert document["detail"] == "Unrecoverable memory assembly failure. Nothing was recorded."
    assert "secret" not in answer.content.decode()
    assert "ZeroDivisionError" in caplog.text
    assert (Assembly.objects.count(), MemoryRequest.objects.filter(request_id="one").count()) == (before, 0)
    ask(api)


def test_an_error_in_the_transaction_of_the_record_leaves_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Assembly.objects.count()
    with monkeypatch.context() as patched:
        patched.setattr(RequestId, "claim", failing)
        assert problem(sent(api)) == (500, "unrecoverable_assembly")
    assert Assembly.objects.count() == before
    ask(api)


def test_an_answer_that_is_deleted_meanwhile_is_a_conflict(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(*_: Any) -> NoReturn:
        raise AlreadyAssembled

    with monkeypatch.context() as patched:
        patched.setattr(RequestId, "claim", taken)
        answer = sent(api)
    assert problem(answer) == (409, "answer_deleted")
    assert "Send the request again." in answer.json()["detail"]
    ask(api)


def test_without_the_database_it_says_to_try_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> NoReturn:
        raise OperationalError("connection refused")

    with monkeypatch.context() as patched:
        patched.setattr(services, "assemble", away)
        answer = sent(api)
    assert problem(answer) == (503, "busy")
    assert answer["Retry-After"] == "1"


def test_without_the_rules_it_says_to_try_again(api: Api) -> None:
    with locked("rules"):
        assert problem(sent(api, budgets={"time_ms": 200})) == (503, "busy")
    ask(api, budgets={"time_ms": 200})
