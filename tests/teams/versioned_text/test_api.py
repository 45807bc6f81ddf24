"""Files of agents and teams over REST: one implementation, two owners."""

from collections.abc import Callable

import pytest

from agents.keys import api_key_create
from agents.models import Agent, AgentFile, ApiKey
from teams.models import Team, User
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db

OWNERS = [("agents/ada", "IDENTITY"), ("teams/care", "GOALS")]
TEXTS = ["", " ", "\n", "  # Title\r\n\ttext \n\n", "ünïcödé 🎉", "</script>", "x" * 1_000_000]


@pytest.mark.parametrize(("whose", "key"), OWNERS)
def test_the_story_of_a_file(whose: str, key: str, agent: Agent, admin_api: Api) -> None:
    path = f"{whose}/files/{key}"
    empty = admin_api.get(path)
    assert empty["ETag"] == '"1"'
    assert empty.json().items() >= {"key": key, "content": "", "version": 1}.items()
    saved = admin_api.put(path, {"content": "First"}, if_match=empty["ETag"])
    assert saved.json().items() >= {"content": "First", "version": 2}.items()
    assert saved.json()["updated_by"]["name"] == "Ops"
    versions = admin_api.get(f"{path}/versions").json()
    assert [row["version"] for row in versions["results"]] == [2, 1]
    assert versions["next"] is None
    assert "content" not in versions["results"][0]
    assert [admin_api.get(f"{path}/versions/{n}").json()["content"] for n in (1, 2)] == ["", "First"]
    assert key in {row["key"] for row in admin_api.get(f"{whose}/files").json()["results"]}


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:20]))
def test_a_text_is_stored_as_sent(text: str, agent: Agent, admin_api: Api) -> None:
    response = admin_api.put("agents/ada/files/KNOWLEDGE", {"content": text}, if_match='"1"')
    assert response.status_code == 200
    assert admin_api.get("agents/ada/files/KNOWLEDGE").json()["content"] == text


@pytest.mark.parametrize(("whose", "key"), OWNERS)
def test_a_file_exists_always(whose: str, key: str, agent: Agent, admin_api: Api) -> None:
    response = admin_api.put(f"{whose}/files/{key}", {"content": "x"}, if_none_match="*")
    assert problem(response) == (412, "precondition_failed")


@pytest.mark.parametrize(
    ("scopes", "path", "status"),
    [
        ((), "agents/ada/files/IDENTITY", 403),
        ((), "teams/care/files/GOALS", 403),
        ((ApiKey.Scope.WRITE_FILES,), "agents/ada/files/IDENTITY", 200),
        ((ApiKey.Scope.WRITE_FILES,), "teams/care/files/GOALS", 403),
        ((ApiKey.Scope.WRITE_TEAM_FILES,), "agents/ada/files/IDENTITY", 403),
        ((ApiKey.Scope.WRITE_TEAM_FILES,), "teams/care/files/GOALS", 200),
    ],
)
def test_an_agent_writes_files_only_if_its_scope_says_so(
    scopes: tuple[str, ...], path: str, status: int, agent: Agent
) -> None:
    api = Api(api_key_create(agent=agent, scopes=scopes)[1])
    assert api.get(path).status_code == 200
    assert api.put(path, {"content": "x"}, if_match='"1"').status_code == status


@pytest.mark.parametrize(("name", "status"), [("owner", 200), ("editor", 200), ("teammate", 403), ("admin", 200)])
def test_editors_edit_and_viewers_view(
    name: str, status: int, agent: Agent, admin: User, as_person: Callable[[User], Api]
) -> None:
    api = as_person(User.objects.get(username=name))
    for whose, key in OWNERS:
        assert api.get(f"{whose}/files/{key}").status_code == 200
        response = api.put(f"{whose}/files/{key}", {"content": "x"}, if_match='"1"')
        assert response.status_code == status


@pytest.mark.parametrize("path", ["agents/old/files", "agents/old/files/INSTRUCTIONS"])
def test_an_agent_from_before_files_gets_them_when_read(path: str, team: Team, admin_api: Api) -> None:
    Agent.objects.create(slug="old", name="Old", instructions="Legacy")
    assert admin_api.get(path).status_code == 200
    assert AgentFile.objects.get(agent__slug="old", file_key="INSTRUCTIONS").content == "Legacy"
    assert AgentFile.objects.filter(agent__slug="old").count() == 3


@pytest.mark.parametrize(("whose", "key"), OWNERS)
def test_a_version_keeps_what_its_author_says_of_it(whose: str, key: str, agent: Agent, admin_api: Api) -> None:
    path = f"{whose}/files/{key}"
    admin_api.put(path, {"content": "x", "note": "New date"}, if_match='"1"')
    admin_api.put(path, {"content": "y", "note": ""}, if_match='"2"')
    rows = admin_api.get(f"{path}/versions").json()["results"]
    assert [row["note"] for row in rows] == ["", "New date", ""]
    assert admin_api.get(f"{path}/versions/2").json()["note"] == "New date"


@pytest.mark.parametrize("note", ["two\nlines", "x" * 201, 7, None, "\x00"])
def test_a_note_is_one_line(note: object, agent: Agent, admin_api: Api) -> None:
    response = admin_api.put("teams/care/files/GOALS", {"content": "x", "note": note}, if_match='"1"')
    assert errors_of(response) == {"note"}


@pytest.mark.parametrize(("whose", "key"), OWNERS)
def test_two_versions_are_compared(whose: str, key: str, agent: Agent, admin_api: Api) -> None:
    path = f"{whose}/files/{key}"
    admin_api.put(path, {"content": "Ship it.\nBy March.\n"}, if_match='"1"')
    admin_api.put(path, {"content": "Ship it.\nBy May, whatever.\n"}, if_match='"2"')
    expected = {
        "from": 2,
        "to": 3,
        "changes": 1,
        "words_added": 2,
        "words_removed": 1,
        "hunks": [
            {
                "old_line": 2,
                "new_line": 2,
                "runs": [
                    {"kind": "equal", "text": "By "},
                    {"kind": "removed", "text": "March"},
                    {"kind": "added", "text": "May, whatever"},
                    {"kind": "equal", "text": ".\n"},
                ],
            }
        ],
    }
    assert admin_api.get(f"{path}/versions/2/compare?with=3").json() == expected
    assert admin_api.get(f"{path}/versions/2/compare").json() == expected
    assert admin_api.get(f"{path}/versions/3/compare?with=2").json()["words_removed"] == 2
    assert admin_api.get(f"{path}/versions/2/compare?with=2").json()["hunks"] == []


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("1/compare?with=9", (404, "not_found")),
        ("9/compare", (404, "not_found")),
        ("99999999999999999999/compare?with=1", (404, "not_found")),
        ("1/compare?with=99999999999999999999", (422, "invalid")),
        ("1/compare?with=draft", (422, "invalid")),
        ("1/compare?with=0", (422, "invalid")),
        ("1/compare?to=1", (422, "invalid")),
    ],
)
def test_comparing_with_what_is_no_version(query: str, answer: tuple[int, str], team: Team, admin_api: Api) -> None:
    assert problem(admin_api.get(f"teams/care/files/GOALS/versions/{query}")) == answer
