"""The OpenAPI document keeps its word: whatever is sent, answers are as it says, and never a 500."""

import datetime
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis import checks
from schemathesis.core.result import Ok
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.schemas import APIOperation

from agents.models import Agent
from agents.services import daily_log_append
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyCache
from memories.services import MemoryFacts, memory_create
from teams.models import Team
from teams.principal import SYSTEM
from tests import personas
from tests.client import Api
from tests.examples import DEEP
from tests.memories.agent_items import things_of

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]
owner, editor, teammate, team, agent = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent
)
[admin_api] = personas.once_per_module(personas.admin_api)

CONFIG = schemathesis.Config.from_dict({
    "generation": {"deterministic": True, "database": "none"},
    "phases": {"coverage": {"enabled": True, "unexpected-methods": []}},
    # Parameters of addresses and queries are of few kinds, which all operations share. Bodies that create things are
    # each of its own kind; those that change them, or create many at once, have the same fields.
    # To think up those of the request for memory takes a processor 40 s: tests/assembly/contract tries that one itself.
    "operations": [] if DEEP else [
        {"include-method": ["GET", "DELETE", "PATCH", "PUT"], "phases": {"coverage": {"enabled": False}}},
        {"include-path-regex": "/batch$", "phases": {"coverage": {"enabled": False}}},
        {"include-path": "/api/v1/memory/assemble", "phases": {"coverage": {"enabled": False}}},
    ],
})  # fmt: skip
schemathesis.serializer.alias("application/zip", "application/octet-stream")  # or no body would be tried
document = schemathesis.openapi.from_wsgi("/api/v1/schema?format=json", get_wsgi_application(), config=CONFIG)
EXAMPLES = 25 if DEEP else 4
"""Drawn at random, after those that go through the limits of an operation one by one: in `make test`, of its body."""
Operation = APIOperation[Any, Any, Any, Any]
FOUND = list(document.get_all_operations())
OPERATIONS: list[Operation] = [found.ok() for found in FOUND if isinstance(found, Ok)]
assert len(OPERATIONS) == len(FOUND), "the document has an operation that nobody understands"
CHECKS = [checks.not_a_server_error, checks.content_type_conformance, checks.response_schema_conformance]


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """A request's end closes no connection, as it would with Django's own test client: the transaction goes on."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture(autouse=True)
def _no_older_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was assembled in another test was rolled back."""
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())


@pytest.fixture(scope="module")
def real(team: Team, agent: Agent) -> dict[str, dict[str, Any]]:
    """Path arguments of things that exist, per kind of owner: made-up ones would only ever meet a 404."""
    daily_log_append(agent=agent, date=datetime.date(2026, 1, 5), text="x", principal=SYSTEM)
    facts = MemoryFacts(kind="fact", text="Refunds take five days.")
    things = {f"agents/{noun}": {"id_": str(thing.id)} for noun, thing in things_of(agent).items()}
    return {
        **things,
        "schemas": {"name": "memory-request.v0.json"},
        "teams": {
            "slug": "care", "key": "GOALS", "username": "teammate", "version": 1,
            "id_": str(memory_create(owner=team, facts=facts, principal=SYSTEM).id),
        },
        "agents": {
            "slug": "ada", "key": "IDENTITY", "date": "2026-01-05", "version": 1,
            "id_": str(memory_create(owner=agent, facts=facts, principal=SYSTEM).id),
        },
    }  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_answers_are_as_the_document_says(
    operation: Operation, real: dict[str, dict[str, Any]], admin_api: Api
) -> None:
    """The requests are made here: `document.parametrize` makes those of all operations while each worker collects."""

    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    def answered(case: schemathesis.Case[Any]) -> None:
        parts = case.path.split("/")[3:]
        arguments = {**real.get(parts[0], {}), **real.get("/".join([parts[0], *parts[2:3]]), {})}
        for name in case.path_parameters or {}:
            if name in arguments:
                case.path_parameters[name] = arguments[name]
        if case.method in {"PUT", "PATCH"} and case.headers is not None:
            case.headers["If-Match"] = "*"
        case.call_and_validate(checks=CHECKS, headers=admin_api.headers)

    build_operation_test(
        config=document.config, operation=operation, test_func=answered, given_kwargs={}, feedback=FeedbackSources()
    )()
