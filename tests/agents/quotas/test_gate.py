"""The gate: each limit of keys, persons, agents and teams, and what refusals say."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from agents.quotas.gate import HEAVY_UNDER_WAY, QuotaGate, StorageKind, storage_kind_of
from agents.quotas.models import QuotaLimit
from agents.quotas.uses import UseCounter
from config.http.errors import TooManyRequests
from config.server import request_counts
from config.server.callers import Caller
from config.server.request_counts import RequestCounts

pytestmark = [pytest.mark.django_db, pytest.mark.finding("3q")]

KEY = Caller("key:1", "agent_key", "2", ("3",))
OTHER_KEY_OF_THE_AGENT = Caller("key:9", "agent_key", "2", ("3",))
KEY_OF_THE_TEAM = Caller("key:10", "agent_key", "11", ("3",))
STRANGER = Caller("key:20", "agent_key", "21", ("22",))


@pytest.fixture(autouse=True)
def one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_counts, "_minute", lambda: 7)


@pytest.fixture
def uses() -> UseCounter:
    return UseCounter()


@pytest.fixture
def gate(uses: UseCounter) -> QuotaGate:
    return QuotaGate(RequestCounts(), uses)


@pytest.fixture
def open_requests() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def limit(uses: UseCounter, subject: str, **values: int) -> None:
    QuotaLimit.objects.create(subject=subject, by_organisation=True, **values)
    uses.read_limits()


def ask(
    gate: QuotaGate, caller: Caller, path: str = "/api/v1/agents", *, method: str = "GET", heavy: bool = False
) -> Any:
    return gate.admit(caller, heavy=heavy, method=method, path=path)


def test_a_request_that_moved_to_the_heavy_lane_counts_once(gate: QuotaGate, uses: UseCounter) -> None:
    limit(uses, "key:1", requests_per_minute=1)
    with ask(gate, KEY):
        pass
    with gate.admit(KEY, heavy=True, method="GET", path="/api/v1/agents", moved=True):
        assert gate._counts.of("key:1") == (1, 1, 1)
    assert refusal(gate, KEY).extra["violated-policies"] == ["requests-per-minute"]


def refusal(gate: QuotaGate, caller: Caller, path: str = "/api/v1/agents", **others: Any) -> TooManyRequests:
    with pytest.raises(TooManyRequests) as caught, ask(gate, caller, path, **others):
        pass
    return caught.value


@pytest.mark.parametrize(
    ("subject", "callers"),
    [
        ("key:1", [KEY, KEY]),
        ("agent:2", [KEY, OTHER_KEY_OF_THE_AGENT]),
        ("team:3", [KEY, KEY_OF_THE_TEAM]),
    ],
)
def test_requests_under_way(
    gate: QuotaGate, uses: UseCounter, open_requests: ExitStack, subject: str, callers: list[Caller]
) -> None:
    limit(uses, subject, requests_under_way=1)
    first, second = callers
    with ask(gate, first):
        refused = refusal(gate, second)
        assert refused.extra["violated-policies"] == ["requests-under-way"]
        assert refused.retry_after >= 1
        open_requests.enter_context(ask(gate, STRANGER))
    open_requests.enter_context(ask(gate, second))


def test_requests_per_minute(gate: QuotaGate, uses: UseCounter, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(uses, "key:1", requests_per_minute=3)
    for _ in range(3):
        with ask(gate, KEY) as admitted:
            pass
    assert dict(admitted.headers())[b"ratelimit"].startswith(b'"requests-under-way";r=64, "requests-per-minute";r=0;t=')
    refused = refusal(gate, KEY)
    assert refused.extra["violated-policies"] == ["requests-per-minute"]
    assert 1 <= refused.retry_after <= 60
    assert b'"requests-per-minute";q=3;w=60' in dict(refused.headers)[b"ratelimit-policy"]
    with ask(gate, OTHER_KEY_OF_THE_AGENT):
        pass
    monkeypatch.setattr(request_counts, "_minute", lambda: 8)
    with ask(gate, KEY):
        pass


def test_costly_requests_of_one_caller_are_few_by_default(gate: QuotaGate, open_requests: ExitStack) -> None:
    for _ in range(HEAVY_UNDER_WAY):
        open_requests.enter_context(ask(gate, KEY, heavy=True))
    assert refusal(gate, KEY, heavy=True).extra["violated-policies"] == ["heavy-requests"]
    open_requests.enter_context(ask(gate, KEY))  # its light ones go on
    open_requests.enter_context(ask(gate, STRANGER, heavy=True))


def test_nobody_has_more_under_way_than_the_default(gate: QuotaGate, open_requests: ExitStack, settings: Any) -> None:
    settings.QUOTA_REQUESTS_UNDER_WAY = 2
    admin_key = Caller("key:30", "admin_key")
    for caller in (KEY, admin_key, Caller("person:1", "person")):
        for _ in range(2):
            open_requests.enter_context(ask(gate, caller))
        assert refusal(gate, caller).extra["violated-policies"] == ["requests-under-way"]


def test_texts_of_a_day(gate: QuotaGate, uses: UseCounter) -> None:
    limit(uses, "agent:2", text_bytes_per_day=1_000)
    path = "/api/v1/agents/luna/memories"
    with ask(gate, KEY, path, method="POST") as admitted:
        pass
    admitted.answered(201, 600)
    with ask(gate, OTHER_KEY_OF_THE_AGENT, path, method="POST") as admitted:
        pass
    admitted.answered(422, 600)  # nothing was stored
    admitted.answered(201, 600)
    for caller in (KEY, OTHER_KEY_OF_THE_AGENT):
        assert refusal(gate, caller, path, method="POST").extra["violated-policies"] == ["text-bytes-per-day"]
    for allowed in ("/api/v1/compress", "/api/v1/assemblies", "/api/v1/agents/luna/memories/search"):
        with ask(gate, KEY, allowed, method="POST"):
            pass
    with ask(gate, KEY, path), ask(gate, STRANGER, path, method="POST"), ask(gate, KEY, path, method="DELETE"):
        pass


def test_records_of_a_day(gate: QuotaGate, uses: UseCounter) -> None:
    limit(uses, "key:1", record_bytes_per_day=1_000)
    uses.add(KEY.subjects, record_bytes=1_000)
    refused = refusal(gate, KEY, "/api/v1/assemblies", method="POST")
    assert refused.extra["violated-policies"] == ["record-bytes-per-day"]
    assert "midnight UTC" in refused.detail
    with ask(gate, KEY, "/api/v1/agents/luna/memories", method="POST"):
        pass


def test_an_address_has_no_limits_but_on_costly_requests(
    gate: QuotaGate, open_requests: ExitStack, settings: Any
) -> None:
    settings.QUOTA_REQUESTS_UNDER_WAY = 1
    address = Caller("address:192.0.2.7")
    for _ in range(30):
        open_requests.enter_context(ask(gate, address))
    for _ in range(HEAVY_UNDER_WAY):
        open_requests.enter_context(ask(gate, address, heavy=True))
    refusal(gate, address, heavy=True)


@pytest.mark.parametrize(
    ("method", "path", "stored"),
    [
        ("GET", "/api/v1/agents/luna/memories", StorageKind.NOTHING),
        ("DELETE", "/api/v1/agents/luna/memories/1", StorageKind.NOTHING),
        ("POST", "/api/v1/agents/luna/memories/batch", StorageKind.TEXTS),
        ("PUT", "/api/v1/teams/care/files/GOALS", StorageKind.TEXTS),
        ("POST", "/agents/luna/files/IDENTITY/", StorageKind.TEXTS),
        ("POST", "/import/", StorageKind.TEXTS),
        ("POST", "/api/v1/assemblies", StorageKind.RECORDS),
        ("POST", "/api/v1/assemblies/1/what-if", StorageKind.RECORDS),
        ("POST", "/api/v1/assemblies/1/why-not", StorageKind.NOTHING),
        ("POST", "/api/v1/rules/check", StorageKind.NOTHING),
        ("POST", "/accounts/login/", StorageKind.NOTHING),
    ],
)
def test_what_requests_store_is_told_by_address(method: str, path: str, stored: StorageKind) -> None:
    assert storage_kind_of(method, path) is stored
