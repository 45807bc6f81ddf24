"""Importing a folder as agents keep them: exactly, once, all or nothing, with errors that say where and what to do."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from agents.models import Agent, AgentFile, AgentFileVersion, DailyLog, DailyLogVersion
from agents.services import agent_create
from memories.archive.memory_markdown import parse_memory_file
from memories.imports import workspace as workspace_module
from memories.models import Memory
from memories.models.memory import MAX_TEXT_CHARACTERS
from teams.models import Team, TeamFile
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

pytestmark = pytest.mark.django_db

MEMORY = """# Kept

- [Decision] Ship on Tuesdays.
- [fact] The bridge is closed
  until May.

  - also for bicycles
Not a bullet.
- [fact] The bridge is closed
  until May.

  - also for bicycles
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    (tmp_path / "IDENTITY.md").write_bytes("\ufeffI am Ada.\r\nÜber alles genau.\r\n".encode())
    (tmp_path / "KNOWLEDGE.md").write_text("  leading and trailing  \n\n")
    (tmp_path / "GOALS.md").write_text("Be on time.")
    (tmp_path / "MEMORY.md").write_text(MEMORY)
    (tmp_path / "memory" / "2026-02-28.md").write_bytes(b"Rain.\r\n\tAll day. \n")
    (tmp_path / "NOTES.txt").write_text("nothing")
    return tmp_path


def load(folder: Path, capsys: Any, *options: str) -> str:
    call_command("import_workspace", str(folder), "--agent", "ada-two", *options)
    captured = capsys.readouterr()
    assert captured.err == ""  # no progress bar where there is no terminal
    return str(captured.out)


def rows() -> list[int]:
    models: list[Any] = [Agent, AgentFile, AgentFileVersion, DailyLog, DailyLogVersion, Memory, Team, TeamFile]
    return [model.objects.count() for model in models]


def test_it_stores_everything_exactly(folder: Path, capsys: Any) -> None:
    said = load(folder, capsys, "--team", "night-shift")
    agent = Agent.objects.get(slug="ada-two")
    assert agent.name == "Ada Two"
    assert agent.teams.get().name == "Night Shift"
    content = {file.file_key: file.content for file in agent.files.all()}
    assert content == {
        "IDENTITY": "I am Ada.\r\nÜber alles genau.\r\n",
        "INSTRUCTIONS": "",
        "KNOWLEDGE": "  leading and trailing  \n\n",
    }
    assert TeamFile.objects.get(file_key="GOALS").content == "Be on time."
    log = agent.daily_logs.get()
    assert (log.date, log.content) == (datetime.date(2026, 2, 28), "Rain.\r\n\tAll day. \n")
    kept = sorted(agent.memories.values_list("kind", "text"))
    bridge = "The bridge is closed\nuntil May.\n\n- also for bicycles"
    assert kept == [("decision", "Ship on Tuesdays."), ("fact", bridge)]
    assert "3 files (3 changed), 1 daily log (1 changed), 2 memories (2 new)" in said
    assert "1 heading, 1 blank line, 1 repeated memory, 1 other line (8)" in said
    assert "Left aside: NOTES.txt." in said


def test_importing_twice_adds_nothing(folder: Path, capsys: Any) -> None:
    load(folder, capsys, "--team", "night-shift")
    before = rows()
    said = load(folder, capsys, "--team", "night-shift")
    assert rows() == before
    assert "3 files (0 changed), 1 daily log (0 changed), 2 memories (0 new)" in said


def test_a_change_makes_a_version_and_a_changed_line_a_memory(folder: Path, capsys: Any) -> None:
    load(folder, capsys)
    (folder / "IDENTITY.md").write_text("I am Ada, the second.")
    (folder / "memory" / "2026-02-28.md").write_text("Sun.")
    (folder / "MEMORY.md").write_text(MEMORY.replace("Tuesdays", "Wednesdays"))
    said = load(folder, capsys)
    assert "2 files (1 changed), 1 daily log (1 changed), 2 memories (1 new)" in said
    assert AgentFile.objects.get(file_key="IDENTITY").versions.count() == 3
    assert [version.content for version in DailyLog.objects.get().versions.all()] == ["Sun.", "Rain.\r\n\tAll day. \n"]


def test_line_ends_and_order_do_not_make_another_memory() -> None:
    unix = parse_memory_file("- [a] one\n  more\n- [b] two\n", "MEMORY.md").memories
    windows = parse_memory_file("- [B] two\r\n- [A] one\r\n    more\r\n", "MEMORY.md").memories
    assert {facts.external_id for facts in unix} == {facts.external_id for facts in windows}


def test_without_a_team_its_files_are_left_aside(folder: Path, capsys: Any) -> None:
    assert "Left aside: GOALS.md. They belong to a team; name it with --team." in load(folder, capsys)
    assert not Team.objects.exists()


def test_an_agent_that_is_there_is_kept(folder: Path, capsys: Any) -> None:
    agent_create(slug="ada-two", name="Countess", timezone="Europe/Berlin")
    load(folder, capsys)
    assert Agent.objects.get().name == "Countess"


def test_a_link_within_the_folder_is_followed(folder: Path, capsys: Any) -> None:
    (folder / "INSTRUCTIONS.md").symlink_to("GOALS.md")
    load(folder, capsys)
    assert AgentFile.objects.get(file_key="INSTRUCTIONS").content == "Be on time."


