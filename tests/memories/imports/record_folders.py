"""A folder of records to import, and what there is in the database."""

import json
from pathlib import Path
from typing import Any

from django.core.management import call_command

from agents.models import Agent
from memories.models import Document, Entity, Event, Job, Pattern, Relation, Session, TaskFrame, Thread, Tool

MODELS: list[Any] = [
    Agent, Session, TaskFrame, Event, Entity, Relation, Pattern, Thread, Tool, Document, Job
]  # fmt: skip
LINES: dict[str, list[dict[str, Any]]] = {
    "sessions": [{"external_id": "run-1", "title": "First run", "started_at": "2026-03-01T09:00:00Z"}],
    "tasks": [
        {"external_id": "leaf", "goal": "Ask the baker", "parent_key": "root"},
        {"external_id": "root", "goal": "Plan the feast", "session_key": "run-1"},
    ],
    "events": [
        {
            "type": "file_read", "content": {"path": "plan.md"}, "session_key": "run-1", "task_key": "leaf",
            "occurred_at": "2026-03-01T09:10:00Z",
        },
        {"type": "message", "content": {"text": "Üben"}, "session_key": "run-2", "occurred_at": "2026-03-02T09:00:00Z"},
        {"type": "message", "content": {"text": "Vor"}, "session_key": "run-2", "occurred_at": "2026-03-02T08:00:00Z"},
    ],
    "entities": [
        {"type": "Person", "name": "Ada", "aliases": ["the Countess"], "salience": 0.9},
        {"type": "Engine", "name": "Ada"},
        {"type": "Place", "name": "London", "external_id": "place-1", "properties": {"river": "Thames"}},
    ],
    "relations": [
        {"type": "lives_in", "source_name": "Ada", "source_type": "Person", "target_key": "place-1", "weight": 0.8},
        {"type": "made", "source_name": "Ada", "source_type": "Person", "target_name": "Ada", "target_type": "Engine"},
    ],
    "patterns": [{"name": "Ask first", "guidance": "Ask.", "successes": 3, "applications": 4}],
    "threads": [{"title": "The feast", "summary": "No baker yet."}],
    "tools": [{"name": "send", "schema": {"type": "object"}}],
}  # fmt: skip


def write(folder: Path, name: str, lines: list[dict[str, Any]]) -> None:
    (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def fill(folder: Path) -> None:
    for name, lines in LINES.items():
        write(folder, name, lines)
    (folder / "documents" / "notes").mkdir(parents=True)
    (folder / "documents" / "plan.md").write_bytes(b"# Plan\r\n\r\nBake. \r\n")
    (folder / "documents" / "notes" / "sum.py").write_text("print(1 + 1)\n")


def load(folder: Path, capsys: Any) -> str:
    call_command("import_records", str(folder), "--agent", "ada-two")
    captured = capsys.readouterr()
    assert captured.err == ""  # no progress bar where there is no terminal
    return str(captured.out)


def rows() -> list[int]:
    return [model.objects.count() for model in MODELS]
