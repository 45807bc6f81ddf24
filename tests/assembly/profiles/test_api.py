"""Profiles over REST: everyone reads and uses them, admins of the organisation write them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.models import StoredProfile
from assembly.profiles.services import profile_create
from assembly.profiles.shipped import SHIPPED
from assembly.profiles.yaml_reader import MAX_CHARACTERS
from teams.models import User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.assembly.profiles.test_services import BRIEF, BRIEFER, GONE
from tests.client import Api, errors_of, problem
from tests.rights.test_tenancy import PROFILES

pytestmark = pytest.mark.django_db


@pytest.fixture
def brief() -> StoredProfile:
    return profile_create(name="brief", content=BRIEF, principal=SYSTEM)


def test_the_story_of_a_profile(admin_api: Api) -> None:
    made = admin_api.post("profiles", {"name": "brief", "content": BRIEF})
    assert (made.status_code, made["ETag"], made["Location"]) == (201, '"1"', "/api/v1/profiles/brief")
    assert made.json() == admin_api.get("profiles/brief").json()
    assert made.json().items() >= {
        "name": "brief", "version": 1, "description": "Who it is, and no more.", "builtin": False, "editable": True,
        "error": None, "content": BRIEF, "budget": 500, "depth_limit": 2,
        "over_budget": [], "fill": False, "cut_at": "anywhere", "quality_min": 0,
        "domain": None, "lod": None, "scope_limits": {}, "half_life": {}, "credibility": {},
        "delimit": "headings", "cut_mark": "source", "deduplicate": True, "report_failures": True,
        "conflicts": "mark", "coherence_min": 0, "second_round": False, "summaries_max": None,
    }.items()  # fmt: skip
    assert made.json()["sections"] == [
        {
            "key": "identity", "heading": "Identity", "layer": "L1", "source": "agent_files", "shape": "text",
            "cap": None, "share": None, "top_k": None, "required": True, "overflow": "cut",
            "ranker": None, "least_origin": None, "relevance_floor": 0,
        }
    ]  # fmt: skip
    saved = admin_api.put("profiles/brief", {"content": BRIEFER}, if_match='"1"')
    assert (saved["ETag"], saved.json()["budget"]) == ('"2"', 400)
    versions = admin_api.get("profiles/brief/versions").json()
    assert [row["version"] for row in versions["results"]] == [2, 1]
    assert "content" not in versions["results"][0]
    assert admin_api.get("profiles/brief/versions/1").json()["content"] == BRIEF
    assert admin_api.delete("profiles/brief", if_match='"2"').status_code == 204
    assert problem(admin_api.get("profiles/brief")) == (404, "not_found")


def test_what_dossier_comes_with_is_there_without_a_row(agent_api: Api) -> None:
    document = agent_api.get("profiles/coding").json()
    facts = {"version": 1, "builtin": True, "editable": True, "updated_at": None}
    assert document.items() >= {**facts, "content": SHIPPED["coding"]}.items()
    steps = {"over_budget": ["drop", "compact", "summarise"], "fill": True, "cut_at": "paragraph"}
    assert document.items() >= steps.items()
    memory = agent_api.get("profiles/memory").json()
    limits = {"noosphere": 15, "library": 10, "workshop": 10, "experience": 5}
    assert memory.items() >= {"lod": "adaptive", "scope_limits": limits, "delimit": "tags", "over_budget": []}.items()
    [tools] = [section for section in memory["sections"] if section["key"] == "tools"]
    assert (tools["relevance_floor"], tools["least_origin"]) == (0.01, None)
    versions = agent_api.get("profiles/coding/versions").json()["results"]
    assert [(row["version"], row["created_at"]) for row in versions] == [(1, None)]
    assert agent_api.get("profiles/coding/versions/1").json()["content"] == SHIPPED["coding"]
    assert problem(agent_api.get("profiles/coding/versions/2")) == (404, "not_found")


def test_a_shipped_profile_is_changed_and_comes_back(admin_api: Api) -> None:
    assert admin_api.put("profiles/coding", {"content": BRIEF}, if_match='"1"').json()["version"] == 2
    assert [row["updated_by"]["type"] for row in admin_api.get("profiles/coding/versions").json()["results"]] == [
        "key",
        "system",
    ]
    assert admin_api.delete("profiles/coding").status_code == 204
    assert admin_api.get("profiles/coding").json()["content"] == SHIPPED["coding"]
    assert problem(admin_api.delete("profiles/coding")) == (409, "conflict")


def test_conversation_stays_as_it_is(admin_api: Api) -> None:
    assert admin_api.get("profiles/conversation").json()["editable"] is False
    for answer in (
        admin_api.put("profiles/conversation", {"content": BRIEF}, if_match='"1"'),
        admin_api.delete("profiles/conversation"),
    ):
        assert problem(answer) == (409, "conflict")
        assert "Copy it under another name" in answer.json()["detail"]


def test_a_save_names_the_version_it_was_made_from(brief: StoredProfile, admin_api: Api) -> None:
    assert problem(admin_api.put("profiles/brief", {"content": BRIEFER})) == (428, "precondition_required")
    admin_api.put("profiles/brief", {"content": BRIEFER}, if_match='"1"')
    stale = admin_api.put("profiles/brief", {"content": BRIEF}, if_match='"1"')
    assert problem(stale) == (412, "stale_version")
    assert (stale.json()["current_version"], stale.json()["current"]["content"]) == (2, BRIEFER)
    assert problem(admin_api.delete("profiles/brief", if_match='"1"')) == (412, "stale_version")
    assert problem(admin_api.put("profiles/coding", {"content": BRIEF}, if_match='"7"')) == (412, "stale_version")
    assert admin_api.get("profiles/brief", if_none_match='"2"').status_code == 304


WRITES: list[tuple[str, str, Any]] = [
    ("POST", "profiles", {"name": "own", "content": BRIEF}),
    ("PUT", "profiles/brief", {"content": BRIEFER}),
    ("PUT", "profiles/conversation", {"content": BRIEFER}),
    ("DELETE", "profiles/brief", None),
    ("PUT", "profiles/brief/tuning", {"is_on": True}),
    ("DELETE", "profiles/brief/tuning", None),
]
READS = [
    "profiles", "profiles/brief", "profiles/conversation", "profiles/brief/versions", "profiles/brief/versions/1",
    "profiles/brief/tuning", "profiles/brief/learned-weights",
]  # fmt: skip


@pytest.mark.parametrize("who", ["owner", "outsider", "agent_api"])
def test_everyone_reads_and_only_admins_write(
    who: str, brief: StoredProfile, as_person: Callable[[User], Api], request: pytest.FixtureRequest
) -> None:
    asking = request.getfixturevalue(who)
    api = asking if isinstance(asking, Api) else as_person(asking)
    assert [api.get(path).status_code for path in READS] == [200] * len(READS)
    assert api.post("profiles/check", {"content": BRIEF}).json() == {"valid": True, "errors": []}
    for method, path, body in WRITES:
        assert problem(api.send(method, path, body, if_match='"1"')) == (403, "forbidden")
    assert StoredProfile.objects.get().version == 1


def test_a_key_is_needed(brief: StoredProfile, anonymous_api: Api) -> None:
    for method, path, body in [*WRITES, *(("GET", path, None) for path in READS), ("POST", "profiles/check", {})]:
        assert problem(anonymous_api.send(method, path, body)) == (401, "not_authenticated")


def test_every_address_is_tried_here() -> None:
    known = {path.replace("brief", "<slug:name>").replace("/1", "/<int:version>") for path in READS}
    elsewhere = {"profiles/check", "profiles/<slug:name>/learned-weights/switch"}
    assert known - {"profiles/conversation"} | elsewhere == PROFILES


@pytest.mark.parametrize("path", ["profiles/nobody", "profiles/nobody/versions", "profiles/nobody/versions/1"])
def test_what_is_not_there_is_a_404(path: str, admin_api: Api) -> None:
    assert problem(admin_api.get(path)) == (404, "not_found")


def test_changes_of_what_is_not_there_are_a_404(admin_api: Api) -> None:
    assert problem(admin_api.put("profiles/nobody", {"content": BRIEF}, if_match='"1"')) == (404, "not_found")
    assert problem(admin_api.delete("profiles/nobody")) == (404, "not_found")
    assert problem(admin_api.get(f"profiles/conversation/versions/{'9' * 30}")) == (404, "not_found")


def test_a_fault_is_named_with_its_line(brief: StoredProfile, admin_api: Api) -> None:
    for answer in (
        admin_api.post("profiles", {"name": "own", "content": GONE}),
        admin_api.put("profiles/brief", {"content": GONE}, if_match='"1"'),
    ):
        assert errors_of(answer) == {"content"}
        assert answer.json()["detail"].startswith("Line 5: “source” must be one of: agent_files")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"content": BRIEF}, "name"),
        ({"name": "own"}, "content"),
        ({"name": "Own", "content": BRIEF}, "name"),
        ({"name": "new", "content": BRIEF}, "name"),
        ({"name": "a" * 61, "content": BRIEF}, "name"),
        ({"name": "own", "content": 7}, "content"),
        ({"name": "own", "content": ""}, "content"),
        ({"name": "own", "content": "\x00"}, "content"),
        ({"name": "own", "content": "\ud800"}, "content"),
        ({"name": "own", "content": "x" * (MAX_CHARACTERS + 1)}, "content"),
        ({"name": "own", "content": f"name: brief\n{BRIEF}"}, "content"),
        ({"name": "own", "content": BRIEF, "colour": "red"}, "colour"),
    ],
)
def test_bad_values_are_named(body: dict[str, Any], field: str, admin_api: Api) -> None:
    assert errors_of(admin_api.post("profiles", body)) == {field}
    assert not StoredProfile.objects.exists()


def test_a_name_is_given_once(brief: StoredProfile, admin_api: Api) -> None:
    for name in ("brief", "coding", "conversation"):
        assert problem(admin_api.post("profiles", {"name": name, "content": BRIEF})) == (409, "conflict")


@pytest.mark.parametrize(
    ("content", "line"), [("", 1), (GONE, 5), (BRIEF + "  - [", 5), (f"name: ada\n{BRIEF}", 0), ("a: &b c", 1)]
)
def test_a_text_is_checked_without_being_saved(content: str, line: int, agent_api: Api) -> None:
    answer = agent_api.post("profiles/check", {"content": content})
    assert answer.status_code == 200
    assert answer.json()["valid"] is (line == 0)
    assert [error["line"] for error in answer.json()["errors"]] == ([line] if line else [])
    assert not StoredProfile.objects.exists()


def test_the_list_comes_page_by_page(
    brief: StoredProfile, agent_api: Api, django_assert_max_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    with django_assert_max_num_queries(4):  # the key, its use, its agent's teams, all profiles
        names = [row["name"] for row in agent_api.get("profiles").json()["results"]]
    assert names == ["coding", "conversation", "memory", "operations", "research", "stack", "brief"]
    paged: list[str] = []
    path: str | None = "/api/v1/profiles?limit=4"
    while path:
        answer = agent_api.get(path).json()
        paged += [row["name"] for row in answer["results"]]
        path = answer["next"]
    assert paged == names


@pytest.mark.parametrize(
    ("query", "field"), [("limit=0", "limit"), ("limit=x", "limit"), ("cursor=nobody", "cursor"), ("page=2", "page")]
)
@pytest.mark.parametrize("path", ["profiles", "profiles/brief/versions"])
def test_a_bad_query_is_named(path: str, query: str, field: str, brief: StoredProfile, agent_api: Api) -> None:
    assert errors_of(agent_api.get(f"{path}?{query}")) == {field}


def test_a_profile_that_cannot_be_read_is_listed_with_the_reason(agent: Agent, agent_api: Api) -> None:
    file_create(file=StoredProfile(name="gone", content=GONE), author=SYSTEM.author)
    document = agent_api.get("profiles/gone").json()
    assert document["error"].startswith("Line 5: “source” must be one of")
    assert (document["budget"], document["sections"], document["content"]) == (None, [], GONE)
    assert (document["over_budget"], document["cut_at"], document["scope_limits"]) == (None, None, None)
    assert [row["error"] is None for row in agent_api.get("profiles").json()["results"] if row["name"] == "gone"] == [
        False
    ]
    answer = agent_api.post("assemblies", {"agent": "ada", "profile": "gone"})
    assert errors_of(answer) == {"profile"}


def test_an_agent_uses_a_profile_of_the_organisation(brief: StoredProfile, agent: Agent, agent_api: Api) -> None:
    answer = agent_api.post("assemblies", {"agent": "ada", "profile": "brief"})
    assert (answer.status_code, answer.json()["budget"], answer.json()["profile"]) == (201, 500, "brief")
