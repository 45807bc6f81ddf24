"""Reading one record: from JSON to facts that can be stored, or a message that says where it fails and why."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rest_framework.exceptions import ValidationError

from config.http.api import StrictSerializer
from config.http.problems import as_dossier_error
from memories.compact_json import compact
from memories.importing import ImportRefused
from memories.records.kinds import LineKind


@dataclass(frozen=True, slots=True)
class Record:
    """The checked facts of one thing, and the line or file that they stand in, as messages call it."""

    where: str
    facts: dict[str, Any]


def records_of(kind: LineKind, text: str) -> Iterator[Record]:
    """The records in the lines of a file; blank lines are none. Raises ImportRefused."""
    serializer = kind.line()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{kind.file}, line {number}"
        said = _parsed(line, where)
        facts = checked(serializer, said, where)
        facts["external_id"] = facts["external_id"] or _id_of(said)
        yield Record(where, facts)


def checked(serializer: StrictSerializer, said: Any, where: str) -> dict[str, Any]:
    """What is said as facts, as the API takes it. Raises ImportRefused with the API's own sentences."""
    try:
        facts: dict[str, Any] = serializer.run_validation(said)
    except ValidationError as invalid:
        error = as_dossier_error(invalid)
        errors = error.extra["errors"] if error else {}
        faults = "; ".join(f"{field}: {fault['message']}" for field, found in errors.items() for fault in found)
        raise ImportRefused(f"{where}: {faults}") from None
    return facts


def _parsed(line: str, where: str) -> Any:
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


def _id_of(said: dict[str, Any]) -> str:
    # The same object gets the same id wherever it stands in the file, so importing again adds only what is new.
    return f"line:{hashlib.sha256(compact(said).encode()).hexdigest()[:32]}"
