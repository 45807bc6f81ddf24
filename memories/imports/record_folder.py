"""This module reads a folder of records (events, entities, documents, …), and checks all before anything is stored.

sessions.jsonl tasks.jsonl events.jsonl           one JSON object per line (see `record_kinds`)
entities.jsonl relations.jsonl patterns.jsonl
threads.jsonl tools.jsonl
documents/                                        text files, each a document by its path below
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
    """The valid field values of one item, and the line or file that holds the item, for messages."""

    where: str
    facts: dict[str, Any]


def parse_records(kind: RecordKind, text: str) -> Iterator[Record]:
    """Yield the records in the lines of a file, without blank lines. Raises ImportRefused."""
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
    """Return the validated field values, as the API accepts them. Raises ImportRefused with the API's messages."""
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
    except ValueError as error:  # for a number with thousands of digits, or NaN
        fault = str(error)
    else:
        if isinstance(said, dict):
            return said
        raise ImportRefused(f"{where}: this is no JSON object. Put one object in braces on each line.")
    raise ImportRefused(f"{where}: this is no JSON ({fault}). Put one JSON object on each line.")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _record_id(said: dict[str, Any]) -> str:
    # The hash does not depend on the position in the file, so a repeated import adds only new records.
    return f"line:{hashlib.sha256(compact_json(said).encode()).hexdigest()[:32]}"


DOCUMENT_FOLDER = "documents"


def load_documents(folder: Path) -> tuple[list[Record], list[str]]:
    """Return the records of the folder's documents, and the names of ignored files: hidden ones, or no valid text.

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
    """Return the language that a file's extension stands for; "" for an unknown one."""
    return LANGUAGE_OF.get(PurePosixPath(path).suffix.removeprefix(".").lower(), "")


def printable(name: str) -> str:
    """Return the file name for messages, with bytes that are no text escaped."""
    return name.encode(errors="backslashreplace").decode()


def _files(folder: Path, root: Path, aside: list[str]) -> Iterator[tuple[Path, str]]:
    """Yield all files below `root` in order, with their names for messages.

    Hidden files and folders, and links to folders, are appended to `aside`.
    """
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
                aside.append(f"{shown}/")  # the folder that it links to is read anyway
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
    """The content of a folder: records by the names of their kinds, documents, and the names of ignored files."""

    lines: Mapping[str, Sequence[Record]]
    documents: Sequence[Record] = ()
    ignored_names: Sequence[str] = ()

    @property
    def size(self) -> int:
        """The number of records and documents."""
        return sum(map(len, self.lines.values())) + len(self.documents)


def load_records(folder: Path) -> RecordFolder:
    """Return all records in the folder. Raises ImportRefused for anything that cannot be stored."""
    if not folder.is_dir():
        raise ImportRefused(f"{folder} is not a folder; name the folder with events.jsonl and the other files.")
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
