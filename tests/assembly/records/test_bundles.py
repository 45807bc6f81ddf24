"""A bundle replays on an installation that has no database, and shows what was changed in it."""

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from agents.models import Agent
from assembly.models import Assembly, Seal
from assembly.records import bundle_writer
from assembly.records.bundle_reader import BundleRefused, read_bundle
from assembly.records.bundle_writer import FILES, RecordBundle, zip_bundle
from assembly.records.followers import new_assemblies_follow
from assembly.records.seal_hashing import canonical_json
from teams.models import Team
from tests.archives import packed
from tests.assembly.records.conftest import make_assembly
from tests.faults.worker import REPOSITORY

pytestmark = pytest.mark.django_db

Files = dict[str, list[Any]]
Change = Callable[[Files], None]


@pytest.fixture
def records(agent: Agent, team: Team) -> list[Assembly]:
    """Three in two seals, the last of which repeats the second."""
    first = [make_assembly(agent, team, "tea")]
    new_assemblies_follow()
    more = [make_assembly(agent, team, "milk"), make_assembly(agent, team, "milk")]
    new_assemblies_follow()
    return first + more


@pytest.fixture
def bundle(records: list[Assembly]) -> bytes:
    return zip_bundle(RecordBundle([records[0].id, records[2].id]))


def files_of(data: bytes) -> Files:
    """The objects in each file of a bundle."""
    with ZipFile(BytesIO(data)) as archive:
        return {name: [json.loads(line) for line in archive.read(name).decode().split("\n") if line] for name in FILES}


def packed_again(files: Files) -> bytes:
    return packed({name: "".join(canonical_json(row).decode() + "\n" for row in rows) for name, rows in files.items()})


def replayed(data: bytes, folder: Path, *arguments: str) -> str:
    """What the command says. Raises CommandError where something is wrong, after saying it."""
    file, told = folder / "bundle.zip", StringIO()
    file.write_bytes(data)
    try:
        call_command("replay_bundle", str(file), *arguments, stdout=told)
    except CommandError as error:
        raise CommandError(f"{error}\n{told.getvalue()}") from None
    return told.getvalue()


