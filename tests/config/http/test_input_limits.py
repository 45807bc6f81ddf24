"""A body that is too large, or of unknown length, is refused before anything is read into memory or stored."""

import json
from typing import Any

import pytest
from django.test import Client

from agents.models import Agent, AgentFile
from assembly.models import Assembly
from teams.models import User
from tests.assembly.pipeline.stored_texts import recorded_texts
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db
TWENTY_MEGABYTES = b'{"content": "' + b"x" * 20_000_000 + b'"}'


@pytest.mark.parametrize("path", ["agents/ada/files/IDENTITY", "teams", "assemblies", "nowhere"])
def test_a_body_of_twenty_megabytes_is_refused_with_the_limit(admin_api: Api, agent: Agent, path: str) -> None:
    response = admin_api.send("PUT", path, TWENTY_MEGABYTES, if_match='"1"')
    assert problem(response) == (413, "body_too_large")
    assert "at most 5,000,000 bytes" in json.loads(response.content)["detail"]
    assert set(AgentFile.objects.filter(agent=agent).values_list("version", flat=True)) == {1}


def test_a_form_of_twenty_megabytes_is_refused_with_a_page(
    client: Client, agent: Agent, editor: User, settings: object
) -> None:
    settings.STORAGES = {  # type: ignore[attr-defined]
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    client.force_login(editor)
    response = client.post("/agents/ada/files/IDENTITY/", {"version": 1, "content": "x" * 20_000_000})
    assert response.status_code == 413
    assert "The request is too large" in response.content.decode()


def test_a_chunked_body_is_asked_for_its_length(admin_api: Api) -> None:
    response = admin_api.send("POST", "teams", {"slug": "a", "name": "A"}, transfer_encoding="chunked")
    assert problem(response) == (411, "length_required")


@pytest.mark.parametrize("body", [b'{"content": "\xff\xfe"}', b"\xff", b'{"content": ', b"[" * 100_000, b""])
def test_what_is_no_json_in_utf_8_is_a_400(admin_api: Api, agent: Agent, body: bytes) -> None:
    response = admin_api.send("PUT", "agents/ada/files/IDENTITY", body, if_match='"1"')
    assert problem(response)[0] in {400, 422}
    assert AgentFile.objects.get(agent=agent, file_key="IDENTITY").content == ""


@pytest.mark.finding("3c")
@pytest.mark.parametrize(
    "wishes",
    [
        {"history": [{"role": "user", "content": "x" * 96_000}] * 48},
        {"history": [{"role": "user", "content": "x" * 100_000}] * 4, "additional_context": "y"},
    ],
)
def test_a_conversation_that_is_too_long_is_refused_with_the_limit(
    admin_api: Api, agent: Agent, wishes: dict[str, object]
) -> None:
    answer = admin_api.post("assemblies", {"agent": "ada", "profile": "research", **wishes})
    assert errors_of(answer) == {"history"}
    assert "at most 400,000" in answer.content.decode()
    assert not Assembly.objects.exists()


@pytest.mark.finding("3c")
def test_the_longest_conversation_is_assembled_and_its_record_is_bounded(admin_api: Api, agent: Agent) -> None:
    turns = [{"role": "user", "content": chr(0x1F600 + number) * 100_000} for number in range(4)]
    answer = admin_api.post("assemblies", {"agent": "ada", "profile": "research", "history": turns})
    assert answer.status_code == 201, answer.content[:500]
    assert sum(map(len, recorded_texts())) <= 500_000


@pytest.mark.finding("3a")
@pytest.mark.parametrize("path", ["tokens", "compress"])
def test_a_text_to_be_counted_or_compressed_has_at_most_300_000_characters(admin_api: Api, path: str) -> None:
    most = {"content": "1" * 300_000, "max_tokens": 10} if path == "compress" else {"content": "1" * 300_000}
    assert admin_api.post(path, most).status_code == 200
    assert errors_of(admin_api.post(path, {**most, "content": "1" * 300_001})) == {"content"}


@pytest.mark.finding("3c")
def test_an_assembly_that_computes_for_too_long_is_stopped_and_nothing_is_recorded(
    admin_api: Api, agent: Agent, settings: Any
) -> None:
    settings.REQUEST_CPU_MS = 20
    turns = [{"role": "user", "content": "".join(f"{turn} {word} " for word in range(10_000))} for turn in range(4)]
    body = {"agent": "ada", "profile": "research", "history": turns}
    answer = admin_api.post("assemblies", body, idempotency_key="once")
    assert problem(answer) == (422, "too_costly")
    assert not Assembly.objects.exists()
    settings.REQUEST_CPU_MS = 60_000
    assert admin_api.post("assemblies", body, idempotency_key="once").status_code == 201


@pytest.mark.finding("3a")
def test_a_batch_of_memories_has_a_largest_sum_of_texts(admin_api: Api, agent: Agent) -> None:
    items = [{"kind": "fact", "text": "x" * 20_000}] * 101
    assert errors_of(admin_api.post("agents/ada/memories/batch", {"items": items})) == {"items"}
    assert not agent.memories.exists()
