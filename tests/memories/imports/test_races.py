"""Two imports of the same records at once: both succeed, and everything is there once."""

from functools import partial
from pathlib import Path

from agents.services import agent_create
from memories.imports.record_folder import load_records
from memories.imports.record_import import records_import
from memories.models import Document, Entity, Event, Session
from teams.principal import SYSTEM
from tests.concurrency import at_once

LINES = {
    "events": '{"type": "note", "content": {"text": "x"}, "session_key": "run-1"}',
    "entities": '{"type": "Person", "name": "Ada"}',
}


def test_two_imports_at_once_take_turns(committed_database: str, tmp_path: Path) -> None:
    for name, line in LINES.items():
        (tmp_path / f"{name}.jsonl").write_text(line)
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "plan.md").write_text("Bake.")
    agent_create(slug="ada", name="Ada")
    store = partial(records_import, records=load_records(tmp_path), agent="ada", principal=SYSTEM, advance=str)
    stored = at_once([store, store])
    assert sorted(sum(each.new.values()) for each in stored) == [0, 3]
    assert [model.objects.count() for model in (Event, Entity, Session, Document)] == [1, 1, 1, 1]
