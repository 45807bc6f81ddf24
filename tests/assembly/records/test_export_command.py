"""`export_records` writes what was asked for into one file, and nothing where something is wrong."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command

from agents.models import Agent
from assembly.models import Assembly
from assembly.records.bundle_reader import read_bundle
from teams.models import Team
from tests import personas
from tests.assembly.records.conftest import make_assembly

pytestmark = pytest.mark.usefixtures("module_database")
owner, editor, teammate, team, agent = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent
)


@pytest.fixture(scope="module")
def records(module_database: str, agent: Agent, team: Team) -> list[Assembly]:
    """Two contexts, which all tests read."""
    return [make_assembly(agent, team, topic) for topic in ("tea", "milk")]


def exported(file: Path, *arguments: str) -> set[UUID]:
    """The ids of the contexts in the file that the command writes."""
    told = StringIO()
    call_command("export_records", *arguments, f"--to={file}", stdout=told)
    found = set(read_bundle(file.read_bytes()).records)
    assert f"{len(found)} contexts" in told.getvalue()
    return found


def test_they_are_chosen_by_id_team_and_time(records: list[Assembly], tmp_path: Path) -> None:
    file, ids = tmp_path / "bundle.zip", {record.id for record in records}
    assert exported(file, str(records[0].id)) == {records[0].id}
    assert exported(file, "--team=care", "--since=2020-01-01") == ids
    assert exported(file, f"--until={records[1].created.isoformat()}") == {records[0].id}
    assert [path.name for path in tmp_path.iterdir()] == ["bundle.zip"]
    assert file.stat().st_mode & 0o077 == 0, "it holds what agents were told: for nobody else's eyes"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Say which contexts"),
        (["--team=nobody"], "There are no such contexts"),
        ([f"--since={(datetime.now(UTC) + timedelta(days=1)).date()}"], "There are no such contexts"),
        ([str(uuid4())], "There is no context"),
        (["--since=soon"], "Give a day or a moment"),
    ],
    ids=["nothing", "no team", "tomorrow", "no context", "no day"],
)
def test_what_is_not_there_is_told(
    arguments: list[str], sentence: str, records: list[Assembly], tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match=sentence):
        exported(tmp_path / "bundle.zip", *arguments)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_told(records: list[Assembly], tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        exported(tmp_path / "nowhere" / "bundle.zip", "--team=care")
