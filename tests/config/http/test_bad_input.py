"""Everything that can be wrong with a request gets a sentence and a field's name, never a 500."""

import json
from typing import Any

import pytest

from agents.models import Agent
from tests import personas
from tests.client import Api, errors_of, problem

pytestmark = [pytest.mark.usefixtures("module_database"), pytest.mark.django_db]
owner, editor, teammate, team, agent = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent
)
[admin_api] = personas.once_per_module(personas.admin_api)

NUL = "a\x00b"
LONE = "a\ud800b"
GOOD: dict[str, tuple[str, dict[str, Any]]] = {
    "teams": ("POST", {"slug": "new", "name": "New"}),
    "teams/care": ("PATCH", {"name": "New"}),
    "teams/care/members/editor": ("PUT", {"role": "viewer"}),
    "teams/care/files/GOALS": ("PUT", {"content": "x"}),
    "agents": ("POST", {"slug": "new", "name": "New", "teams": ["care"], "instructions": "x", "timezone": "UTC"}),
    "agents/ada": ("PATCH", {"name": "New", "timezone": "UTC", "teams": ["care"]}),
    "agents/ada/files/IDENTITY": ("PUT", {"content": "x"}),
    "agents/ada/daily-logs/2026-01-05": ("POST", {"text": "x"}),
    "agents/ada/memories": (
        "POST",
        {
            "kind": "fact", "text": "x", "occurred_at": "2026-01-05T10:00:00Z", "salience": 0.5, "credibility": 0.5,
            "external_id": "x",
        },
    ),
    "teams/care/memories": ("POST", {"kind": "fact", "text": "x"}),
}  # fmt: skip
TEXTS = [(path, field) for path, (_, body) in GOOD.items() for field, value in body.items() if isinstance(value, str)]


def send(api: Api, path: str, **changes: Any) -> Any:
    method, body = GOOD[path]
    headers = {"if_match": '"1"'} if method in {"PUT", "PATCH"} else {}
    return api.send(method, path, {**body, **changes}, **headers)


NO_FRACTIONS: list[Any] = [-0.1, 1.1, 2, "0.5", True, None, [], 10**400, "nan", {}]
NO_MOMENTS: list[Any] = [
    "yesterday", "", "2026-02-30T00:00:00Z", "0001-01-01T00:00:00+14:00", "1492-10-12T00:00:00Z",
    "9999-12-31T23:59:59-14:00", 5, [], {}, LONE, NUL, "2026-01-01T25:00:00Z",
]  # fmt: skip


@pytest.mark.parametrize("path", GOOD)
def test_the_good_bodies_are_good(path: str, agent: Agent, admin_api: Api) -> None:
    assert send(admin_api, path).status_code in {200, 201}


@pytest.mark.parametrize(("path", "field"), TEXTS)
@pytest.mark.parametrize("value", [NUL, LONE, 5, True, 1.5, [], {}, ["x"]], ids=repr)
def test_a_text_must_be_a_clean_text(path: str, field: str, value: Any, agent: Agent, admin_api: Api) -> None:
    assert errors_of(send(admin_api, path, **{field: value})) == {field}


@pytest.mark.parametrize("path", GOOD)
@pytest.mark.parametrize("name", ["nonsense", "id", LONE, "a.b", ""])
def test_unknown_fields_are_named(path: str, name: str, agent: Agent, admin_api: Api) -> None:
    [named] = errors_of(send(admin_api, path, **{name: 1}))
    assert named == (name.replace("\ud800", "?") or "body")


@pytest.mark.parametrize("path", GOOD)
@pytest.mark.parametrize("body", [b"[]", b'"text"', b"5", b"null", b"[{}]"])
def test_a_body_that_is_no_object_is_refused(path: str, body: bytes, agent: Agent, admin_api: Api) -> None:
    response = admin_api.send(GOOD[path][0], path, body, if_match='"1"')
    assert errors_of(response) <= {"body", *GOOD[path][1]}


@pytest.mark.parametrize(
    "body",
    [b"{", b"\xff\xfe", b"[" * 100_000, b'{"salience": NaN}', b'{"salience": ' + b"9" * 5000 + b"}", b"{'a': 1}"],
    ids=["cut", "no UTF-8", "deep", "NaN", "endless number", "quotes"],
)
@pytest.mark.parametrize("key", [{}, {"idempotency_key": "k"}], ids=["", "with a key"])
def test_what_is_no_json_is_a_400(body: bytes, key: dict[str, str], agent: Agent, admin_api: Api) -> None:
    assert problem(admin_api.send("POST", "agents/ada/memories", body, **key)) == (400, "bad_request")