BROKEN: dict[str, tuple[str, bytes | str, str]] = {
    "not utf-8": ("KNOWLEDGE.md", b"one\ntw\xff", "KNOWLEDGE.md, line 2: the byte at offset 6 is not UTF-8"),
    "nul": ("IDENTITY.md", b"one\n\ntw\0", "IDENTITY.md, line 3 has a NUL"),
    "too large": ("IDENTITY.md", "ü" * (MAX_FILE_CHARACTERS + 1), "IDENTITY.md has more than 1,000,000 characters"),
    "far too large": ("IDENTITY.md", b"x" * (4 * MAX_FILE_CHARACTERS + 4), "IDENTITY.md has more than 1,000,000"),
    "no such date": ("memory/2026-02-30.md", "x", "memory/2026-02-30.md: there is no such date"),
    "no year": ("memory/0000-01-01.md", "x", "memory/0000-01-01.md: there is no such date"),
    "kind with a space": ("MEMORY.md", "\n- [a b] x", "MEMORY.md, line 2: “a b” cannot be a kind"),
    "kind too long": ("MEMORY.md", f"- [{'k' * 41}] x", "MEMORY.md, line 1: “kkk"),
    "no kind": ("MEMORY.md", "- [ ] to do", "MEMORY.md, line 1: “ ” cannot be a kind"),
    "foreign kind": ("MEMORY.md", "- [идея] x", "“идея” cannot be a kind; use 1 to 40 of the characters a-z"),
    "no text": ("MEMORY.md", "- [fact] fine\n- [fact]   \n", "MEMORY.md, line 2: there is no text after [fact]"),
    "text too long": ("MEMORY.md", f"- [fact] {'x' * (MAX_TEXT_CHARACTERS + 1)}", "has 20,001 characters of at most"),
}


@pytest.mark.parametrize(("name", "content", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_stops_everything(
    folder: Path, capsys: Any, name: str, content: bytes | str, message: str
) -> None:
    before = rows()
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CommandError) as error:
        load(folder, capsys)
    assert message in str(error.value)
    assert rows() == before


def test_the_longest_file_is_taken(folder: Path, capsys: Any) -> None:
    (folder / "KNOWLEDGE.md").write_text("\ufeff" + "🙂" * MAX_FILE_CHARACTERS, encoding="utf-8")
    load(folder, capsys)
    assert len(AgentFile.objects.get(file_key="KNOWLEDGE").content) == MAX_FILE_CHARACTERS


def test_links_that_leave_the_folder_are_refused(folder: Path, tmp_path_factory: Any, capsys: Any) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "2026-03-01.md").write_text("secret")
    for link, target in (("INSTRUCTIONS.md", outside / "2026-03-01.md"), ("memory/2026-03-01.md", outside / "x")):
        (folder / link).symlink_to(target)
        with pytest.raises(CommandError, match=f"{link} is a link that leaves the folder"):
            load(folder, capsys)
        (folder / link).unlink()
    (folder / "memory" / "2026-02-28.md").unlink()
    (folder / "memory").rmdir()
    (folder / "memory").symlink_to(outside)
    with pytest.raises(CommandError, match="leaves the folder"):
        load(folder, capsys)


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda path: path.mkdir(), "INSTRUCTIONS.md is not a file"),
        (lambda path: path.symlink_to("gone"), "INSTRUCTIONS.md cannot be read"),
        (lambda path: path.symlink_to(path.name), "INSTRUCTIONS.md is a link that leaves the folder"),
    ],
    ids=["folder", "dangling link", "link to itself"],
)
def test_what_is_no_file_is_refused(folder: Path, capsys: Any, prepare: Any, message: str) -> None:
    prepare(folder / "INSTRUCTIONS.md")
    with pytest.raises(CommandError, match=message):
        load(folder, capsys)


def test_it_wants_a_folder_with_something_in_it(tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(CommandError, match="is not a folder"):
        load(tmp_path / "none", capsys)
    with pytest.raises(CommandError, match="nothing to import for ada-two; name a folder"):
        load(tmp_path, capsys)
    (tmp_path / "RULES.md").write_text("Be kind.")
    with pytest.raises(CommandError, match="name a team with --team"):
        load(tmp_path, capsys)
    assert rows() == [0] * 8


@pytest.mark.parametrize("slug", ["Ada", "a--b", "a_b", "", "a" * 61])
def test_a_slug_that_cannot_be_one_is_refused(folder: Path, slug: str) -> None:
    for slugs in (["--agent", slug], ["--agent", "ada", "--team", slug or "-"]):
        with pytest.raises(CommandError, match="slug"):
            call_command("import_workspace", str(folder), *slugs)
    assert rows() == [0] * 8


def test_failing_in_the_middle_leaves_nothing_behind(folder: Path, capsys: Any, monkeypatch: Any) -> None:
    def out_of_order(**_: Any) -> int:
        raise RuntimeError("the last step failed")

    monkeypatch.setattr(workspace_module, "memories_store", out_of_order)
    with pytest.raises(RuntimeError):
        load(folder, capsys, "--team", "night-shift")
    assert rows() == [0] * 8
