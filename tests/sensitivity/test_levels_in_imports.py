"""Each way to bring in texts gives them the level that they say, or refuses them; nobody goes beyond their clearance.

Archives are in `test_levels_in_archives`.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import models

from agents.models import Agent, AgentFile, DailyLog
from config.http.errors import Forbidden
from memories.imports.conversation import conversation_import, load_conversation
from memories.imports.record_folder import load_records
from memories.imports.record_import import records_import
from memories.imports.record_kinds import RECORD_KINDS
from memories.imports.workspace import load_workspace, workspace_import
from memories.models import Document, Memory
from memories.services import MemoryFacts, memory_create
from teams.models import Team, TeamFile, User
from teams.principal import SYSTEM
from teams.sensitivity import LEVEL_WORDS, Sensitivity, reading_as
from tests.memories.imports.record_folders import LINES, write
from tests.sensitivity.restricted_things import raise_level

pytestmark = pytest.mark.django_db

CONVERSATION: dict[str, Any] = {
    "session_1": [{"dia_id": "D1:1", "speaker": "Ada", "text": "Vyqx is late."}],
    "session_1_date_time": "1:56 pm on 8 May, 2026",
}


def import_workspace(folder: Path, principal: Any = SYSTEM) -> None:
    with reading_as(principal):
        workspace_import(workspace=load_workspace(folder), agent="ada", team="care", principal=principal, advance=bool)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder as an export has it, of which only some texts are named with a level."""
    levels = {"KNOWLEDGE.md": "restricted", "IDENTITY.md": "public", "memory/2026-02-01.md": "confidential"}
    (tmp_path / "agent.json").write_text(json.dumps({"name": "Luna", "sensitivity": levels}))
    (tmp_path / "team.json").write_text(json.dumps({"sensitivity": {"GOALS.md": "confidential"}}))
    for name in ("KNOWLEDGE", "IDENTITY", "INSTRUCTIONS", "GOALS"):
        (tmp_path / f"{name}.md").write_text(f"Vyqx {name}")
    (tmp_path / "memory").mkdir()
    for day in (1, 2):
        (tmp_path / "memory" / f"2026-02-0{day}.md").write_text("Vyqx log")
    bullets = [f'<!-- {{"sensitivity":"{word}"}} -->\n- [fact] Vyqx {word}\n' for word in LEVEL_WORDS]
    (tmp_path / "MEMORY.md").write_text("\n".join([*bullets, "- [fact] Vyqx without\n"]))
    return tmp_path


def levels_of(model: Any, name: str, **of: Any) -> dict[str, int]:
    return {str(getattr(row, name)): row.sensitivity for row in model.everything.filter(**of)}


def test_a_workspace_has_the_levels_of_an_export(workspace: Path, agent: Agent, team: Team) -> None:
    import_workspace(workspace)
    files = levels_of(AgentFile, "file_key", agent=agent)
    assert files == {"KNOWLEDGE": 3, "IDENTITY": 0, "INSTRUCTIONS": 1}
    assert levels_of(TeamFile, "file_key", team=team)["GOALS"] == 2
    assert levels_of(DailyLog, "date") == {"2026-02-01": 2, "2026-02-02": 1}
    texts = {f"Vyqx {word}": int(level) for word, level in LEVEL_WORDS.items()}
    assert levels_of(Memory, "text") == texts | {"Vyqx without": 1}


def test_a_workspace_raises_what_is_here_and_lowers_nothing(workspace: Path, agent: Agent, team: Team) -> None:
    import_workspace(workspace)
    internal = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Vyqx known"), principal=SYSTEM)
    said = json.dumps({"id": str(internal.id), "sensitivity": "confidential"})
    (workspace / "MEMORY.md").write_text(f"<!-- {said} -->\n- [fact] Vyqx known\n")
    raise_level(AgentFile, agent.files.get(file_key="KNOWLEDGE").pk, Sensitivity.INTERNAL)
    raise_level(AgentFile, agent.files.get(file_key="IDENTITY").pk, Sensitivity.CONFIDENTIAL)
    raise_level(DailyLog, DailyLog.objects.get(date="2026-02-01").pk, Sensitivity.INTERNAL)
    raise_level(DailyLog, DailyLog.objects.get(date="2026-02-02").pk, Sensitivity.RESTRICTED)
    import_workspace(workspace)
    assert levels_of(AgentFile, "file_key", agent=agent) == {"KNOWLEDGE": 3, "IDENTITY": 2, "INSTRUCTIONS": 1}
    assert levels_of(DailyLog, "date") == {"2026-02-01": 2, "2026-02-02": 3}
    internal.refresh_from_db()
    assert internal.sensitivity == Sensitivity.CONFIDENTIAL


@pytest.mark.parametrize("where", ["file", "log", "memory", "known memory"])
def test_nobody_imports_a_workspace_above_their_clearance(
    where: str, workspace: Path, agent: Agent, team: Team, editor: User
) -> None:
    for name in ("team.json", "agent.json", "MEMORY.md"):
        (workspace / name).unlink()
    if where in {"file", "log"}:
        name = {"file": "KNOWLEDGE.md", "log": "memory/2026-02-01.md"}[where]
        (workspace / "agent.json").write_text(json.dumps({"sensitivity": {name: "restricted"}}))
    else:
        known = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Vyqx"), principal=SYSTEM)
        said = {"sensitivity": "restricted"} | ({"id": str(known.id)} if where == "known memory" else {})
        (workspace / "MEMORY.md").write_text(f"<!-- {json.dumps(said)} -->\n- [fact] Vyqx\n")
    before = Memory.objects.count(), levels_of(AgentFile, "file_key", agent=agent)
    with pytest.raises(Forbidden, match="you cannot make this restricted"):
        import_workspace(workspace, editor.principal)
    assert (Memory.objects.count(), levels_of(AgentFile, "file_key", agent=agent)) == before
    assert not DailyLog.objects.exists()


