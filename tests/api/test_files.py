"""Files of agents and teams over REST: one implementation, two owners."""

from collections.abc import Callable

import pytest

from agents.keys import api_key_create
from agents.models import Agent, AgentFile, ApiKey
from teams.models import Team, User
from tests.client import Api, problem

pytestmark = pytest.mark.django_db

OWNERS = [("agents/ada", "IDENTITY"), ("teams/care", "GOALS")]
TEXTS = ["", " ", "\n", "  # Title\r\n\ttext \n\n", "ünïcödé 🎉", "</script>", "x" * 1_000_000]


@pytest.mark.parametrize(("whose", "key"), OWNERS)
def test_the_story_of_a_file(whose: str, key: str, agent: Agent, admin_api: Api) -> None:
    path = f"{whose}/files/{key}"
    empty = admin_api.get(path)
    assert empty["ETag"] == '"1"'
    assert empty.json().items() >= {"key": key, "content": "", "version": 1, "updated_by": "system"}.items()
    saved = admin_api.put(path, {"content": "First"}, if_match=empty["ETag"])
    assert saved.json().items() >= {"content": "First", "version": 2, "updated_by": "user", "editor": "Ops"}.items()
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
