"""The page of metrics: who may read it, what it tells, and that nobody can write into it."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NoReturn

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from agents.models import Agent
from assembly.models import FollowFailure, NewAssembly
from config.caching.shared_cache import SharedCache, StoreFailed
from memories.jobs.services import job_create
from memories.models import Job, JobStatus
from teams.models import User
from teams.principal import SYSTEM
from tests.assembly.contexts.context_rows import MINUTE, context
from tests.client import Api

pytestmark = pytest.mark.django_db

TOKEN = "for-the-scraper"
KEYED = {"Authorization": f"Bearer {TOKEN}"}
LOCAL: dict[str, Any] = {"REMOTE_ADDR": "127.0.0.1"}
AFAR: dict[str, Any] = {"REMOTE_ADDR": "192.0.2.7"}


@pytest.fixture(autouse=True)
def _uncollected_static_files(settings: Any) -> None:
    """Pages name their static files as they are in the source: nothing has to be collected first."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}


def sample(text: str, name: str, **labels: str) -> float:
    """A value in the text; 0 where there is none."""
    found = [
        each.value
        for family in text_string_to_metric_families(text)
        for each in family.samples
        if each.name == name and each.labels == labels
    ]
    return found[0] if found else 0.0


def unsigned(page: bytes) -> bytes:
    """Without the token against forgery, which is another on each page."""
    return re.sub(rb"\b\w{64}\b", b"", page)


@pytest.mark.parametrize(
    ("token", "asked_from", "headers", "status"),
    [
        ("", LOCAL, {}, 200),
        ("", {"REMOTE_ADDR": "::1"}, {}, 200),
        ("", AFAR, {}, 404),
        ("", AFAR, KEYED, 404),
        ("", {"REMOTE_ADDR": ""}, {}, 404),
        ("", {"REMOTE_ADDR": "unix:"}, {}, 404),
        ("", LOCAL, {"X-Forwarded-For": "192.0.2.7"}, 404),
        ("", LOCAL, {"X-Forwarded-Proto": "https"}, 404),
        ("", LOCAL, {"Forwarded": "for=192.0.2.7"}, 404),
        ("", LOCAL, {"X-Real-IP": "192.0.2.7"}, 404),
        (TOKEN, AFAR, KEYED, 200),
        (TOKEN, LOCAL, {"X-Forwarded-For": "192.0.2.7", **KEYED}, 200),
        (TOKEN, LOCAL, {}, 404),
        (TOKEN, LOCAL, {"Authorization": "Bearer other"}, 404),
        (TOKEN, LOCAL, {"Authorization": f"Bearer {TOKEN}é"}, 404),
        (TOKEN, LOCAL, {"Authorization": TOKEN}, 404),
    ],
)
def test_who_may_read_them(
    token: str, asked_from: dict[str, Any], headers: dict[str, str], status: int, settings: Any
) -> None:
    client = Client()
    settings.METRICS_TOKEN = token
    response = client.get("/metrics", headers=headers, **asked_from)
    assert response.status_code == status
    if status == 404:
        nothing = client.get("/nothing-here", headers=headers, **asked_from)
        assert unsigned(response.content) == unsigned(nothing.content)


def test_being_signed_in_or_having_a_key_is_no_reason(
    settings: Any, outsider: User, admin: User, agent_api: Api, admin_api: Api
) -> None:
    client, settings.METRICS_TOKEN = Client(), TOKEN
    for person in (outsider, admin):
        client.force_login(person)
        assert client.get("/metrics").status_code == 404
    assert {api.get("/metrics").status_code for api in (agent_api, admin_api)} == {404}


