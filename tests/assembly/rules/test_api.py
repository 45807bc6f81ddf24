"""Rules over REST: read by those who see whom they are for, written by those who may edit there."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from assembly.models import StoredRule
from assembly.rules.services import rule_create
from memories.models import Document
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.client import Api, errors_of, problem
from tests.rights.test_tenancy import RULES

pytestmark = pytest.mark.django_db

QUIET = "description: No logs.\nthen: {exclude: [{source: daily_logs}]}\n"
LOUD = "then: {boost: [{source: daily_logs, weight: 2}]}\n"
GONE = "when:\n  agent: ada\nthen: {exclude: [{source: moons}]}\n"


@pytest.fixture
def rules(agent: Agent, team: Team) -> None:
    """One for the agent, one for its team, one for everybody."""
    for name, owner in (("of-ada", agent), ("of-care", team), ("of-all", None)):
        rule_create(name=name, content=QUIET, owner=owner, principal=SYSTEM)


def test_the_story_of_a_rule(agent: Agent, admin_api: Api) -> None:
    made = admin_api.post("rules", {"name": "quiet", "content": QUIET, "agent": "ada"})
    assert (made.status_code, made["Location"], made["ETag"]) == (201, "/api/v1/rules/quiet", '"1"')
    facts = {"name": "quiet", "version": 1, "scope": "agent", "agent": "ada", "team": None, "enabled": True}
    assert made.json().items() >= {**facts, "description": "No logs.", "error": None, "content": QUIET}.items()
    saved = admin_api.put("rules/quiet", {"content": LOUD}, if_match='"1"')
    assert (saved.status_code, saved["ETag"], saved.json()["enabled"]) == (200, '"2"', True)
    off = admin_api.put("rules/quiet", {"content": LOUD, "enabled": False}, if_match='"2"')
    assert (off.json()["version"], off.json()["enabled"]) == (3, False)
    assert admin_api.put("rules/quiet", {"content": LOUD}, if_match='"3"').json()["version"] == 3
    assert [row["version"] for row in admin_api.get("rules/quiet/versions").json()["results"]] == [3, 2, 1]
    assert admin_api.get("rules/quiet/versions/1").json()["content"] == QUIET
    assert admin_api.get("rules/quiet", if_none_match='"3"').status_code == 304
    assert admin_api.delete("rules/quiet").status_code == 204
    assert problem(admin_api.get("rules/quiet")) == (404, "not_found")


def test_a_save_names_the_version_it_was_made_from(rules: None, admin_api: Api) -> None:
    assert problem(admin_api.put("rules/of-all", {"content": LOUD})) == (428, "precondition_required")
    admin_api.put("rules/of-all", {"content": LOUD}, if_match='"1"')
    stale = admin_api.put("rules/of-all", {"content": QUIET}, if_match='"1"')
    assert problem(stale) == (412, "stale_version")
    assert stale.json()["current"]["content"] == LOUD
    assert problem(admin_api.delete("rules/of-all", if_match='"1"')) == (412, "stale_version")


NAMES = ("of-ada", "of-care", "of-all")
READS = ["rules/{}", "rules/{}/versions", "rules/{}/versions/1"]

# Who may read (200), change (a 403 means: sees it) the rule of the agent, of the team, of everybody.
RIGHTS = {
    "admin": ((200, 200, 200), (200, 200, 200)),
    "owner": ((200, 200, 200), (200, 200, 403)),
    "editor": ((200, 200, 200), (200, 200, 403)),
    "teammate": ((200, 200, 200), (403, 403, 403)),
    "outsider": ((404, 404, 200), (404, 404, 403)),
    "agent_api": ((200, 200, 200), (403, 403, 403)),
    "other_agent_api": ((404, 404, 200), (404, 404, 403)),
    "anonymous_api": ((401, 401, 401), (401, 401, 401)),
}


@pytest.mark.parametrize("who", RIGHTS)
def test_everybody_is_answered_as_the_table_says(
    who: str, rules: None, as_person: Callable[[User], Api], request: pytest.FixtureRequest
) -> None:
    asking = request.getfixturevalue(who)
    api = asking if isinstance(asking, Api) else as_person(asking)
    readable, changeable = RIGHTS[who]
    for path in READS:
        assert tuple(api.get(path.format(name)).status_code for name in NAMES) == readable
    saves = [api.put(f"rules/{name}", {"content": LOUD}, if_match='"1"').status_code for name in NAMES]
    assert tuple(saves) == changeable
    deletes = [api.delete(f"rules/{name}").status_code for name in NAMES]
    assert tuple(deletes) == tuple(204 if status == 200 else status for status in changeable)


@pytest.mark.parametrize(
    ("who", "answers"),
    [
        ("admin", (201, 201, 201)),
        ("editor", (201, 201, 403)),
        ("teammate", (403, 403, 403)),
        ("outsider", (404, 404, 403)),
    ],
)
def test_who_may_edit_there_makes_rules(
    who: str,
    answers: tuple[int, ...],
    agent: Agent,
    as_person: Callable[[User], Api],
    request: pytest.FixtureRequest,
) -> None:
    api = as_person(request.getfixturevalue(who))
    owners: list[dict[str, str]] = [{"agent": "ada"}, {"team": "care"}, {}]
    made = [
        api.post("rules", {"name": f"r-{number}", "content": QUIET, **owner}).status_code
        for number, owner in enumerate(owners)
    ]
    assert tuple(made) == answers
    assert StoredRule.objects.count() == made.count(201)


def test_a_key_writes_where_its_scopes_say(agent: Agent) -> None:
    _, secret = api_key_create(agent=agent, name="k", scopes=[ApiKey.Scope.WRITE_FILES])
    api = Api(secret)
    assert api.post("rules", {"name": "mine", "content": QUIET, "agent": "ada"}).status_code == 201
    assert problem(api.post("rules", {"name": "ours", "content": QUIET, "team": "care"})) == (403, "forbidden")
    assert problem(api.post("rules", {"name": "all", "content": QUIET})) == (403, "forbidden")


def test_lists_show_only_what_one_may_see(
    rules: None,
    agent_api: Api,
    other_agent_api: Api,
    django_assert_max_num_queries: Callable[[int], AbstractContextManager[Any]],
) -> None:
    with django_assert_max_num_queries(4):  # the key, its use, its agent's teams, the rules
        assert [row["name"] for row in agent_api.get("rules").json()["results"]] == ["of-all", "of-care", "of-ada"]
    assert [row["name"] for row in other_agent_api.get("rules").json()["results"]] == ["of-all"]
    assert [row["name"] for row in agent_api.get("rules?agent=ada").json()["results"]] == ["of-ada"]
    assert [row["name"] for row in agent_api.get("rules?team=care").json()["results"]] == ["of-care"]
    for query in ("agent=ada", "team=care", "agent=nobody"):
        assert problem(other_agent_api.get(f"rules?{query}")) == (404, "not_found")
    first = agent_api.get("rules?limit=2").json()
    assert [row["name"] for row in agent_api.get(first["next"]).json()["results"]] == ["of-ada"]


def test_every_address_is_tried_here() -> None:
    known = {path.format("<slug:name>").replace("/1", "/<int:version>") for path in READS}
    assert known | {"rules", "rules/check", "rules/backtest", "rules/recall-tests"} == RULES


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"content": QUIET}, "name"),
        ({"name": "own"}, "content"),
        ({"name": "Own", "content": QUIET}, "name"),
        ({"name": "new", "content": QUIET}, "name"),
        ({"name": "a" * 61, "content": QUIET}, "name"),
        ({"name": "own", "content": ""}, "content"),
        ({"name": "own", "content": GONE}, "content"),
        ({"name": "own", "content": "\x00"}, "content"),
        ({"name": "own", "content": "x" * 100_001}, "content"),
        ({"name": "own", "content": QUIET, "enabled": "perhaps"}, "enabled"),
        ({"name": "own", "content": QUIET, "agent": "ada", "team": "care"}, "team"),
        ({"name": "own", "content": QUIET, "colour": "red"}, "colour"),
    ],
)
def test_bad_values_are_named(body: dict[str, Any], field: str, agent: Agent, admin_api: Api) -> None:
    assert errors_of(admin_api.post("rules", body)) == {field}
    assert not StoredRule.objects.exists()


def test_a_name_is_given_once(rules: None, admin_api: Api) -> None:
    assert problem(admin_api.post("rules", {"name": "of-all", "content": QUIET})) == (409, "conflict")


def test_a_fault_is_named_with_its_line(rules: None, admin_api: Api) -> None:
    answer = admin_api.put("rules/of-all", {"content": GONE}, if_match='"1"')
    assert errors_of(answer) == {"content"}
    assert answer.json()["detail"].startswith("Line 3: “source” must be one of: agent_files")


@pytest.mark.parametrize(("content", "line"), [("", 1), (GONE, 3), ("then: [", 1), (QUIET, 0), ("a: &b c", 1)])
def test_a_text_is_checked_without_being_saved(content: str, line: int, agent_api: Api) -> None:
    answer = agent_api.post("rules/check", {"content": content})
    assert answer.status_code == 200
    assert [error["line"] for error in answer.json()["errors"]] == ([line] if line else [])
    assert not StoredRule.objects.exists()


def test_what_is_not_there_is_a_404(admin_api: Api) -> None:
    for path in ("rules/nobody", "rules/nobody/versions", "rules/nobody/versions/1"):
        assert problem(admin_api.get(path)) == (404, "not_found")
    assert problem(admin_api.put("rules/nobody", {"content": LOUD}, if_match='"1"')) == (404, "not_found")


@pytest.mark.parametrize(("query", "field"), [("limit=0", "limit"), ("cursor=x", "cursor"), ("page=2", "page")])
def test_a_bad_query_is_named(query: str, field: str, rules: None, agent_api: Api) -> None:
    for path in ("rules", "rules/of-all/versions"):
        assert errors_of(agent_api.get(f"{path}?{query}")) == {field}


def test_an_assembly_says_which_rules_fired_and_what_they_did(agent: Agent, agent_api: Api) -> None:
    Document.objects.create(agent=agent, path="docs/a.md", content="Lock the door.")
    content = "then: {always_include: [{path: 'docs/**'}]}"
    rule_create(name="promise", content=content, owner=agent, principal=SYSTEM)
    answer = agent_api.post("assemblies", {"agent": "ada"}).json()
    did = {"included": 1, "boosted": 0, "excluded": 0}
    assert answer["metadata"]["rules"] == [{"name": "promise", "version": 1, "scope": "agent", "effects": did}]
    assert answer["metadata"]["unreadable_rules"] == []
    assert "Lock the door." in answer["content"]
    small = agent_api.post("assemblies", {"agent": "ada", "max_tokens": 8}).json()
    assert [warning["code"] for warning in small["warnings"]] == ["RULE_NOT_KEPT"]
    assert agent_api.post(f"assemblies/{small['id']}/replay").json()["identical"] is True
