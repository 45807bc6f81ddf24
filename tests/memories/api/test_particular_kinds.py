"""What is particular to sessions, patterns, documents, threads and tools over REST."""

from typing import Any

import pytest

from agents.models import Agent
from memories.models import Chunk, Document, Pattern, Tool
from tests.client import Api, errors_of, problem
from tests.memories.agent_items import things_of

pytestmark = pytest.mark.django_db


def made(api: Api, noun: str, **body: Any) -> dict[str, Any]:
    response = api.post(f"agents/ada/{noun}", body)
    assert response.status_code == 201, response.content
    document: dict[str, Any] = response.json()
    return document


def test_a_session_ends_no_earlier_than_it_began(agent: Agent, agent_api: Api) -> None:
    session = made(agent_api, "sessions", started_at="2026-01-05T10:00:00Z")
    path = f"agents/ada/sessions/{session['id']}"
    early = {"ended_at": "2026-01-05T10:59:00+01:00"}
    assert errors_of(agent_api.patch(path, early, if_match='"1"')) == {"ended_at"}
    ended = agent_api.patch(path, {"ended_at": "2026-01-05T10:00:00Z"}, if_match='"1"').json()
    assert (ended["ended_at"], ended["version"]) == ("2026-01-05T10:00:00Z", 2)
    assert agent_api.patch(path, {"ended_at": None}, if_match='"2"').json()["ended_at"] is None
    assert errors_of(agent_api.patch(path, {"started_at": "2026-01-05T10:00:00Z"}, if_match='"3"')) == {"started_at"}


def test_a_pattern_counts_its_successes(agent: Agent, agent_api: Api) -> None:
    pattern = made(agent_api, "patterns", name="Calm", guidance="Stay calm.", keywords=["angry"], intents=["fix"])
    assert (pattern["success_rate"], pattern["entity_types"]) == (0, [])
    path = f"agents/ada/patterns/{pattern['id']}"
    assert errors_of(agent_api.patch(path, {"successes": 1}, if_match='"1"')) == {"successes"}
    applied = agent_api.patch(path, {"successes": 3, "applications": 4}, if_match='"1"').json()
    assert applied["success_rate"] == 0.75
    assert errors_of(agent_api.patch(path, {"applications": 2}, if_match='"2"')) == {"successes"}
    assert Pattern.objects.get().applications == 4


def test_documents_are_listed_without_their_contents(
    agent: Agent, agent_api: Api, django_assert_num_queries: Any
) -> None:
    for path in ("src/a.py", "src/b.py", "docs/100%_sure.md"):
        made(agent_api, "documents", path=path, content="print()", is_open=path.startswith("docs"))
    with django_assert_num_queries(3) as captured:
        rows = agent_api.get("agents/ada/documents").json()["results"]
    assert '"content"' not in captured[-1]["sql"]
    assert all("content" not in row and row["split_version"] == 0 for row in rows)
    for query, paths in (
        ("path=src/", ["src/b.py", "src/a.py"]), ("path=docs/100%25_", ["docs/100%_sure.md"]), ("path=%25", []),
        ("path=rc", []), ("open=true", ["docs/100%_sure.md"]), ("open=false", ["src/b.py", "src/a.py"]),
        ("open=false&path=docs", []),
    ):  # fmt: skip
        found = agent_api.get(f"agents/ada/documents?{query}").json()["results"]
        assert [row["path"] for row in found] == paths


def test_a_document_is_stored_as_sent(agent: Agent, agent_api: Api) -> None:
    content = " \r\n\ttext\u2028\U0001f600\n\n"
    document = made(agent_api, "documents", path="a b/ü.txt", content=content)
    assert agent_api.get(f"agents/ada/documents/{document['id']}").json()["content"] == content
    assert made(agent_api, "documents", path="empty")["content"] == ""


def test_the_chunks_of_a_document_come_in_order(agent: Agent, agent_api: Api, django_assert_num_queries: Any) -> None:
    document = Document.objects.get(id=things_of(agent)["documents"].id)
    for position in (2, 0, 1):
        Chunk.objects.create(
            document=document, agent=agent, document_version=1, position=position, start=position, end=position + 1,
            line=position + 1, text="abc"[position],
        )  # fmt: skip
    path = f"agents/ada/documents/{document.id}/chunks"
    agent_api.get("teams")
    with django_assert_num_queries(4) as captured:  # the key, the agent, the document, the chunks
        page = agent_api.get(f"{path}?limit=2").json()
    assert '"embedding"' not in captured[-1]["sql"]
    assert page["results"] == [
        {"position": 0, "line": 1, "start": 0, "end": 1, "text": "a"},
        {"position": 1, "line": 2, "start": 1, "end": 2, "text": "b"},
    ]
    assert [row["text"] for row in agent_api.get(page["next"]).json()["results"]] == ["c"]
    assert problem(agent_api.get(path.replace("documents", "tools"))) == (404, "not_found")


def test_what_changes_a_thread_touches_it(agent: Agent, agent_api: Api) -> None:
    long_ago = "2026-01-05T10:00:00Z"
    thread = made(agent_api, "threads", title="The lost parcel", touched_at=long_ago)
    assert (thread["status"], thread["touched_at"]) == ("active", long_ago)
    path = f"agents/ada/threads/{thread['id']}"
    same = agent_api.patch(path, {"status": "active"}, if_match='"1"').json()
    assert (same["version"], same["touched_at"]) == (1, long_ago)
    resolved = agent_api.patch(path, {"status": "resolved"}, if_match='"1"').json()
    assert resolved["touched_at"] > long_ago
    dated = agent_api.patch(path, {"summary": "Found", "touched_at": long_ago}, if_match='"2"').json()
    assert (dated["version"], dated["touched_at"]) == (3, long_ago)
    made(agent_api, "threads", title="Another")
    for status, titles in (("active", ["Another"]), ("resolved", ["The lost parcel"])):
        rows = agent_api.get(f"agents/ada/threads?status={status}").json()["results"]
        assert [row["title"] for row in rows] == titles


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "text"}, "type"),
        ({"type": "object", "properties": {"city": {"type": "strin"}}}, "properties/city/type"),
        ({"$defs": {"a": {"minimum": "1"}}}, "$defs/a/minimum"),
        ({"required": ["a", "a"]}, "required"),
    ],
)
def test_a_schema_that_is_none_is_refused_with_the_place(
    schema: dict[str, Any], place: str, agent: Agent, agent_api: Api
) -> None:
    response = agent_api.post("agents/ada/tools", {"name": "weather", "schema": schema})
    assert errors_of(response) == {"schema"}
    assert f"“{place}”" in response.json()["detail"]


def test_many_large_schemas_come_in_several_batches(agent: Agent, agent_api: Api) -> None:
    items = [{"name": f"tool-{number}", "schema": {"description": "x" * 19_900}} for number in range(12)]
    assert errors_of(agent_api.post("agents/ada/tools/batch", {"items": items})) == {"items.10.schema"}
    assert agent_api.post("agents/ada/tools/batch", {"items": items[:10]}).json()["created"] == 10


def test_a_tool_is_embedded_by_its_name_and_description(agent: Agent, agent_api: Api) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "$ref": "http://localhost:1/none"}
    tool = made(agent_api, "tools", name="weather", description="The weather of a city.", schema=schema)
    assert tool["schema"] == schema
    before = Tool.objects.get()
    assert before.embedding_model
    agent_api.patch(f"agents/ada/tools/{tool['id']}", {"description": "Sends mail."}, if_match='"1"')
    assert list(Tool.objects.get().embedding) != list(before.embedding)