def test_it_needs_no_database(bundle: bytes, records: list[Assembly], tmp_path: Path) -> None:
    file = tmp_path / "bundle.zip"
    file.write_bytes(bundle)
    nowhere = "postgresql://nobody:nothing@127.0.0.1:1/nowhere"
    told = subprocess.run(
        [sys.executable, "manage.py", "replay_bundle", str(file)],
        cwd=REPOSITORY,
        env=os.environ | {"DATABASE_URL": nowhere, "DATABASE_OWNER_URL": nowhere, "DOSSIER_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = told.stdout.splitlines()
    assert [line[:38] for line in lines[:3]] == [f"✓ {record.id}" for record in records], "with what one repeats"
    assert "replayed byte for byte, as in seal 1" in lines[0]
    assert "The newest seal in it is 2:" in lines[3]


def test_an_agent_that_is_gone_does_not_matter(bundle: bytes, agent: Agent, tmp_path: Path) -> None:
    with connections["default"].execute_wrapper(_no_query):
        assert replayed(bundle, tmp_path).count("✓") == 3


def test_the_expected_seal_is_looked_for(bundle: bytes, tmp_path: Path) -> None:
    first = Seal.objects.get(number=1)
    assert "✗" not in replayed(bundle, tmp_path, f"--expect=1:{bytes(first.sha256).hex()}")
    with pytest.raises(CommandError, match="Seal 1 is not in it"):
        replayed(bundle, tmp_path, f"--expect=1:{'0' * 64}")


def test_one_that_is_not_sealed_yet_replays_all_the_same(agent: Agent, team: Team, tmp_path: Path) -> None:
    data = zip_bundle(RecordBundle([make_assembly(agent, team, "sugar").id]))
    assert "replayed byte for byte, not sealed yet" in replayed(data, tmp_path)


def _no_query(*_: Any) -> None:
    raise AssertionError("the database was asked")


def change_text(files: Files) -> None:
    next(row for row in files["texts.jsonl"] if row["text"] == "Be kind.")["text"] = "Be cruel."


def change_topic(files: Files) -> None:
    files["records.jsonl"][0]["topic"] = "coffee"


def change_piece(files: Files) -> None:
    files["pieces.jsonl"][0]["ref"] = "memory:forged@1"


def lose_piece(files: Files) -> None:
    files["pieces.jsonl"].pop()


def swap_seal(files: Files) -> None:
    files["seals.jsonl"][1]["records"].reverse()


def change_link(files: Files) -> None:
    files["links.jsonl"][0]["created"] = "2020-01-01T00:00:00.000000Z"


def lose_link(files: Files) -> None:
    files["links.jsonl"].pop(0)


def empty_body(files: Files) -> None:
    files["records.jsonl"][0]["body"] = ""
    files["seals.jsonl"].clear()


CHANGED: list[tuple[Change, str]] = [
    (change_text, "is not what its own hash says"),
    (change_topic, "It differs from seal 1"),
    (change_piece, "is not what its own hash says"),
    (lose_piece, "A part of it is missing or differs."),
    (swap_seal, "The list of seal 2 is not the one that was sealed"),
    (change_link, "Seal 1 is not what its own hash says"),
    (lose_link, "The list of seal 1 is not the one that was sealed"),
    (empty_body, "It cannot be replayed"),
]


@pytest.mark.parametrize(("change", "sentence"), CHANGED, ids=[change.__name__ for change, _ in CHANGED])
def test_what_was_changed_is_told(change: Change, sentence: str, bundle: bytes, tmp_path: Path) -> None:
    files = files_of(bundle)
    change(files)
    with pytest.raises(CommandError, match=sentence):
        replayed(packed_again(files), tmp_path)


WRONG: dict[str, Change] = {
    "no format": lambda files: files["about.json"][0].update(format="other"),
    "an unknown column": lambda files: files["records.jsonl"][0].update(more=1),
    "a missing column": lambda files: files["records.jsonl"][0].pop("topic"),
    "a number as text": lambda files: files["records.jsonl"][0].update(budget="1"),
    "a number without end": lambda files: files["records.jsonl"][0].update(budget=10**30),
    "a flag as a number": lambda files: files["records.jsonl"][0].update(truncated=1),
    "a text as a list": lambda files: files["records.jsonl"][0].update(topic=[]),
    "no moment": lambda files: files["records.jsonl"][0].update(now="yesterday"),
    "no id": lambda files: files["records.jsonl"][0].update(id="../../x"),
    "no hexadecimal": lambda files: files["records.jsonl"][0].update(body="xyz"),
    "no body": lambda files: files["records.jsonl"][0].update(body="01ffff"),
    "a list of lists": lambda files: files["records.jsonl"][0].update(told=[[1]]),
    "too few hashes": lambda files: files["records.jsonl"][0].update(parts=[]),
    "facts as a list": lambda files: files["pieces.jsonl"][0].update(facts=[]),
    "a short hash": lambda files: files["texts.jsonl"][0].update(sha256="00"),
    "a seal of numbers": lambda files: files["seals.jsonl"][0].update(records=[1, 2]),
    "a seal of nothing": lambda files: files["seals.jsonl"][0].update(records=7),
    "a link of another form": lambda files: files["links.jsonl"][0].update(form=2),
    "no object": lambda files: files["texts.jsonl"].append([1]),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_what_has_a_wrong_type_is_refused_with_a_sentence(change: Change, bundle: bytes) -> None:
    files = files_of(bundle)
    change(files)
    with pytest.raises(BundleRefused):
        read_bundle(packed_again(files))


def test_a_body_that_unpacks_to_far_too_much_is_refused(bundle: bytes) -> None:
    files = files_of(bundle)
    packing = zlib.compressobj()
    bomb = b"".join(packing.compress(bytes(10_000_000)) for _ in range(21)) + packing.flush()
    files["records.jsonl"][0]["body"] = (b"\x01" + bomb).hex()
    with pytest.raises(BundleRefused, match="larger than 200 MB"):
        read_bundle(packed_again(files))


@pytest.mark.parametrize(
    "data", [b"", b"hello", packed({"about.json": "{}"}), packed(dict.fromkeys(FILES, "[" * 9_000))]
)
def test_what_is_no_bundle_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(CommandError):
        replayed(data, tmp_path)


def test_more_than_can_be_read_again_is_not_written(records: list[Assembly], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_writer, "MAX_BYTES", 2_000)
    with pytest.raises(bundle_writer.BundleTooLarge, match="at most 200 MB"):
        zip_bundle(RecordBundle([records[0].id]))
