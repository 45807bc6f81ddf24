"""Quotas of a running server with two web processes: both count together, and say so in their answers."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from agents.keys import api_key_create
from agents.models import ApiKey
from agents.quotas.models import DailyUse, QuotaLimit
from agents.quotas.uses import FlushThread, UseCounter, today
from agents.services import agent_create
from tests.archives import packed
from tests.faults.processes import until
from tests.faults.test_web_processes import Server

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("committed_database"), pytest.mark.finding("3q")]

LIMIT = 20


class QuotaServer(Server):
    """A running `serve`, and two agents' keys, of which one may send LIMIT requests per minute."""

    def __init__(self, folder: Path) -> None:
        self.limited, self.limited_secret = self._key("ada")
        self.other, self.other_secret = self._key("eve")
        limit = QuotaLimit(subject=f"key:{self.limited.id}", by_organisation=True, requests_per_minute=LIMIT)
        limit.save()
        super().__init__(folder)

    @staticmethod
    def _key(slug: str) -> tuple[ApiKey, str]:
        return api_key_create(agent=agent_create(slug=slug, name=slug, teams=[]))

    def send_zip(self, secret: str, archive: bytes) -> httpx.Response:
        """Import the archive."""
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/zip"}
        return httpx.post(f"{self.address}/api/v1/import", content=archive, headers=headers, timeout=60)

    def ask(self, secret: str, path: str = "/api/v1/agents") -> httpx.Response:
        """Send it on a connection of its own, so that both processes get some."""
        return httpx.get(f"{self.address}{path}", headers={"Authorization": f"Bearer {secret}"}, timeout=30)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[QuotaServer]:
    """One that answers; all of it is gone afterwards."""
    monkeypatch.setenv("SECRET_KEY", settings.SECRET_KEY)  # under which the test makes its keys
    server = QuotaServer(tmp_path)
    until(lambda: len(server.web()) == 2 and server.answers(), seconds=60)
    yield server
    if server.process.returncode is None:
        server.kill()
    assert server.is_gone()


@pytest.mark.deep
def test_both_processes_count_together_and_what_is_used_is_written(server: QuotaServer) -> None:
    answers = [server.ask(server.limited_secret) for _ in range(3 * LIMIT)]
    answered = [answer for answer in answers if answer.status_code == 200]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert len(answered) + len(refused) == 3 * LIMIT
    assert LIMIT <= len(answered) <= 2 * LIMIT + 2  # a minute may begin meanwhile
    problem = json.loads(refused[0].content)
    assert refused[0].headers["Content-Type"] == "application/problem+json"
    assert (problem["status"], problem["code"]) == (429, "quota_exceeded")
    assert problem["violated-policies"] == ["requests-per-minute"]
    assert 1 <= int(refused[0].headers["Retry-After"]) <= 60
    assert f'"requests-per-minute";q={LIMIT};w=60' in answered[-1].headers["RateLimit-Policy"]
    assert '"requests-per-minute";r=' in answered[-1].headers["RateLimit"]
    assert server.ask(server.other_secret).status_code == 200
    assert server.stop() == ""
    used = DailyUse.objects.get(subject=f"key:{server.limited.id}")
    assert len(answered) - 4 <= used.requests <= len(answered)
    assert used.refused == len(refused)
    assert DailyUse.objects.get(subject=f"agent:{server.limited.agent_id}").requests == used.requests


@pytest.mark.deep
@pytest.mark.finding("5.5b")
def test_a_refused_import_names_the_limit_that_was_reached_and_no_other(server: QuotaServer) -> None:
    agent = f"agent:{server.limited.agent_id}"
    QuotaLimit.objects.create(subject=agent, by_organisation=True, text_bytes_per_day=1_000)
    zipped = packed({"agents/ada/memory/2026-03-01.md": "x" * 1_001})
    for _ in range(3):  # from the second on, the server knows the key, whose own limits it tells in other answers
        answer = server.send_zip(server.limited_secret, zipped)
        assert (answer.status_code, answer.json()["violated-policies"]) == (429, ["text-bytes-per-day"])
        assert answer.headers["Retry-After"] == "3600"
        assert answer.headers.get_list("RateLimit-Policy") == ['"text-bytes-per-day";q=1000;w=86400;qu="content-bytes"']
    server.stop()


@pytest.mark.deep
def test_many_at_once_are_refused_beyond_the_limit_and_none_is_forgotten(server: QuotaServer) -> None:
    QuotaLimit.objects.filter(subject=f"key:{server.limited.id}").update(requests_per_minute=0, requests_under_way=2)
    for _ in range(6):
        server.ask(server.limited_secret)
    until(lambda: 'requests-under-way";q=2' in server.ask(server.limited_secret).headers.get("RateLimit-Policy", ""))
    with ThreadPoolExecutor(24) as pool:
        statuses = list(pool.map(lambda _: server.ask(server.limited_secret).status_code, range(96)))
    assert set(statuses) <= {200, 429}
    assert 429 in statuses
    assert server.ask(server.limited_secret).status_code == 200, "nothing is under way any more"
    server.stop()


def test_the_thread_writes_what_is_left_at_its_end() -> None:
    uses = UseCounter()
    with FlushThread(uses):
        uses.add(["key:1"], requests=4)
    assert DailyUse.objects.get(subject="key:1", day=today()).requests == 4
