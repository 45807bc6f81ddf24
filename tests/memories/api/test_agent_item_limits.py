"""Hostile values of the things that an agent keeps: each gets a 422 that names its field."""

import json
from typing import Any

import pytest

from agents.models import Agent
from memories.models.agent_item import AgentItem
from tests import personas
from tests.client import Api, errors_of, problem
from tests.config.http.test_bad_input import NO_FRACTIONS, NO_MOMENTS
from tests.memories.agent_items import NOBODY, PATCHES, body_of, things_of

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]
owner, editor, teammate, team, agent = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent
)
[agent_api] = personas.once_per_module(personas.agent_api)

NUL, LONE = "a\x00b", "a\ud800b"
Things = dict[str, AgentItem]


@pytest.fixture(scope="module")
def things(agent: Agent) -> Things:
    return things_of(agent)


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}
    return value


NO_LINES: list[Any] = [NUL, LONE, "a\nb", "  ", 5, True, None, [], {}]
NO_TEXTS: list[Any] = [NUL, LONE, 5, None, [], {}]
NO_IDS: list[Any] = ["x", 5, True, "", [], {}, NUL, NOBODY]
NO_FLAGS: list[Any] = ["true", 1, 0, None, [], "", {}]
NO_COUNTS: list[Any] = [-1, 1.0, "1", True, None, 1_000_000_001, 10**400, []]
NO_OBJECTS: list[Any] = [
    None, [], "x", 5, {"a": NUL}, {NUL: 1}, {"a": LONE}, {LONE: 1}, {"a": 2**63}, {"a": 10**400}, {"a": 1e-200},
    {"a": {"b": [{"c": LONE}]}}, nested(21),
]  # fmt: skip
NO_STATUS: list[Any] = ["done", "", None, 5, [], {}, LONE]
NO_TYPES: list[Any] = ["", "a b", "ä", "a\n", "x" * 61, NUL, LONE, 5, None, "a]", []]

BAD: dict[str, dict[str, list[Any]]] = {
    "sessions": {
        "title": ["x" * 201, *NO_LINES], "ended_at": [moment for moment in NO_MOMENTS if moment != ""],
        "started_at": [None, *NO_MOMENTS],
    },
    "events": {
        "type": [*NO_TYPES, "File", "x" * 41], "content": [*NO_OBJECTS, {"a": "x" * 100_000}],
        "outcome": ["x" * 41, *NO_LINES], "tool": ["x" * 121, *NO_LINES], "occurred_at": [None, *NO_MOMENTS],
        "session": NO_IDS, "task": NO_IDS, "session_key": ["", "x" * 201, *NO_TEXTS],
    },
    "entities": {
        "type": NO_TYPES, "name": ["x" * 201, *NO_LINES], "salience": NO_FRACTIONS,
        "aliases": [None, "x", {}, [5], [""], ["a\nb"], [LONE], ["x" * 201], ["x"] * 51, [["x"]]],
        "properties": [*NO_OBJECTS, {"a": []}, {"a": {}}, {"a": "x" * 20_001}, {str(n): n for n in range(51)}],
    },
    "relations": {
        "type": NO_TYPES, "weight": NO_FRACTIONS, "directed": NO_FLAGS, "source": [None, *NO_IDS],
        "target": [None, *NO_IDS],
    },
    "patterns": {
        "name": ["x" * 201, *NO_LINES], "guidance": ["", " \n", "x" * 20_001, *NO_TEXTS],
        "keywords": [None, "x", [5], [""], ["x" * 81], ["x"] * 51],
        "intents": [None, "fix", ["mend"], [5], ["fix"] * 6],
        "entity_types": [None, "x", ["a b"], ["Person"] * 51], "successes": [1, *NO_COUNTS], "applications": NO_COUNTS,
    },
    "documents": {
        "path": ["", "x" * 501, "a\x1fb", *NO_LINES], "language": ["x" * 41, *NO_LINES], "is_open": NO_FLAGS,
        "content": ["x" * 1_000_001, *NO_TEXTS],
    },
    "threads": {
        "title": ["", "x" * 201, *NO_LINES], "status": NO_STATUS, "summary": ["x" * 20_001, *NO_TEXTS],
        "touched_at": [None, *NO_MOMENTS],
    },
    "tools": {
        "name": ["", "x" * 121, *NO_LINES], "description": ["x" * 20_001, *NO_TEXTS],
        "schema": [
            *NO_OBJECTS, {"a": "x" * 20_000}, {"type": "text"}, {"properties": {"x": {"type": 5}}}, {"pattern": "("},
            {"required": "x"},
        ],
    },
    "tasks": {
        "goal": ["", " ", "x" * 20_001, *NO_TEXTS], "status": NO_STATUS, "result": ["x" * 20_001, *NO_TEXTS],
        "parent": NO_IDS, "session": NO_IDS,
    },
}  # fmt: skip
CASES = [(noun, field) for noun, fields in BAD.items() for field in fields]


@pytest.mark.parametrize(("noun", "field"), CASES)
def test_a_value_out_of_range_is_named(noun: str, field: str, things: Things, agent_api: Api) -> None:
    for value in BAD[noun][field]:
        response = agent_api.post(f"agents/ada/{noun}", body_of(noun, things, **{field: value}))
        assert {name.split(".")[0] for name in errors_of(response)} == {field}, value


