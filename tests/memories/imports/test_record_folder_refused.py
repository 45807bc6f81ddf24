"""What an import of records refuses: all of it, with the API's own sentences, naming the file and the line."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from agents.services import agent_create
from memories.imports import record_import
from memories.imports.base import ImportRefused
from memories.imports.record_folder import load_records
from memories.models import Entity, TaskFrame
from memories.services import agent_items_create
from teams.principal import SYSTEM
from tests.memories.imports.record_folders import LINES, MODELS, fill, load, rows, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fill(tmp_path)
    return tmp_path


def refused(folder: Path, capsys: Any) -> str:
    """The message, after a look that nothing was stored."""
    before = rows()
    with pytest.raises(CommandError) as error:
        load(folder, capsys)
    assert rows() == before
    return str(error.value)


def test_nothing_is_taken_from_another_agent(folder: Path, capsys: Any) -> None:
    other = agent_create(slug="other", name="Other")
    agent_items_create(model=Entity, agent=other, facts=[{"type": "Person", "name": "Bo"}], principal=SYSTEM)
    agent_items_create(
        model=TaskFrame, agent=other, facts=[{"goal": "Hide", "external_id": "theirs"}], principal=SYSTEM
    )
    write(folder, "relations", [{"type": "knows", "source_key": "place-1", "target_name": "Bo"}])
    assert "There is no entity called “Bo”." in refused(folder, capsys)
    write(folder, "tasks", [*LINES["tasks"], {"goal": "Seek", "parent_key": "theirs"}])
    assert "tasks.jsonl, line 3: parent_key: There is no task frame" in refused(folder, capsys)


ONE = {"type": "Person", "name": "Bo"}
BROKEN: dict[str, tuple[str, str | bytes, str]] = {
    "no json": ("events", '{"type": \n', "events.jsonl, line 1: this is no JSON (Expecting value at character 10)"),
    "no object": ("events", "\n\n[1]\n", "events.jsonl, line 3: this is no JSON object."),
    "nan": ("entities", '{"type": "Person", "name": "A", "salience": NaN}', "NaN is no number of JSON"),
    "nested": ("events", '{"type": "a", "content": ' + "[" * 200_000, "events.jsonl, line 1: this is no JSON"),
    "digits": ("patterns", '{"successes": ' + "1" * 5_000 + "}", "patterns.jsonl, line 1: this is no JSON (Exceeds"),
    "not utf-8": ("tools", b"\n\xff", "tools.jsonl, line 2: the byte at offset 1 is not UTF-8"),
    "unknown field": ("threads", '{"title": "A", "name": "B"}', "line 1: name: There is no such field. Known are: "),
    "an id": ("events", '{"type": "a", "content": {}, "task": "x"}', "line 1: task: There is no such field."),
    "missing": ("tools", "{}", "tools.jsonl, line 1: name: This field is required."),
    "limit": ("events", json.dumps({"type": "a", "content": {"x": "y" * 100_000}}), "at most 100,000 characters"),
    "nested value": ("entities", json.dumps({**ONE, "aliases": ["a", "b\nc"]}), "aliases.1: Use one line"),
    "surrogate": ("threads", '{"title": "\\ud800"}', "threads.jsonl, line 1: title: "),
    "services": ("patterns", '{"name": "A", "guidance": "B", "successes": 2}', "line 1: successes: There are more"),
    "schema": ("tools", '{"name": "a", "schema": {"type": 3}}', "tools.jsonl, line 1: schema: At “type” it breaks"),
    "no tool": ("events", '{"type": "tool_result", "content": {}}', "events.jsonl, line 1: tool: Name the tool"),
    "twice": ("entities", json.dumps(ONE) + "\n" + json.dumps({**ONE, "salience": 1}), "line 2: name: This entity"),
    "no such task": ("events", '{"type": "a", "content": {}, "task_key": "x"}', "line 1: task_key: There is no task"),
    "own parent": ("tasks", '{"goal": "A", "external_id": "a", "parent_key": "a"}', "tasks.jsonl, line 1: parent_key"),
    "no end": ("relations", '{"type": "a", "source_name": "London"}', "line 1: target_name: Name the entity by"),
    "two ends": (
        "relations", '{"type": "a", "source_name": "A", "source_key": "b", "target_key": "b"}', "and not both."
    ),
    "type of a key": (
        "relations",
        '{"type": "a", "source_key": "place-1", "source_type": "Place", "target_key": "place-1"}',
        "line 1: source_type: This requires source_name.",
    ),
    "ambiguous": (
        "relations",
        '\n{"type": "a", "source_name": "Ada", "target_key": "place-1"}',
        "relations.jsonl, line 2: source_type: Several entities are called “Ada”. Say which one is meant: Engine, Pers",
    ),
    "not of that type": (
        "relations",
        '{"type": "a", "source_name": "Ada", "source_type": "Ship", "target_key": "place-1"}',
        "line 1: source_name: There is no Ship called “Ada”.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_line_stops_everything(
    folder: Path, capsys: Any, name: str, content: str | bytes, message: str
) -> None:
    (folder / f"{name}.jsonl").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert message in refused(folder, capsys)


def test_a_circle_of_tasks_is_refused_where_it_is(folder: Path, capsys: Any) -> None:
    chain = [{"goal": f"Step {step}", "external_id": str(step), "parent_key": str(step + 1)} for step in range(4)]
    write(folder, "tasks", [*chain, {"goal": "Back", "external_id": "4", "parent_key": "2"}])
    assert "tasks.jsonl, line 3: parent_key: This task is its own parent" in refused(folder, capsys)


def test_tasks_that_are_nested_too_deep_are_refused(folder: Path, capsys: Any) -> None:
    chain = [{"goal": f"Step {step}", "external_id": str(step)} for step in range(101)]
    write(folder, "tasks", [chain[0], *({**task, "parent_key": str(step)} for step, task in enumerate(chain[1:]))])
    assert "tasks.jsonl, line 101: parent: Goals are nested at most 100 deep." in refused(folder, capsys)


@pytest.mark.parametrize("link", ["documents/secret.md", "documents/all", "patterns.jsonl", "documents"])
def test_links_that_leave_the_folder_are_refused(folder: Path, tmp_path_factory: Any, capsys: Any, link: str) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_text("secret")
    (folder / "patterns.jsonl").unlink()
    if link == "documents":
        (folder / "documents").rename(folder / "moved")
    (folder / link).symlink_to(outside / "secret.md" if "." in link else outside)
    assert f"{link} is a link that leaves the folder" in refused(folder, capsys)


def test_a_path_that_cannot_be_kept_is_refused(folder: Path, capsys: Any) -> None:
    (folder / "documents" / "a\nb.md").write_text("x")
    assert "path: Use one line" in refused(folder, capsys)


def test_a_name_that_is_no_text_can_still_be_said(folder: Path, capsys: Any) -> None:
    try:
        (folder / "documents" / "\udcff.md").write_text("x")
    except OSError:
        pytest.skip("This file system takes no such names.")
    assert "documents/\\udcff.md: path: " in refused(folder, capsys)


def test_it_wants_a_folder_with_something_in_it(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none", "is not a folder"), (tmp_path, "There is nothing to import for ada")):
        with pytest.raises(CommandError, match=message):
            call_command("import_records", str(path), "--agent", "ada")
    assert rows() == [0] * len(MODELS)


@pytest.mark.parametrize("slug", ["Ada", "a_b", "", "a" * 61])
def test_a_slug_that_cannot_be_one_is_refused(folder: Path, slug: str) -> None:
    with pytest.raises(CommandError, match="slug"):
        call_command("import_records", str(folder), "--agent", slug)
    assert rows() == [0] * len(MODELS)


def test_failing_in_the_middle_leaves_nothing_behind(folder: Path, capsys: Any, monkeypatch: Any) -> None:
    def out_of_order(**_: Any) -> Any:
        raise RuntimeError("the last step failed")

    monkeypatch.setattr(record_import, "documents_create", out_of_order)
    with pytest.raises(RuntimeError):
        load(folder, capsys)
    assert rows() == [0] * len(MODELS)


def test_a_file_of_lines_has_its_limit(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("memories.imports.record_folder.MAX_LINES_CHARACTERS", 40)
    with pytest.raises(ImportRefused, match="has more than 40 characters"):
        load_records(folder)
