"""Reading one record: from JSON to facts that can be stored, or a message that says where it fails and why.

The text files of a project's folder, each a document by its path below that folder.

A folder of records, read whole and checked, before anything is stored.

sessions.jsonl tasks.jsonl events.jsonl           one JSON object per line (see kinds)
entities.jsonl relations.jsonl patterns.jsonl
threads.jsonl tools.jsonl
documents/                                        text files, each a document by its path below (see documents)
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from rest_framework.exceptions import ValidationError

from config.http.problems import as_dossier_error
from config.http.serializers import StrictSerializer
from memories.api.documents import MAX_CONTENT_CHARACTERS, DocumentCreateSerializer
from memories.embeddings.splitting import LANGUAGE_OF
from memories.imports.base import MAX_LINES_CHARACTERS, ImportRefused, UnreadableText, check_within, read_text_within
from memories.imports.record_kinds import RECORD_KINDS, RecordKind
from memories.services.json_values import compact_json


@dataclass(frozen=True, slots=True)
class Record:
    """The checked facts of one thing, and the line or file that they stand in, as messages call it."""

    where: str
    facts: dict[str, Any]


def parse_records(kind: RecordKind, text: str) -> Iterator[Record]:
    """The records in the lines of a file; blank lines are none. Raises ImportRefused."""
    serializer = kind.line()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{kind.file}, line {number}"
        said = _parse_line(line, where)
        facts = validate_record(serializer, said, where)
        facts["external_id"] = facts["external_id"] or _record_id(said)
        yield Record(where, facts)


def validate_record(serializer: StrictSerializer, said: Any, where: str) -> dict[str, Any]:
    """What is said as facts, as the API takes it. Raises ImportRefused with the API's own sentences."""
    try:
        facts: dict[str, Any] = serializer.run_validation(said)
    except ValidationError as invalid:
        error = as_dossier_error(invalid)
        errors = error.extra["errors"] if error else {}
        faults = "; ".join(f"{field}: {fault['message']}" for field, found in errors.items() for fault in found)
        raise ImportRefused(f"{where}: {faults}") from None
    return facts


def _parse_line(line: str, where: str) -> Any:
    try:
        said = json.loads(line, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        fault = f"{error.msg} at character {error.pos + 1}"
    except RecursionError:
        fault = "it is nested too deeply"
    except ValueError as error:  # a number with thousands of digits, or NaN
        fault = str(error)
    else:
        if isinstance(said, dict):
            return said
        raise ImportRefused(f"{where}: this is no JSON object. Put one object in braces on each line.")
    raise ImportRefused(f"{where}: this is no JSON ({fault}). Put one JSON object on each line.")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _record_id(said: dict[str, Any]) -> str:
    # The same object gets the same id wherever it stands in the file, so importing again adds only what is new.
    return f"line:{hashlib.sha256(compact_json(said).encode()).hexdigest()[:32]}"


DOCUMENT_FOLDER = "documents"


def load_documents(folder: Path) -> tuple[list[Record], list[str]]:
    """The records of the folder's documents, and the names of what is left aside: hidden, or no text that can be kept.

    Raises ImportRefused for links that leave the folder and paths that cannot be stored.
    """
    serializer = DocumentCreateSerializer()
    records, aside = list[Record](), list[str]()
    for path, name in _files(folder, folder / DOCUMENT_FOLDER, aside):
        try:
            content = read_text_within(folder, path, name, MAX_CONTENT_CHARACTERS)
        except UnreadableText:
            aside.append(name)
            continue
        below = path.relative_to(folder / DOCUMENT_FOLDER).as_posix()
        said = {"path": below, "language": language_of_path(below), "content": content}
        records.append(Record(name, validate_record(serializer, said, name)))
    return records, aside


def language_of_path(path: str) -> str:
    """The language of a file as its ending tells it; "" for one that is not known."""
    return LANGUAGE_OF.get(PurePosixPath(path).suffix.removeprefix(".").lower(), "")


def printable(name: str) -> str:
    """The name as messages call it, also where the file system holds bytes that are no text."""
    return name.encode(errors="backslashreplace").decode()


def _files(folder: Path, root: Path, aside: list[str]) -> Iterator[tuple[Path, str]]:
    """All files below, with the names that messages use, in order. Hidden ones and links to folders go aside."""
    check_within(folder, root, DOCUMENT_FOLDER)
    for place, folders, files in os.walk(root, onerror=_raise_refused):
        folders.sort()
        for name in [*folders]:
            path = Path(place, name)
            shown = printable(path.relative_to(folder).as_posix())
            if name.startswith("."):
                aside.append(f"{shown}/")
                folders.remove(name)
            elif path.is_symlink():
                check_within(folder, path, shown)
                aside.append(f"{shown}/")  # what it leads to is here already
        for name in sorted(files):
            path = Path(place, name)
            shown = printable(path.relative_to(folder).as_posix())
            if name.startswith("."):
                aside.append(shown)
            else:
                yield path, shown


def _raise_refused(error: OSError) -> None:
    raise ImportRefused(f"{error.filename} cannot be listed ({error.strerror}); check that you may read it.") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFolder:
    """What a folder holds. `lines` are by the names of their kinds; `ignored_names` names what is no part of it."""

    lines: Mapping[str, Sequence[Record]]
    documents: Sequence[Record] = ()
    ignored_names: Sequence[str] = ()

    @property
    def size(self) -> int:
        """How many lines and documents there are."""
        return sum(map(len, self.lines.values())) + len(self.documents)


def load_records(folder: Path) -> RecordFolder:
    """Everything in the folder, checked. Raises ImportRefused for whatever could not be stored."""
    if not folder.is_dir():
        raise ImportRefused(f"{folder} is not a folder; name the folder that holds events.jsonl and the other files.")
    kinds = {kind.file: kind for kind in RECORD_KINDS}
    lines: dict[str, Sequence[Record]] = {kind.endpoint.name: () for kind in RECORD_KINDS}
    documents, aside = list[Record](), list[str]()
    for path in _files_in(folder):
        name = printable(path.name)
        if kind := kinds.get(path.name):
            lines[kind.endpoint.name] = list(
                parse_records(kind, read_text_within(folder, path, name, MAX_LINES_CHARACTERS))
            )
        elif path.name == DOCUMENT_FOLDER and path.is_dir():
            documents, passed_over = load_documents(folder)
            aside += passed_over
        else:
            aside.append(name)
    return RecordFolder(lines=lines, documents=documents, ignored_names=aside)


def _files_in(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise ImportRefused(f"{folder} cannot be listed ({error.strerror}); check that you may read it.") from None
