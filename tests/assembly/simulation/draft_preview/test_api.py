"""Trying texts over REST: what a context would be with them, while nothing is saved."""

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, DailyLog
from assembly.models import Assembly
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db

NOW = "2026-03-02T12:00:00Z"
WISHES = {"agent": "ada", "team": "care", "now": NOW}
LONG = "\n\n".join(["Answer within a day, and say what happens next."] * 40)


@pytest.fixture
def goals(agent: Agent, team: Team) -> str:
    """The text of the team's goals; the agent knows something, too."""
    for file, content in (
        (team.files.get(file_key="GOALS"), "Answer within a day."),
        (agent.files.get(file_key="KNOWLEDGE"), LONG),
    ):
        file_save(file=file, content=content, expected_version=1, author=SYSTEM.author)
    return "Answer within a day."


def test_the_answer_says_what_would_change(goals: str, agent_api: Api) -> None:
    rows = Assembly.objects.count()
    told = agent_api.post("assemblies", {**WISHES, "max_tokens": 500}).json()
    body = {**WISHES, "max_tokens": 500, "files": {"GOALS": LONG}, "include": ["content"]}
    answer = agent_api.post("draft-previews", body)
    assert answer.status_code == 200, answer.content
    document = answer.json()
    assert document["before"]["content"] == told["content"]
    assert document["before"]["sha256"] == told["sha256"]
    assert document["after"]["content"].startswith(
        "## Instructions\nBe kind.\n\n## Team Goals\nAnswer within a day, and"
    )
    assert document["now"] == "2026-03-02T12:00:00Z"
    assert not document["same"]
    assert "Knowledge would be" in document["summary"]
    sections = {section["key"]: section for section in document["sections"]}
    assert sections["knowledge"]["before"]["status"] == "whole"
    assert sections["knowledge"]["after"]["status"] in {"cut", "left_out"}
    assert sections["instructions"]["same"]
    for side in ("before", "after"):
        assert sum(section[side]["tokens"] for section in document["sections"]) == document[side]["tokens"]
    changed = {change["after"]["section"]: change for change in document["changes"]}
    assert changed["goals"]["ref"].endswith("@draft")
    assert changed["knowledge"]["truncated"] or changed["knowledge"]["effect"] == "out"
    assert Assembly.objects.count() == rows + 1


def test_nothing_to_try_changes_nothing(goals: str, agent_api: Api) -> None:
    document = agent_api.post("draft-previews", {**WISHES, "files": {"GOALS": goals}}).json()
    assert (document["same"], document["changes"]) == (True, [])
    assert document["summary"] == "The context is unchanged."
    assert "content" not in document["before"]


def test_a_day_that_has_no_log_yet_is_tried_too(goals: str, agent_api: Api) -> None:
    body = {**WISHES, "daily_logs": {"2026-03-01": "Met the press."}, "include": ["content"]}
    document = agent_api.post("draft-previews", body).json()
    assert "### 2026-03-01\nMet the press." in document["after"]["content"]
    assert not DailyLog.objects.exists()


RIGHTS = {
    "admin": 200,
    "owner": 200,
    "editor": 200,
    "teammate": 200,  # may read all that a context is made of; nothing is stored
    "outsider": 404,
    "agent_api": 200,
    "other_agent_api": 404,
    "admin_api": 200,
    "anonymous_api": 401,
}


@pytest.mark.parametrize("who", RIGHTS)
def test_everybody_is_answered_as_the_table_says(
    who: str, goals: str, as_person: Callable[[User], Api], request: pytest.FixtureRequest
) -> None:
    asking = request.getfixturevalue(who)
    api = asking if isinstance(asking, Api) else as_person(asking)
    assert api.post("draft-previews", {**WISHES, "files": {"GOALS": "x"}}).status_code == RIGHTS[who]
    assert api.post("draft-previews", {"agent": "ada", "files": {"IDENTITY": "x"}}).status_code == RIGHTS[who]


def test_a_key_tries_only_for_its_agent_and_only_in_its_teams(agent_api: Api, other_agent_api: Api) -> None:
    assert problem(agent_api.post("draft-previews", {"agent": "eve"})) == (404, "not_found")
    assert problem(agent_api.post("draft-previews", {"agent": "ada", "team": "far"})) == (404, "not_found")
    assert problem(other_agent_api.post("draft-previews", {"agent": "eve", "team": "care"})) == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"agent": None}, "agent"),
        ({"files": {"NOTES": "x"}}, "files"),
        ({"files": ["GOALS"]}, "files"),
        ({"files": {"GOALS": "x"}, "team": None}, "team"),
        ({"files": {"GOALS": "x" * 1_000_001}}, "files.GOALS"),
        ({"files": {"GOALS": 1}}, "files.GOALS"),
        ({"files": {"GOALS": "\x00"}}, "files.GOALS"),
        ({"daily_logs": {"yesterday": "x"}}, "daily_logs"),
        ({"daily_logs": {"2026-02-30": "x"}}, "daily_logs"),
        ({"daily_logs": {f"2026-01-{day:02}": "x" for day in range(1, 32)} | {"2026-02-01": "x"}}, "daily_logs"),
        ({"include": ["secrets"]}, "include.0"),
        ({"max_tokens": 200_001}, "max_tokens"),
        ({"profile": "nope"}, "profile"),
        ({"tokenizer": "nope"}, "tokenizer"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_values_are_named(body: dict[str, Any], field: str, agent: Agent, admin_api: Api) -> None:
    assert errors_of(admin_api.post("draft-previews", {**WISHES, **body})) == {field}


def test_a_team_that_the_agent_does_not_work_in_is_refused(agent: Agent, outsider: User, admin_api: Api) -> None:
    assert errors_of(admin_api.post("draft-previews", {"agent": "ada", "team": "elsewhere"})) == {"team"}


def test_the_moment_is_now_unless_given(agent: Agent, admin_api: Api) -> None:
    before = datetime.datetime.now(datetime.UTC)
    now = admin_api.post("draft-previews", {"agent": "ada"}).json()["now"]
    assert before <= datetime.datetime.fromisoformat(now) <= datetime.datetime.now(datetime.UTC)


def test_how_many_texts_are_tried_costs_no_more_queries(goals: str, admin_api: Api) -> None:
    counts = []
    assert admin_api.post("draft-previews", WISHES).status_code == 200
    for files in ({"GOALS": "One."}, {"GOALS": "Two.", "CONTEXT": "Two.", "RULES": "Two.", "KNOWLEDGE": "Two."}):
        with CaptureQueriesContext(connection) as queries:
            assert admin_api.post("draft-previews", {**WISHES, "files": files}).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]
