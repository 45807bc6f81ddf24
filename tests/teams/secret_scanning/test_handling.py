"""What happens to texts with secrets when they are written: each team's choice, in every kind of text."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create
from assembly.conflicts.services import _storable_reason
from assembly.models import Conflict
from config.http.errors import Invalid
from memories.models import Document, Event, Memory, MemoryVersion
from teams.activity.models import Activity
from teams.models import Team, TeamFile, User
from teams.secret_scanning.handling import RefusingOwner, SecretHandling, storable_value, strictest
from teams.services import team_create
from tests.client import Api, errors_of

pytestmark = pytest.mark.django_db

SECRET = "Blue-Otter42!"
TEXT = f"Ask at the desk.\nThe wifi password is {SECRET} for guests."
MASKED = "Ask at the desk.\nThe wifi password is [password removed] for guests."


def choose(team: Team, handling: str) -> None:
    Team.objects.filter(id=team.id).update(secret_handling=handling)


WRITES = {
    "agents/ada/memories": {"kind": "fact", "text": TEXT},
    "teams/care/memories": {"kind": "fact", "text": TEXT},
    "agents/ada/files/KNOWLEDGE": {"content": TEXT},
    "teams/care/files/CONTEXT": {"content": TEXT},
    "agents/ada/daily-logs/2026-01-05": {"text": TEXT},
    "agents/ada/documents": {"path": "desk.md", "content": TEXT},
}


def write(api: Api, path: str) -> Any:
    if "/files/" in path:
        return api.put(path, WRITES[path], if_match='"1"')
    return api.post(path, WRITES[path])


@pytest.mark.parametrize("path", WRITES)
def test_a_text_with_a_secret_is_refused_with_its_place_and_without_the_secret(
    path: str, agent: Agent, admin_api: Api
) -> None:
    answer = write(admin_api, path)
    assert answer.status_code == 422
    [error] = [error for errors in answer.json()["errors"].values() for error in errors]
    assert "Line 2 has what looks like a secret (password)" in error["message"]
    assert SECRET not in answer.content.decode()
    assert not Memory.objects.exists()
    assert not Document.objects.exists()


@pytest.mark.parametrize("path", WRITES)
def test_a_team_can_have_secrets_replaced(path: str, agent: Agent, team: Team, admin_api: Api) -> None:
    choose(team, SecretHandling.MASK)
    answer = write(admin_api, path)
    assert answer.status_code in {200, 201}
    assert answer.json()["notes"] == ["1 key or password was replaced by a note of its kind."]
    assert MASKED in answer.json().get("text", answer.json().get("content", ""))


def test_a_team_can_keep_them(agent: Agent, team: Team, admin_api: Api) -> None:
    choose(team, SecretHandling.KEEP)
    assert admin_api.post("agents/ada/memories", {"kind": "fact", "text": TEXT}).json()["text"] == TEXT


def test_the_strictest_team_of_an_agent_decides(agent: Agent, team: Team, admin_api: Api) -> None:
    choose(team, SecretHandling.KEEP)
    other = team_create(slug="strict", name="Strict")
    agent_create(slug="bob", name="Bob", teams=[team, other])
    assert admin_api.post("agents/bob/memories", {"kind": "fact", "text": TEXT}).status_code == 422
    assert strictest(["keep", "mask"]) == "mask"
    assert strictest([]) == "refuse"


def test_values_of_events_are_judged_with_their_names(agent: Agent, admin_api: Api) -> None:
    content = {"user": "bob", "password": "s3cr3tPass99", "list": [{"token": "none"}]}
    body = {"type": "tool_call", "content": content}
    answer = admin_api.post("agents/ada/events", body)
    assert answer.status_code == 422
    assert "s3cr3tPass99" not in answer.content.decode()
    assert not Event.objects.exists()


RECALL_TEST = {"agent": "ada", "name": "Desk", "expectations": [{"kind": "include", "text": "Nine"}]}
KEY = "a81Kd72mQp0Zx3Vb"
HIDDEN = (
    {"password": [SECRET]},
    {"password": {"value": SECRET}},
    {"password": {"now": [{"set": SECRET}]}},
    {"api_key": {"prod": KEY}},
    {"name": "api_key", "value": KEY},
    {"env": [{"name": "DB_PASSWORD", "value": SECRET}]},
    {"ghp_" + "a1" * 18: 1},
)
HARMLESS = (
    {"password": {"type": "string", "pattern": "^[a-z0-9]{12}$", "owner": "bob42smith99", "url": "db1-4711.example"}},
    {"name": "port1", "value": "a81Kd72mQp0Zx3Vb"},
    {"password": {"rules": ["at least twelve characters"]}},
    {"tokens": {"prompt": "812", "by": "gpt-4o-mini-2024-07-18"}},
)


@pytest.mark.parametrize("value", HIDDEN, ids=str)
def test_a_name_of_a_secret_counts_for_all_that_is_below_it(value: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refused:
        storable_value(value, RefusingOwner(), "content")
    assert SECRET not in refused.value.detail
    assert KEY not in refused.value.detail
    masked = str(storable_value(value, RefusingOwner(SecretHandling.MASK), "content"))
    assert "removed]" in masked
    assert not any(one in masked for one in (SECRET, KEY, "ghp_a1"))
    assert storable_value(value, RefusingOwner(SecretHandling.KEEP), "content") == value


@pytest.mark.parametrize("value", HARMLESS, ids=str)
def test_what_describes_a_secret_is_none(value: dict[str, Any]) -> None:
    assert storable_value(value, RefusingOwner(), "content") == value


def test_names_that_are_replaced_alike_stay_apart() -> None:
    value = {"ghp_" + letter + "1" * 36: letter for letter in "ab"}
    masked = storable_value(value, RefusingOwner(SecretHandling.MASK), "content")
    assert masked == {"[GitHub token removed]": "a", "[GitHub token removed] 2": "b"}


def test_an_event_with_a_hidden_secret_is_not_stored(agent: Agent, admin_api: Api) -> None:
    answer = admin_api.post("agents/ada/events", {"type": "tool_call", "content": HIDDEN[3]})
    assert (errors_of(answer), KEY in answer.content.decode()) == ({"content"}, False)
    assert not Event.objects.exists()


def test_notes_reasons_topics_and_ids_are_searched(agent: Agent, team: Team, admin_api: Api) -> None:
    note = f"The wifi password is {SECRET}"
    memory = admin_api.post("agents/ada/memories", {"kind": "fact", "text": "The desk opens at nine."}).json()
    context = admin_api.post("assemblies", {"agent": "ada", "topic": "desk"}).json()["id"]
    path, etag = f"agents/ada/memories/{memory['id']}", '"1"'
    refused = {
        "note": admin_api.patch(path, {"text": "The desk opens at ten.", "note": note}, if_match=etag),
        "archive_reason": admin_api.patch(path, {"archived": True, "archive_reason": note}, if_match=etag),
        "note ": admin_api.put("teams/care/files/CONTEXT", {"content": "Desk.", "note": note}, if_match=etag),
        "note  ": admin_api.post(f"assemblies/{context}/feedback", {"satisfaction": 1, "note": note}),
        "topic": admin_api.post("recall-tests", {**RECALL_TEST, "topic": note}),
    }
    assert {name: (answer.status_code, errors_of(answer)) for name, answer in refused.items()} == {
        name: (422, {name.strip()}) for name in refused
    }
    for handling in ("refuse", "mask"):
        choose(team, handling)
        for noun, body in (
            ("memories", {"kind": "fact", "text": "Nine."}),
            ("documents", {"path": "a.md", "content": "Nine."}),
        ):
            answer = admin_api.post(f"agents/ada/{noun}", {**body, "external_id": "ghp_" + "a1" * 18})
            assert errors_of(answer) == {"external_id"}
    answer = admin_api.patch(path, {"text": "The desk opens at ten.", "note": note}, if_match=etag)
    assert answer.status_code == 200
    assert MemoryVersion.objects.get(file=memory["id"], version=2).note == "The wifi password is [password removed]"


def test_a_reason_of_a_conflict_is_searched(agent: Agent) -> None:
    with pytest.raises(Invalid):
        _storable_reason(Conflict(agent=agent), f"password: {SECRET}")
    assert _storable_reason(Conflict(), "Nine holds.") == "Nine holds."


def test_an_error_in_a_batch_names_the_position(agent: Agent, admin_api: Api) -> None:
    events = [{"type": "message", "content": {"text": "fine"}}, {"type": "message", "content": {"text": TEXT}}]
    assert errors_of(admin_api.post("agents/ada/events/batch", {"items": events})) == {"items.1.content"}
    memories = [{"kind": "fact", "text": "fine"}, {"kind": "fact", "text": TEXT}]
    assert errors_of(admin_api.post("agents/ada/memories/batch", {"items": memories})) == {"items.1.text"}


def test_only_admins_of_the_team_choose_and_the_choice_is_recorded(
    team: Team, owner: User, editor: User, outsider: User, as_person: Callable[[User], Api]
) -> None:
    for person, status in ((editor, 403), (outsider, 404)):
        answer = as_person(person).patch("teams/care", {"secret_handling": "keep"}, if_match='"1"')
        assert answer.status_code == status
    api = as_person(owner)
    answer = api.patch("teams/care", {"secret_handling": "never"}, if_match='"1"')
    assert errors_of(answer) == {"secret_handling"}
    answer = api.patch("teams/care", {"secret_handling": "mask"}, if_match='"1"')
    assert (answer.status_code, answer.json()["secret_handling"]) == (200, "mask")
    assert Activity.objects.get(action="team.changed").detail == {
        "secret_handling": "mask",
        "before": {"secret_handling": "refuse"},
    }


def test_a_mixed_role_does_not_reach_into_other_teams(mixed: User, as_person: Callable[[User], Api]) -> None:
    answer = as_person(mixed).patch("teams/viewer-elsewhere", {"secret_handling": "keep"}, if_match='"1"')
    assert answer.status_code == 403


def test_texts_that_were_stored_before_stay_until_they_are_saved_again(team: Team, admin_api: Api) -> None:
    file = TeamFile.objects.get(team=team, file_key="CONTEXT")
    TeamFile.objects.filter(id=file.id).update(content=TEXT)
    assert admin_api.get("teams/care/files/CONTEXT").json()["content"] == TEXT
    body = {"content": TEXT + " And more."}
    assert admin_api.put("teams/care/files/CONTEXT", body, if_match='"1"').status_code == 422
