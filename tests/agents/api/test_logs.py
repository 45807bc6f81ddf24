"""Daily logs over REST: appended to by agents, replaced with care."""

from collections.abc import Callable

import pytest

from agents.models import Agent, DailyLogVersion
from teams.models import Erasure, User
from tests.client import Api, problem

pytestmark = pytest.mark.django_db

LOG = "agents/ada/daily-logs/2026-01-05"


def test_the_first_paragraph_starts_the_log_and_the_next_follow(agent: Agent, agent_api: Api) -> None:
    first = agent_api.post(LOG, {"text": "  Met Olga. \n"})
    assert (first.status_code, first["Location"], first["ETag"]) == (201, f"/api/v1/{LOG}", '"1"')
    second = agent_api.post(LOG, {"text": "Then Edda."})
    assert (second.status_code, second["ETag"]) == (200, '"2"')
    assert "Location" not in second
    log = agent_api.get(LOG).json()
    assert log.items() >= {"date": "2026-01-05", "version": 2}.items()
    assert (log["updated_by"]["type"], log["updated_by"]["name"]) == ("key", "Ada's key")
    assert log["content"] == "  Met Olga. \n\n\nThen Edda."


def test_a_log_cannot_grow_without_end(agent: Agent, agent_api: Api) -> None:
    for _ in range(4):
        assert agent_api.post(LOG, {"text": "x" * 200_000}).status_code in {200, 201}
    assert problem(agent_api.post(LOG, {"text": "x" * 200_000})) == (422, "file_too_large")


def test_logs_are_listed_newest_day_first(agent: Agent, agent_api: Api) -> None:
    for day in ("04", "06", "05", "07"):
        agent_api.post(f"agents/ada/daily-logs/2026-01-{day}", {"text": day})

    def days(query: str) -> list[str]:
        return [row["content"] for row in agent_api.get(f"agents/ada/daily-logs{query}").json()["results"]]

    assert days("") == ["07", "06", "05", "04"]
    assert days("?since=2026-01-05&until=2026-01-06") == ["06", "05"]
    page = agent_api.get("agents/ada/daily-logs?since=2026-01-05&limit=2").json()
    rest = agent_api.get(page["next"]).json()
    assert [row["content"] for row in page["results"] + rest["results"]] == ["07", "06", "05"]
    assert rest["next"] is None


def test_replacing_makes_a_version(agent: Agent, agent_api: Api) -> None:
    agent_api.post(LOG, {"text": "Typo"})
    saved = agent_api.put(LOG, {"content": ""}, if_match='"1"')
    assert (saved.status_code, saved.json()["content"], saved["ETag"]) == (200, "", '"2"')
    versions = agent_api.get(f"{LOG}/versions").json()["results"]
    assert [row["version"] for row in versions] == [2, 1]
    assert agent_api.get(f"{LOG}/versions/1").json()["content"] == "Typo"
    assert problem(agent_api.get(f"{LOG}/versions/3")) == (404, "not_found")


@pytest.mark.parametrize(
    ("exists", "headers", "status"),
    [
        (False, {}, 428),
        (False, {"if_match": '"1"'}, 404),
        (False, {"if_none_match": "*"}, 201),
        (True, {}, 428),
        (True, {"if_none_match": "*"}, 412),
        (True, {"if_none_match": "*", "if_match": '"1"'}, 412),
        (True, {"if_match": "*"}, 200),
        (True, {"if_match": '"7", "1"'}, 200),
        (True, {"if_match": '"2"'}, 412),
    ],
)
def test_put_says_whether_it_creates_or_replaces(
    exists: bool, headers: dict[str, str], status: int, agent: Agent, agent_api: Api
) -> None:
    if exists:
        agent_api.post(LOG, {"text": "Here"})
    response = agent_api.put(LOG, {"content": "New"}, **headers)
    assert response.status_code == status
    if status == 201:
        assert response["Location"] == f"/api/v1/{LOG}"


def test_a_deleted_log_is_gone_with_its_versions(agent: Agent, agent_api: Api) -> None:
    agent_api.post(LOG, {"text": "Secret"})
    assert agent_api.delete(LOG).status_code == 204
    assert problem(agent_api.get(LOG)) == (404, "not_found")
    assert not DailyLogVersion.objects.exists()
    assert Erasure.objects.get().kind == "daily_logs"


def test_people_write_logs_if_they_edit(agent: Agent, editor: User, as_person: Callable[[User], Api]) -> None:
    response = as_person(editor).post(LOG, {"text": "By hand"})
    assert response.json()["updated_by"]["name"] == "Edda Editor"


def test_a_log_is_replaced_with_a_note_and_compared(agent: Agent, agent_api: Api) -> None:
    agent_api.put(LOG, {"content": "Met Olga.", "note": "Begun"}, if_none_match="*")
    agent_api.put(LOG, {"content": "Met Edda.", "note": "Corrected"}, if_match='"1"')
    rows = agent_api.get(f"{LOG}/versions").json()["results"]
    assert [row["note"] for row in rows] == ["Corrected", "Begun"]
    found = agent_api.get(f"{LOG}/versions/1/compare").json()
    assert (found["from"], found["to"], found["words_added"], found["words_removed"]) == (1, 2, 1, 1)
