"""How items read, to the letter."""

import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.item_formats import (
    compact_json,
    fence_text,
    format_chunk,
    format_entity,
    format_event,
    format_open_file,
    format_pattern,
    format_relation,
    format_task,
    format_thread,
    format_tool,
    format_tool_result,
    timestamp,
)

NOON = dt.datetime(2025, 3, 14, 12, 0, 5, 123_987, tzinfo=dt.UTC)
AT = "[2025-03-14T12:00:05.123Z]"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("kind", "content", "outcome", "text"),
    [
        ("file_read", {"path": "src/a.py"}, "ok", f"{AT} Read: src/a.py"),  # the seed shows no outcome here
        ("file_write", {"path": "src/a.py"}, "", f"{AT} Wrote: src/a.py"),
        ("file_write", {"path": "src/a.py"}, "success", f"{AT} Wrote: src/a.py [success]"),
        ("shell_exec", {"command": "ls", "stdout": "a\nb"}, "success", f"{AT} Executed: `ls` [success]\na\nb"),
        ("shell_exec", {"command": "ls", "stdout": "", "stderr": "no"}, "", f"{AT} Executed: `ls`\nno"),
        ("shell_exec", {"command": "true"}, "", f"{AT} Executed: `true`"),
        ("shell_exec", {"command": "ls", "stdout": "a\n\n"}, "", f"{AT} Executed: `ls`\na"),
        ("error", {"message": "boom", "stack": "at x"}, "", f"{AT} Error: boom\nat x"),
        ("error", {"message": "boom"}, "fatal", f"{AT} Error: boom"),
        ("message", {"text": "Grüße", "from": "Ada"}, "", f'{AT} message: {{"from":"Ada","text":"Grüße"}}'),
        ("deploy", {}, "done", f"{AT} deploy: {{}}"),
        ("file_read", {}, "", f"{AT} Read: "),
        ("file_read", {"path": None}, "", f"{AT} Read: "),
        ("error", {"message": {"code": 5}}, "", f'{AT} Error: {{"code":5}}'),
        ("shell_exec", {"command": ["ls", "-l"]}, "", f'{AT} Executed: `["ls","-l"]`'),
        ("error", ["no", "object"], "", f"{AT} Error:"),
    ],
)
def test_events(kind: str, content: Any, outcome: str, text: str) -> None:
    assert format_event(kind=kind, content=content, outcome=outcome, occurred_at=NOON) == text


@given(st.sampled_from(["file_read", "file_write", "shell_exec", "error", "message"]), st.text(), JSON)
def test_no_content_fails(kind: str, key: str, value: Any) -> None:
    for content in ({key: value}, {"path": value, "command": value, "stdout": value, "message": value}):
        assert format_event(kind=kind, content=content, outcome="", occurred_at=NOON).startswith(AT)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (dt.datetime(2025, 3, 14, 12, tzinfo=dt.timezone(dt.timedelta(hours=9))), "2025-03-14T03:00:00.000Z"),
        (dt.datetime(2025, 3, 14, 12, 0, 0, 999_999, tzinfo=dt.UTC), "2025-03-14T12:00:00.999Z"),
    ],
)
def test_times_are_those_of_javascript(moment: dt.datetime, text: str) -> None:
    assert timestamp(moment) == text


@pytest.mark.parametrize(
    ("properties", "text"),
    [
        ({}, "**service**: Auth"),
        ({"port": 80, "lang": "go"}, "**service**: Auth (lang: go, port: 80)"),
        ({"live": True, "owner": None, "tags": ["a"]}, '**service**: Auth (live: true, owner: , tags: ["a"])'),
    ],
)
def test_entities(properties: dict[str, Any], text: str) -> None:
    assert format_entity(kind="service", name="Auth", properties=properties) == text


def test_relations_name_their_ends() -> None:
    assert format_relation(source="Ada", kind="knows", target="Ben", directed=True) == "Ada --[knows]--> Ben"
    assert format_relation(source="Ada", kind="knows", target="Ben", directed=False) == "Ada --[knows]-- Ben"


def test_patterns_say_how_often_they_worked() -> None:
    assert (
        format_pattern(name="Retry", guidance="Wait first.", successes=8, applications=10)
        == "**Retry**: Wait first. (worked 8 of 10 times)"
    )
    assert format_pattern(name="Retry", guidance="Wait.", successes=0, applications=0) == "**Retry**: Wait."


def test_threads() -> None:
    assert format_thread(title="Launch", status="active", summary="Two weeks left.") == (
        "**Launch** (active): Two weeks left."
    )
    assert format_thread(title="Launch", status="resolved", summary="") == "**Launch** (resolved)"


def test_tools_show_their_schema() -> None:
    text = format_tool(name="search", description="Finds pages.", schema={"type": "object", "properties": {}})
    assert text == '**search**: Finds pages.\n```json\n{"properties":{},"type":"object"}\n```'
    assert format_tool(name="ping", description="", schema={}) == "**ping**"


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ({"output": "line 1\nline 2"}, "line 1\nline 2"),
        ({"output": "x", "status": 0}, '{"output":"x","status":0}'),
        ({"rows": [1, 2]}, '{"rows":[1,2]}'),
        ({}, "{}"),
    ],
)
def test_tool_results(content: dict[str, Any], shown: str) -> None:
    text = format_tool_result(tool="search", content=content, size=1234, outcome="", occurred_at=NOON)
    assert text == f"{AT} search (1,234 characters):\n{shown}"


def test_a_tool_result_says_how_it_ended() -> None:
    text = format_tool_result(tool="db", content={"error": "gone"}, size=16, outcome="failed", occurred_at=NOON)
    assert text == f"{AT} db (16 characters) [failed]:\ngone"


def test_chunks_say_where_they_are_from() -> None:
    assert format_chunk(path="src/a.py", line=12, text="def a(): ...") == "src/a.py:12\ndef a(): ..."


@pytest.mark.parametrize(
    ("text", "fence"), [("plain", "```"), ("```py\nx\n```", "````"), ("`````", "``````"), ("a `b` ``c``", "```")]
)
def test_a_fence_is_longer_than_those_inside(text: str, fence: str) -> None:
    assert fence_text(text, "md") == f"{fence}md\n{text}\n{fence}"


def test_an_open_file_stands_whole_under_its_path() -> None:
    assert format_open_file(path="a.py", language="python", text="x = 1\n") == "**a.py**\n```python\nx = 1\n```"


@pytest.mark.parametrize(
    ("status", "text"), [("complete", "Found it."), ("active", "Find it."), ("blocked", "Find it.")]
)
def test_of_a_complete_task_the_result_counts(status: str, text: str) -> None:
    assert format_task(goal="Find it.", status=status, result="Found it.") == text


@given(JSON)
def test_json_is_short_and_always_the_same(value: Any) -> None:
    text = compact_json(value)
    assert json.loads(text) == value
    assert "\n" not in text
