"""Importing over REST: a zip is shown, then done; keys do what they may, and no more."""

from io import BytesIO
from typing import Any
from uuid import uuid4
from zipfile import ZipFile

import pytest
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from agents.quotas.models import QuotaLimit
from memories.models import ImportPlan
from teams.models import Team, User
from tests.archives import packed
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db
NAME = "agents/ada/IDENTITY.md"
ZIP = {"content_type": "application/zip"}


def opened(answer: Any) -> ZipFile:
    assert answer.status_code == 200
    return ZipFile(BytesIO(answer.getvalue()))


def identity(agent: Agent) -> str:
    text: str = agent.files.get(file_key="IDENTITY").content
    return text


def test_a_dry_run_shows_and_applying_does_it(agent: Agent, admin_api: Api) -> None:
    answer = admin_api.post("import?dry_run=true&file_name=mine.zip", packed({NAME: "I am Ada."}), **ZIP)
    assert answer.status_code == 201, answer.content
    plan = answer.json()
    assert answer["Location"] == f"/api/v1/import/{plan['id']}"
    assert (plan["status"], plan["applied"], plan["file_name"]) == ("shown", 0, "mine.zip")
    assert [(step["name"], step["state"]) for step in plan["steps"]] == [(NAME, "new")]
    assert identity(agent) == ""
    done = admin_api.post(f"import/{plan['id']}/apply").json()
    assert (done["status"], done["applied"], done["not_applied"]) == ("done", 1, [])
    assert identity(agent) == "I am Ada."
    assert admin_api.get(f"import/{plan['id']}").json() == done
    assert problem(admin_api.post(f"import/{plan['id']}/apply")) == (409, "conflict")


def test_without_a_dry_run_it_is_done_at_once(agent: Agent, admin_api: Api) -> None:
    archive = packed({NAME: "At once"})
    first = admin_api.post("import", archive, **ZIP, idempotency_key="one")
    assert first.json()["status"] == "done"
    again = admin_api.post("import", archive, **ZIP, idempotency_key="one")
    assert again["Idempotency-Replayed"] == "true"
    assert again.json() == first.json()
    assert identity(agent) == "At once"


def test_a_form_with_a_file_does_as_well(agent: Agent, admin_api: Api) -> None:
    file = BytesIO(packed({NAME: "By form"}))
    file.name = "form.zip"
    body = encode_multipart(BOUNDARY, {"archive": file})
    assert admin_api.post("import", body, content_type=MULTIPART_CONTENT).json()["file_name"] == "form.zip"
    assert identity(agent) == "By form"


def test_what_was_changed_here_needs_to_be_named(agent: Agent, admin_api: Api) -> None:
    texts = {"agents/ada/INSTRUCTIONS.md": "Theirs", "agents/ada/agent.json": '{"marks": {"INSTRUCTIONS.md": "0"}}'}
    plan = admin_api.post("import?dry_run=true", packed(texts), **ZIP).json()
    assert plan["steps"][0]["state"] == "both"
    done = admin_api.post(f"import/{plan['id']}/apply", {"replace": ["agents/ada/INSTRUCTIONS.md"]}).json()
    assert done["applied"] == 1


def test_an_agents_key_imports_what_it_may(agent: Agent, agent_api: Api) -> None:
    archive = packed({NAME: "x", "agents/ada/memory/2026-03-01.md": "Rain."})
    states = {step["name"]: step["state"] for step in agent_api.post("import", archive, **ZIP).json()["steps"]}
    assert states == {NAME: "refused", "agents/ada/memory/2026-03-01.md": "new"}
    assert (identity(agent), agent.daily_logs.get().content) == ("", "Rain.")
    writing = Api(api_key_create(agent=agent, scopes=[ApiKey.Scope.WRITE_FILES])[1])
    assert writing.post("import", packed({NAME: "x"}), **ZIP).json()["applied"] == 1


@pytest.mark.finding("5.5b")
@pytest.mark.parametrize("whose", ["key", "agent", "team"])
def test_an_import_beyond_the_limit_of_the_day_is_429(agent: Agent, team: Team, whose: str) -> None:
    key, secret = api_key_create(agent=agent, scopes=[ApiKey.Scope.WRITE_FILES])
    ids = {"key": key.id, "agent": agent.id, "team": team.id}
    QuotaLimit.objects.create(subject=f"{whose}:{ids[whose]}", by_organisation=True, text_bytes_per_day=1_000)
    answer = Api(secret).post("import", packed({NAME: "x" * 1_001}), **ZIP)
    assert problem(answer) == (429, "quota_exceeded")
    assert answer.json()["violated-policies"] == ["text-bytes-per-day"]
    assert answer["Retry-After"] == "3600"
    assert answer["RateLimit-Policy"] == '"text-bytes-per-day";q=1000;w=86400;qu="content-bytes"'
    assert answer["RateLimit"].startswith('"text-bytes-per-day";r=1000;t=')
    assert identity(agent) == ""
    assert Api(secret).post("import", packed({NAME: "x" * 900}), **ZIP).json()["applied"] == 1


def test_an_import_is_found_by_the_one_who_began_it_alone(agent: Agent, admin_api: Api, agent_api: Api) -> None:
    plan = admin_api.post("import?dry_run=true", packed({NAME: "x"}), **ZIP).json()["id"]
    for id_ in (plan, uuid4()):
        assert problem(agent_api.get(f"import/{id_}")) == (404, "not_found")
        assert problem(agent_api.post(f"import/{id_}/apply")) == (404, "not_found")


BAD: dict[str, tuple[str, Any, dict[str, str], int]] = {
    "no zip": ("import", b"hello", ZIP, 422),
    "nothing": ("import", b"", ZIP, 422),
    "JSON": ("import", {}, {}, 415),
    "a form without a file": (
        "import", encode_multipart(BOUNDARY, {"a": "b"}), {"content_type": MULTIPART_CONTENT}, 422,
    ),
    "a broken form": ("import", b"x", {"content_type": "multipart/form-data"}, 400),
    "an unknown parameter": ("import?x=1", b"", ZIP, 422),
    "a strange flag": ("import?dry_run=yes", packed({NAME: "x"}), ZIP, 422),
    "a long name": (f"import?file_name={'x' * 151}", packed({NAME: "x"}), ZIP, 422),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told(agent: Agent, admin_api: Api, name: str) -> None:
    path, body, headers, status = BAD[name]
    assert problem(admin_api.post(path, body, **headers))[0] == status
    assert not ImportPlan.objects.exists()


def test_unknown_fields_are_named(agent: Agent, admin_api: Api) -> None:
    plan = admin_api.post("import?dry_run=true", packed({NAME: "x"}), **ZIP).json()["id"]
    assert errors_of(admin_api.post(f"import/{plan}/apply", {"all": True})) == {"all"}


def test_exports_are_zips_that_can_be_asked_for(agent: Agent, admin_api: Api, agent_api: Api) -> None:
    for path in ("agents/ada/export", "teams/care/export"):
        answer = agent_api.get(path, accept="application/zip")
        assert answer["Content-Type"] == "application/zip"
        with opened(answer) as archive:
            assert archive.testzip() is None
    assert problem(agent_api.get("export")) == (403, "forbidden")


def test_an_export_holds_no_secret(team: Team, agent: Agent, admin: User, admin_api: Api) -> None:
    _, key = api_key_create(agent=agent, name="The name of a key")
    admin.set_password("correct horse 7")
    admin.save()
    with opened(admin_api.get("export")) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    for secret in (key, "The name of a key", admin.password, admin.username, ApiKey.objects.all()[0].hash):
        assert secret.encode() not in everything