def test_other_media_types_are_refused(agent: Agent, admin_api: Api) -> None:
    response = admin_api.send("POST", "teams", b"slug=x", content_type="application/x-www-form-urlencoded")
    assert problem(response) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("path", "field", "value"),
    [
        *(("teams", "slug", slug) for slug in ("", "A", "a_b", "-a", "a-", "a--b", "ä", "a" * 61, "a\n", "a b")),
        *((path, "name", name) for path in ("teams", "teams/care", "agents", "agents/ada")
          for name in ("", "  ", "a\nb", "a\tb", "a\u2028b", "\x85b", "x" * 121)),
        *((path, "timezone", name) for path in ("agents", "agents/ada")
          for name in ("", "Nowhere/Here", "Europe", "/etc/passwd", "../UTC", "UTC\n", "x" * 61)),
        ("agents", "teams", "care"), ("agents", "teams", [1]), ("agents", "teams", [NUL]), ("agents", "teams", None),
        ("agents", "teams", ["x"] * 201), ("agents", "instructions", "x" * 1_000_001), ("agents", "name", None),
        ("teams/care/members/editor", "role", "boss"), ("teams/care/members/editor", "role", None),
        ("teams/care/files/GOALS", "content", "x" * 1_000_001), ("teams/care/files/GOALS", "content", None),
        ("agents/ada/daily-logs/2026-01-05", "text", "x" * 200_001),
        ("agents/ada/daily-logs/2026-01-05", "text", " \n"),
        *(("agents/ada/memories", "kind", kind)
          for kind in ("", "Fact", "a b", "a]b", "[a", "a\n", "\na", "ä", "x" * 41, "a.b")),
        ("agents/ada/memories", "text", ""), ("agents/ada/memories", "text", "\n \t"),
        ("agents/ada/memories", "text", "x" * 20_001), ("agents/ada/memories", "external_id", "x" * 201),
        *(("agents/ada/memories", field, value) for field in ("salience", "credibility")
          for value in NO_FRACTIONS),
        *(("agents/ada/memories", "occurred_at", value)
          for value in NO_MOMENTS),
    ],
)  # fmt: skip
def test_values_out_of_range_are_named(path: str, field: str, value: Any, agent: Agent, admin_api: Api) -> None:
    [named] = errors_of(send(admin_api, path, **{field: value}))
    assert named.split(".")[0] == field


@pytest.mark.parametrize("field", ["slug", "name"])
def test_what_is_needed_is_named(field: str, admin_api: Api) -> None:
    body = {name: value for name, value in GOOD["teams"][1].items() if name != field}
    assert errors_of(admin_api.post("teams", body)) == {field}


LISTS = [
    "teams", "teams/care/members", "teams/care/files", "teams/care/files/GOALS/versions", "teams/care/memories",
    "agents",
    "agents/ada/files", "agents/ada/files/IDENTITY/versions", "agents/ada/daily-logs", "agents/ada/memories",
]  # fmt: skip
READS = ["teams/care", "teams/care/files/GOALS", "teams/care/files/GOALS/versions/1", "agents/ada"]


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("query", "field"),
    [
        *(("limit=" + value, "limit")
          for value in ("0", "201", "-1", "x", "1.5", "٣", "0000100000", "9" * 5000, "1%00")),
        *(("cursor=" + value, "cursor")
          for value in ("x", "W10", "bnVsbA", "W251bGwsIG51bGxd", "W251bGxd", "%00", "ä", "W0luZmluaXR5XQ", "x" * 5000,
                        "WyIyMDI2LTAxLTAxVDAwOjAwOjAwIiwgNV0")),
        ("page=2", "page"), ("nonsense", "nonsense"),
    ],
)  # fmt: skip
def test_a_bad_query_of_a_list_is_named(path: str, query: str, field: str, agent: Agent, admin_api: Api) -> None:
    if query == "nonsense":
        query = "nonsense="
    assert errors_of(admin_api.get(f"{path}?{query}")) == {field}