@pytest.mark.parametrize(("noun", "field"), CASES)
def test_a_batch_names_the_item_too(noun: str, field: str, things: Things, agent_api: Api) -> None:
    value = BAD[noun][field][0]
    items = [body_of(noun, things), body_of(noun, things, **{field: value})]
    response = agent_api.post(f"agents/ada/{noun}/batch", {"items": items})
    assert {".".join(name.split(".")[:3]) for name in errors_of(response)} == {f"items.1.{field}"}


@pytest.mark.parametrize(("noun", "field"), CASES)
def test_a_change_is_looked_at_like_a_new_thing(noun: str, field: str, things: Things, agent_api: Api) -> None:
    for value in BAD[noun][field]:
        response = agent_api.patch(f"agents/ada/{noun}/{things[noun].id}", {field: value}, if_match='"1"')
        assert {name.split(".")[0] for name in errors_of(response)} == {field}, value


@pytest.mark.parametrize("noun", BAD)
@pytest.mark.parametrize("external_id", ["x" * 201, *NO_TEXTS])
def test_an_external_id_is_a_short_text(noun: str, external_id: Any, things: Things, agent_api: Api) -> None:
    response = agent_api.post(f"agents/ada/{noun}", body_of(noun, things, external_id=external_id))
    assert errors_of(response) == {"external_id"}


@pytest.mark.parametrize("noun", BAD)
@pytest.mark.parametrize("field", ["external_id", "id", "version", "agent", "embedding", "created"])
def test_what_cannot_be_changed_is_named(noun: str, field: str, things: Things, agent_api: Api) -> None:
    body = {**PATCHES[noun], field: "x"}
    assert errors_of(agent_api.patch(f"agents/ada/{noun}/{things[noun].id}", body, if_match='"1"')) == {field}


@pytest.mark.parametrize("noun", BAD)
@pytest.mark.parametrize("body", [b"[]", b"5", b"null", b'"x"'])
def test_a_body_that_is_no_object_is_refused(noun: str, body: bytes, agent: Agent, agent_api: Api) -> None:
    for path in (f"agents/ada/{noun}", f"agents/ada/{noun}/batch"):
        assert problem(agent_api.send("POST", path, body)) == (422, "invalid")


@pytest.mark.parametrize(
    "number", [0, -0.0, 1.5, 2**63 - 1, -(2**62), 1e18, 1e-100, True, 123456789.123456789]
)  # fmt: skip
def test_numbers_that_fit_come_back(number: float, agent: Agent, agent_api: Api) -> None:
    made = agent_api.post("agents/ada/events", {"type": "x", "content": {"n": number}}).json()
    assert agent_api.get(f"agents/ada/events/{made['id']}").json()["content"] == {"n": number}


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1e400", "9" * 4000])
def test_numbers_that_no_float_holds_are_refused(number: str, agent: Agent, agent_api: Api) -> None:
    body = b'{"type": "x", "content": {"n": [' + number.encode() + b"]}}"
    assert errors_of(agent_api.send("POST", "agents/ada/events", body)) == {"content"}


def test_twenty_levels_are_enough(agent: Agent, agent_api: Api) -> None:
    assert agent_api.post("agents/ada/events", {"type": "x", "content": nested(20)}).status_code == 201


def test_what_is_just_short_enough_is_kept(agent: Agent, agent_api: Api) -> None:
    content = {"a": "ä" * (100_000 - len('{"a":""}'))}
    made = agent_api.post("agents/ada/events", {"type": "x", "content": content})
    assert (made.status_code, made.json()["size"]) == (201, 100_000)
    body = json.dumps({"path": "x", "content": "\U0001f600" * 1_000_000}, ensure_ascii=False).encode()
    assert agent_api.send("POST", "agents/ada/documents", body).status_code == 201


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("sessions?page=2", "page"), ("events?session=x", "session"), ("events?task=5", "task"),
        ("events?since=x", "since"), ("events?since=", "since"), ("events?type=%00", "type"),
        ("relations?entity=x", "entity"), ("documents?open=yes", "open"), ("documents?open=", "open"),
        ("threads?status=done", "status"), ("tasks?status=", "status"), ("tasks?parent=%F0", "parent"),
        ("entities?name=%00", "name"), ("entities?limit=0", "limit"), ("events?cursor=x", "cursor"),
        ("graph?entity=x", "entity"), (f"graph?entity={NOBODY}", "entity"), ("graph?depth=0", "depth"),
        ("graph?depth=4", "depth"), ("graph?depth=2", "depth"), ("graph?depth=x", "depth"), ("graph?x=1", "x"),
        ("task-stack?session=x", "session"), (f"task-stack?session={NOBODY}", "session"), ("task-stack?x=", "x"),
    ],
)  # fmt: skip
def test_a_bad_query_is_named(path: str, field: str, things: Things, agent_api: Api) -> None:
    assert errors_of(agent_api.get(f"agents/ada/{path}")) == {field}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        *(("push", {"goal": goal}, "goal") for goal in ("", " ", "x" * 20_001, *NO_TEXTS)),
        *(("push", {"goal": "x", "session": id_}, "session") for id_ in NO_IDS),
        *(("pop", {"result": result}, "result") for result in ("x" * 20_001, *NO_TEXTS)),
        *(("pop", {"result": "x", "session": id_}, "session") for id_ in NO_IDS),
        ("push", {}, "goal"), ("pop", {}, "result"), ("push", {"goal": "x", "y": 1}, "y"),
    ],
)  # fmt: skip
def test_a_bad_push_or_pop_is_named(path: str, body: dict[str, Any], field: str, agent: Agent, agent_api: Api) -> None:
    assert errors_of(agent_api.post(f"agents/ada/task-stack/{path}", body)) == {field}