def test_a_workspace_with_an_unknown_level_is_refused(workspace: Path) -> None:
    (workspace / "agent.json").write_text(json.dumps({"sensitivity": {"KNOWLEDGE.md": "secret"}}))
    with pytest.raises(CommandError, match=r"the sensitivity of KNOWLEDGE\.md is none of public, internal"):
        call_command("import_workspace", str(workspace), "--agent", "ada")


def test_another_agent_json_is_left_aside(workspace: Path) -> None:
    for text in ("{", "[]", "{}"):
        (workspace / "agent.json").write_text(text)
        assert load_workspace(workspace).ignored_names == ("agent.json",)


def import_records(folder: Path, principal: Any = SYSTEM) -> None:
    with reading_as(principal):
        records_import(records=load_records(folder), agent="ada", principal=principal, advance=bool)


def fill(folder: Path, level: str | None) -> None:
    """Write a folder of records of all kinds, whose lines have this level."""
    said = {} if level is None else {"sensitivity": level}
    for name, lines in LINES.items():
        write(folder, name, [line | said for line in lines])
    (folder / "documents").mkdir()
    (folder / "documents" / "plan.md").write_text("# Plan")


def models_of_records() -> list[type[models.Model]]:
    return [kind.endpoint.model for kind in RECORD_KINDS]


@pytest.mark.parametrize("word", ["public", "internal", "confidential", "restricted", None])
def test_each_record_has_the_level_of_its_line(word: str | None, tmp_path: Path, agent: Agent) -> None:
    fill(tmp_path, word)
    import_records(tmp_path)
    expected = LEVEL_WORDS[word] if word else Sensitivity.INTERNAL
    for model in models_of_records():
        found = set(model.everything.values_list("sensitivity", flat=True))  # type: ignore[attr-defined]
        # The session that is made for an event is internal, and so are parts of nothing else.
        assert expected in found, model
        assert found <= {expected, Sensitivity.INTERNAL}, model
    assert Document.everything.get().sensitivity == Sensitivity.INTERNAL


def test_records_that_exist_keep_their_level(tmp_path: Path, agent: Agent) -> None:
    fill(tmp_path, None)
    import_records(tmp_path)
    raise_level(Document, Document.objects.get().pk, Sensitivity.RESTRICTED)
    (tmp_path / "documents" / "plan.md").write_text("# Another plan")
    import_records(tmp_path)
    document = Document.everything.get()
    assert (document.sensitivity, document.content) == (Sensitivity.RESTRICTED, "# Another plan")


@pytest.mark.parametrize("kind", RECORD_KINDS, ids=lambda kind: kind.endpoint.name)
def test_nobody_imports_a_record_above_their_clearance(kind: Any, tmp_path: Path, agent: Agent, editor: User) -> None:
    fill(tmp_path, None)
    name = kind.endpoint.name
    write(tmp_path, name, [line | {"sensitivity": "restricted"} for line in LINES[name]])
    with pytest.raises(Forbidden, match="you cannot make this restricted"):
        import_records(tmp_path, editor.principal)
    assert not any(model.everything.exists() for model in models_of_records())  # type: ignore[attr-defined]


def test_an_unknown_level_of_a_record_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "threads", [LINES["threads"][0] | {"sensitivity": "secret"}])
    with pytest.raises(CommandError, match=r"threads\.jsonl, line 1: sensitivity: "):
        call_command("import_records", str(tmp_path), "--agent", "ada")


def test_a_conversation_is_internal_and_a_log_keeps_its_level(tmp_path: Path, agent: Agent) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(CONVERSATION))

    def load() -> None:
        sessions = load_conversation(file)
        conversation_import(sessions=sessions, agent="ada", principal=SYSTEM, advance=bool)

    load()
    assert set(levels_of(Memory, "text").values()) == set(levels_of(DailyLog, "date").values()) == {1}
    raise_level(DailyLog, DailyLog.objects.get().pk, Sensitivity.RESTRICTED)
    more = {"session_2": [{"dia_id": "D2:1", "speaker": "Ada", "text": "Vyqx is here."}],
            "session_2_date_time": "2:56 pm on 8 May, 2026"}  # fmt: skip
    file.write_text(json.dumps(CONVERSATION | more))
    load()
    log = DailyLog.everything.get()
    assert (log.sensitivity, "Vyqx is here." in log.content) == (Sensitivity.RESTRICTED, True)


@pytest.mark.parametrize("where", ["file", "turn"])
def test_a_conversation_that_names_a_level_is_refused(where: str, tmp_path: Path) -> None:
    said = {"sensitivity": "restricted"}
    [turn] = CONVERSATION["session_1"]
    data = CONVERSATION | (said if where == "file" else {"session_1": [turn | said]})
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(data))
    with pytest.raises(CommandError, match=r"conversations are imported as internal\. Nothing was stored"):
        call_command("import_conversation", str(file), "--agent", "ada")
    assert not Agent.objects.exists()