@pytest.mark.parametrize("path", READS)
def test_a_read_takes_no_query(path: str, agent: Agent, admin_api: Api) -> None:
    assert errors_of(admin_api.get(f"{path}?limit=5")) == {"limit"}


@pytest.mark.parametrize("path", GOOD)
def test_a_change_takes_no_query(path: str, agent: Agent, admin_api: Api) -> None:
    assert errors_of(admin_api.send(GOOD[path][0], f"{path}?x=1", GOOD[path][1], if_match='"1"')) == {"x"}


@pytest.mark.parametrize(
    "date", ["2026-02-30", "0000-01-01", "26-1-1", "2026-13-01", "9999-01-01", "today", "20260101"]
)
def test_a_date_must_exist(date: str, agent: Agent, admin_api: Api) -> None:
    path = f"agents/ada/daily-logs/{date}"
    assert errors_of(admin_api.get(path)) == {"date"}
    assert errors_of(admin_api.post(path, {"text": "x"})) == {"date"}
    assert errors_of(admin_api.get(f"agents/ada/daily-logs?since={date}")) == {"since"}
    assert errors_of(admin_api.get(f"agents/ada/daily-logs?until={date}")) == {"until"}


@pytest.mark.parametrize(
    ("query", "field"),
    [("", "q"), ("q=", "q"), ("q=%20", "q"), ("q=%00", "q"), ("q=" + "x" * 2001, "q"), ("q=x&limit=51", "limit"),
     ("q=x&limit=0", "limit"), ("q=x&k=1", "k")],
)  # fmt: skip
def test_a_bad_search_is_named(query: str, field: str, agent: Agent, admin_api: Api) -> None:
    assert errors_of(admin_api.get(f"agents/ada/memories/search?{query}")) == {field}


@pytest.mark.parametrize(
    "path",
    [
        "teams/%00", "teams/a%00b/files", "teams/care/members/%00", "teams/care/members/nobody", "agents/%ED%A0%80",
        "agents/ada/files/identity", "agents/ada/files/GOALS", "teams/care/files/IDENTITY", "agents/ada/files/%00",
        "agents/ada/files/IDENTITY/versions/0", "agents/ada/files/IDENTITY/versions/2",
        "agents/ada/files/IDENTITY/versions/" + "9" * 30, "agents/ada/files/IDENTITY/versions/" + "9" * 5000,
        "agents/ada/memories/5", "agents/ada/memories/00000000-0000-0000-0000-000000000000", "agents/ada/", "nothing",
        "agents/ada/daily-logs/2026-01-05%00", "agents/ada/daily-logs/2026-01-05/versions",
    ],
)  # fmt: skip
def test_what_is_not_there_is_a_404(path: str, agent: Agent, admin_api: Api) -> None:
    assert problem(admin_api.get(path)) == (404, "not_found")


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "DELETE", "PUT", "FOO"])
def test_other_methods_are_a_405(method: str, admin_api: Api) -> None:
    response = admin_api.send(method, "teams")
    assert problem(response) == (405, "method_not_allowed")
    assert response["Allow"] == "GET, HEAD, POST" or set(response["Allow"].split(", ")) == {"GET", "POST"}


@pytest.mark.parametrize("key", ["", "x" * 201, "ä", "a\x01"])
def test_a_bad_idempotency_key_is_named(key: str, admin_api: Api) -> None:
    assert errors_of(admin_api.post("teams", {"slug": "new", "name": "New"}, idempotency_key=key)) == {
        "Idempotency-Key"
    }


@pytest.mark.parametrize("tag", ['"0"', 'W/"1"', '"' + "9" * 5000 + '"', "x", '"²"', ",", '"-1"', '"1'])
def test_a_bad_if_match_is_stale_or_right(tag: str, agent: Agent, admin_api: Api) -> None:
    response = admin_api.put("agents/ada/files/IDENTITY", {"content": "x"}, if_match=tag)
    assert response.status_code in {200, 412}
    assert (tag == '"1') == (response.status_code == 200)


def test_lone_surrogates_do_not_break_a_request_with_a_key(agent: Agent, admin_api: Api) -> None:
    body = json.dumps({"kind": "fact", "text": LONE}).encode()
    assert errors_of(admin_api.send("POST", "agents/ada/memories", body, idempotency_key="k")) == {"text"}
