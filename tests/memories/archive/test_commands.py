"""`export` and `import_bundle`: folders for git, zips for elsewhere, and a plan that is told first."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from agents.models import Agent
from memories.archive.sections import scope_of_everything
from memories.models import Memory
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.archives import texts_in, zipped

pytestmark = pytest.mark.django_db


def run(name: str, *arguments: object) -> str:
    out = StringIO()
    call_command(name, *map(str, arguments), stdout=out)
    return out.getvalue()


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_and_a_zip_hold_the_same(agent: Agent, tmp_path: Path) -> None:
    assert run("export", tmp_path / "folder").endswith("folder: 13 files.\n")
    run("export", tmp_path / "all.zip")
    archive = (tmp_path / "all.zip").read_bytes()
    assert archive == zipped(scope_of_everything(SYSTEM))
    assert tree(tmp_path / "folder") == texts_in(archive)


def test_one_team_or_one_agent(agent: Agent, tmp_path: Path) -> None:
    run("export", tmp_path / "team", "--team", "care")
    files = ("CONTEXT.md", "GOALS.md", "MEMORY.md", "RULES.md", "team.json")
    assert set(tree(tmp_path / "team")) == {f"teams/care/{file}" for file in files}
    run("export", tmp_path / "agent", "--agent", "ada")
    assert {name.split("/")[0] for name in tree(tmp_path / "agent")} == {"agents"}
    with pytest.raises(CommandError, match="The agent “eve” was not found"):
        run("export", tmp_path / "x", "--agent", "eve")
    with pytest.raises(CommandError, match="cannot be written"):
        run("export", tmp_path / "nowhere" / "x.zip")


def test_exporting_again_leaves_other_files_and_changes_only_what_differs(agent: Agent, tmp_path: Path) -> None:
    run("export", tmp_path)
    (tmp_path / "README.md").write_text("Ours")
    before = tree(tmp_path)
    file = agent.files.get(file_key="IDENTITY")
    file_save(file=file, content="I am Ada.", expected_version=1, author=SYSTEM.author)
    run("export", tmp_path)
    after = tree(tmp_path)
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"agents/ada/IDENTITY.md", "agents/ada/agent.json"}


def test_a_dry_run_tells_and_changes_nothing(agent: Agent, tmp_path: Path) -> None:
    run("export", tmp_path)
    (tmp_path / "agents/ada/IDENTITY.md").write_text("I am Ada.")
    (tmp_path / "agents/ada/notes.txt").write_text("x")
    told = run("import_bundle", tmp_path, "--dry-run")
    assert "new       agents/ada/IDENTITY.md" in told
    assert "Left aside: agents/ada/notes.txt" in told
    assert "1 new, 17 the same." in told
    assert agent.files.get(file_key="IDENTITY").content == ""
    assert "Imported: 1 change." in run("import_bundle", tmp_path)
    assert agent.files.get(file_key="IDENTITY").content == "I am Ada."
    assert "No changes: 18 items unchanged." in run("import_bundle", tmp_path, "--dry-run")


def test_what_is_newer_here_is_replaced_when_asked_for(agent: Agent, tmp_path: Path) -> None:
    file = file_save(file=agent.files.get(file_key="IDENTITY"), content="Old", expected_version=1, author=SYSTEM.author)
    run("export", tmp_path / "a.zip")
    file_save(file=file, content="New", expected_version=2, author=SYSTEM.author)
    assert "left      agents/ada/IDENTITY.md: changed here since" in run("import_bundle", tmp_path / "a.zip")
    assert "Imported: 1 change." in run("import_bundle", tmp_path / "a.zip", "--replace")
    assert agent.files.get(file_key="IDENTITY").content == "Old"


@pytest.mark.parametrize(
    ("name", "message"), [("none", "is not a folder or a zip"), ("", "nothing in it that Dossier")]
)
def test_what_is_no_archive_is_refused(db: Any, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run("import_bundle", tmp_path / name)


def test_a_link_out_of_the_folder_is_refused(agent: Agent, tmp_path: Path) -> None:
    folder = tmp_path / "archive" / "agents" / "ada"
    folder.mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (folder / "IDENTITY.md").symlink_to(tmp_path / "secret")
    with pytest.raises(CommandError, match="a link that leaves the folder"):
        run("import_bundle", tmp_path / "archive")


def test_import_workspace_understands_an_exported_folder(agent: Agent, tmp_path: Path) -> None:
    run("export", tmp_path)
    before = Memory.objects.count()
    told = run("import_workspace", tmp_path / "agents" / "ada", "--agent", "ada")
    assert "3 files (0 changed), 3 daily logs (0 changed), 6 memories (0 new)" in told
    assert Memory.objects.count() == before
    assert "6 memories (6 new)" in run("import_workspace", tmp_path / "agents" / "ada", "--agent", "eve")
    assert "6 memories (0 new)" in run("import_workspace", tmp_path / "agents" / "ada", "--agent", "eve")
