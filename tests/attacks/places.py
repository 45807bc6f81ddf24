"""All places where a hostile text can come into a context, by source: each as the source itself words it."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

from assembly.engine import item_formats
from assembly.engine.types import ORIGINS, Candidate, Summary
from assembly.sources.project_structure import format_tree, path_in_tree

NOW = dt.datetime(2026, 11, 20, 9, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Words:
    """The text and the kind of a candidate."""

    text: str
    kind: str = ""


Place = Callable[[str], Words]


def _event(kind: str, **members: str | None) -> Place:
    """An event whose members hold the text wherever they are None."""

    def words(text: str) -> Words:
        content = {name: text if value is None else value for name, value in members.items()}
        return Words(item_formats.format_event(kind=kind, content=content, outcome="ok", occurred_at=NOW), kind)

    return words


def _tool_result(**members: str | None) -> Place:
    def words(text: str) -> Words:
        content = {name: text if value is None else value for name, value in members.items()}
        formatted = item_formats.format_tool_result(
            tool="fetch", content=content, size=len(text), outcome="", occurred_at=NOW
        )
        return Words(formatted, "tool_result")

    return words


def _entity(**members: str | None) -> Place:
    def words(text: str) -> Words:
        given = {"kind": "person", "name": "Ada", "key": "born", "value": "1815"}
        one = {**given, **{name: text if value is None else value for name, value in members.items()}}
        return Words(
            item_formats.format_entity(kind=one["kind"], name=one["name"], properties={one["key"]: one["value"]}),
            "person",
        )

    return words


def _relation(member: str) -> Place:
    return lambda text: Words(
        item_formats.format_relation(
            **{"source": "Ada", "kind": "knows", "target": "Luna", member: text}, directed=True
        )
    )


def _task(status: str) -> Place:
    return lambda text: Words(item_formats.format_task(goal=text, status=status, result=text))


def _tree(path: str) -> str:
    """The tree of a project with this path, as the source reads it."""
    return format_tree([("src/main.py", NOW), (path_in_tree(path), NOW)], now=NOW)


EVENTS = [
    _event("shell_exec", command=None, stdout="ok"),
    _event("shell_exec", command="ls", stdout=None),
    _event("error", message=None, stack=""),
    _event("error", message="No.", stack=None),
    _event("file_read", path=None),
    _event("file_write", path=None),
    _event("message", text=None),
]
FILES: list[Place] = [lambda text: Words(text, "IDENTITY")]
DOCUMENTS: list[Place] = [
    lambda text: Words(item_formats.format_open_file(path="notes.md", language="markdown", text=text), "document"),
    lambda text: Words(item_formats.format_open_file(path=text, language=text, text=text), "document"),
]
ENTITIES = [_entity(value=None), _entity(key=None), _entity(name=None), _entity(kind=None)]
MEMORIES: list[Place] = [
    lambda text: Words(text, "decision"),
    lambda text: Words(text, ""),
    lambda text: Words("Ink.", text),
]
PATTERNS: list[Place] = [
    lambda text: Words(item_formats.format_pattern(name="Retry", guidance=text, successes=1, applications=2)),
    lambda text: Words(item_formats.format_pattern(name=text, guidance="Wait.", successes=0, applications=0)),
]

PLACES: dict[str, list[Place]] = {
    "agent_files": FILES,
    "team_files": FILES,
    "organisation_files": [
        lambda text: Words(item_formats.format_chunk(path="House style", line=1, text=text), "house-style"),
        lambda text: Words(item_formats.format_chunk(path=text, line=1, text="Ink."), "house-style"),
    ],
    "daily_logs": [Words],
    "team_memories": MEMORIES,
    "agent_memories": MEMORIES,
    "recent_events": EVENTS,
    "semantic_content": [
        lambda text: Words(item_formats.format_chunk(path="notes.md", line=1, text=text), "chunk"),
        lambda text: Words(item_formats.format_chunk(path=text, line=1, text="Ink."), "chunk"),
    ],
    "entities": ENTITIES,
    "relations": [_relation("source"), _relation("kind"), _relation("target")],
    "patterns": PATTERNS,
    "task_stack": [_task("active"), _task("complete")],
    "tools": [
        lambda text: Words(item_formats.format_tool(name="fetch", description=text, schema={"type": "object"}), "tool"),
        lambda text: Words(item_formats.format_tool(name=text, description="Fetches.", schema={text: text}), "tool"),
    ],
    "tool_results": [_tool_result(text=None), _tool_result(text=None, page="1")],
    "threads": [
        lambda text: Words(item_formats.format_thread(title="Walk", status="open", summary=text), "thread"),
        lambda text: Words(item_formats.format_thread(title=text, status=text, summary="Goes on."), "thread"),
    ],
    "external": [Words],
    "open_files": DOCUMENTS,
    "project_structure": [lambda text: Words(_tree(text), "project_structure")],
    "turns": [lambda text: Words(text, "user"), lambda text: Words(text, "assistant")],
    "rule_inclusions": [*FILES, *DOCUMENTS, *ENTITIES, *PATTERNS, Words],
    "additional_context": [Words],
}
"""By the name of the source. A source that is missing here fails tests/attacks/test_contexts.py."""


def candidate(section: str, words: Words, place: int) -> Candidate:
    """The words as the item of a section at that place."""
    short = words.text[: len(words.text) // 2]
    return Candidate(
        f"thing:{section}-{place}@1",
        section,
        words.text,
        origin=ORIGINS[(len(section) + place) % len(ORIGINS)],
        levels={"macro": Summary(short, "of-tests")} if short.strip() else {},
        kind=words.kind,
        date=NOW.date() - dt.timedelta(days=place),
        occurred_at=NOW - dt.timedelta(hours=place),
        similarity=0.9 - place / 100,
        score=0.9 - place / 100,
        position=place,
    )
