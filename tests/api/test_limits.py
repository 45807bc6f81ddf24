"""A body that is too large, or of unknown length, is refused before anything is read into memory or stored."""

import json

import pytest
from django.test import Client

from agents.models import Agent, AgentFile
from teams.models import User
from tests.client import Api, problem

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
    assert "This is too much at once" in response.content.decode()


def test_a_chunked_body_is_asked_for_its_length(admin_api: Api) -> None:
    response = admin_api.send("POST", "teams", {"slug": "a", "name": "A"}, transfer_encoding="chunked")
    assert problem(response) == (411, "length_required")


@pytest.mark.parametrize("body", [b'{"content": "\xff\xfe"}', b"\xff", b'{"content": ', b"[" * 100_000, b""])
def test_what_is_no_json_in_utf_8_is_a_400(admin_api: Api, agent: Agent, body: bytes) -> None:
    response = admin_api.send("PUT", "agents/ada/files/IDENTITY", body, if_match='"1"')
    assert problem(response)[0] in {400, 422}
    assert AgentFile.objects.get(agent=agent, file_key="IDENTITY").content == ""