@pytest.mark.parametrize(("headers", "status"), [(KEYED, 405), ({}, 404)])
def test_they_can_only_be_read(headers: dict[str, str], status: int, settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN
    assert Client(enforce_csrf_checks=True).post("/metrics", headers=headers).status_code == status


def test_they_tell_of_contexts_requests_jobs_new_records_and_conflicts_with_four_queries(
    agent: Agent,
    agent_api: Api,
    client: Client,
    django_assert_num_queries: Callable[[int], AbstractContextManager[Any]],
) -> None:
    route = {"route": "/api/v1/assemblies", "method": "POST"}
    before = client.get("/metrics").content.decode()
    assert agent_api.post("assemblies", {"agent": "ada", "team": "care"}).status_code == 201
    agent_api.post("assemblies", {"agent": "nobody"})
    for status in (JobStatus.QUEUED, JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.DONE):
        job = job_create(kind="x", arguments={}, agent=agent, principal=SYSTEM)
        Job.objects.filter(id=job.id).update(status=status)
    with django_assert_num_queries(4):
        after = client.get("/metrics").content.decode()

    def moved(name: str, **labels: str) -> float:
        return sample(after, name, **labels) - sample(before, name, **labels)

    assert moved("http_requests_total", **route, status="2xx") == 1
    assert moved("http_requests_total", **route, status="4xx") == 1
    assert moved("http_request_duration_seconds_count", **route) == 2
    assert moved("memory_assembly_duration_seconds_count", profile="conversation") == 1
    assert moved("memory_source_latency_count", layer="experience", source="team_memories") == 1
    assert [sample(after, "memory_jobs", status=status) for status in ("queued", "running")] == [2, 1]
    assert [sample(after, "memory_new_records", status=status) for status in ("waiting", "parked")] == [1, 0]
    assert "memory_cache_hit_ratio " in after
    assert "_created" not in after


def test_they_tell_how_long_the_oldest_new_record_waits(agent: Agent, client: Client) -> None:
    def told() -> tuple[float, ...]:
        text = client.get("/metrics").content.decode()
        counts = [sample(text, "memory_new_records", status=status) for status in ("waiting", "parked")]
        return *counts, sample(text, "memory_new_records_oldest_seconds") // 60

    assert told() == (0, 0, 0)
    ages = {minutes: context(agent, created=timezone.now() - minutes * MINUTE) for minutes in (30, 20, 10)}
    for one in ages.values():
        NewAssembly.objects.get_or_create(assembly=one.id)
    assert told() == (3, 0, 30)
    FollowFailure.objects.create(assembly=ages[30].id, attempts=6, error="x", at=timezone.now(), parked=True)
    FollowFailure.objects.create(assembly=ages[20].id, attempts=1, error="x", at=timezone.now(), parked=False)
    assert told() == (2, 1, 20)
    NewAssembly.objects.all().delete()
    assert told() == (0, 0, 0)


def test_without_the_database_they_tell_the_rest(client: Client) -> None:
    def away(*_: Any) -> NoReturn:
        raise OperationalError("away")

    client.get("/metrics")
    with connection.execute_wrapper(away):
        text = client.get("/metrics").content.decode()
    assert "http_requests_total{" in text
    assert "memory_jobs{" not in text
    assert "memory_new_records" not in text


@pytest.mark.parametrize(("method", "path"), [("BREW", "/"), ("GET", "/wp-login/of/a/stranger"), ("GET", "/agents/x/")])
def test_no_label_holds_what_a_stranger_made_up(method: str, path: str, client: Client) -> None:
    client.generic(method, path)
    text = client.get("/metrics").content.decode()
    labels = {
        value
        for family in text_string_to_metric_families(text)
        if family.name.startswith("http_")
        for each in family.samples
        for value in each.labels.values()
    }
    assert not [value for value in labels if "BREW" in value or "stranger" in value or "agents/x" in value]


def test_they_tell_the_memory_of_each_cache(
    agent_api: Api, client: Client, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Store:
        name, max_bytes = "a store", 1_000

        def used_bytes(self) -> int:
            return 250

    shared = SharedCache("shared", "answers", Store())  # type: ignore[arg-type]
    monkeypatch.setattr("config.observability.metrics.shared_answers", lambda: shared)
    assert agent_api.post("assemblies", {"agent": "ada", "team": "care"}).status_code == 201
    text = client.get("/metrics").content.decode()
    for cache in ("answers", "token_counts", "stored_pieces", "rendered_texts", "profiles"):
        labels = {"tier": "process", "cache": cache}
        used, limit = sample(text, "memory_cache_bytes", **labels), sample(text, "memory_cache_limit_bytes", **labels)
        assert 0 < used <= limit, cache
        assert sample(text, "memory_utilisation_ratio", **labels) == pytest.approx(used / limit)
    labels = {"tier": "shared", "cache": "answers"}
    names = ("memory_cache_bytes", "memory_cache_limit_bytes", "memory_utilisation_ratio")
    assert [sample(text, name, **labels) for name in names] == [250, 1_000, 0.25]
    assert text.count("# TYPE memory_cache_bytes ") == 1
    monkeypatch.setattr(Store, "used_bytes", lambda _: away())
    text = client.get("/metrics").content.decode()
    assert sample(text, "memory_utilisation_ratio", **labels) == 0
    assert "http_requests_total{" in text


def away() -> NoReturn:
    raise StoreFailed("away")
