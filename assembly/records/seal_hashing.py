"""Records, prunings, erasures and seals are hashed as canonical JSON, which this module composes. Pure.

Every stored column is included, typed, in one JSON text. A new column makes a new form with another number: records of
form 1 have no purpose. Rows sealed in one form stay in that form. docs/audit/seals.md specifies the same for
independent checks.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from assembly.models import Assembly, Pruning, RecordErasure, Seal
from config.keys.key_errors import KeysUnavailable
from teams.sealing.fields import UnreadableText

FORM_VERSION = 1
"""Number of the form in which records and seals are hashed. Another form gets another number."""
PURPOSE_FORM = 2
"""Number of the form of records that have a purpose. Seals and prunings have no form of this number."""
ERASURE_FORM = 3
"""Number of the form of seals that hold an erasure; others have form 1."""
NO_PREVIOUS_HASH = bytes(32)
"""The previous hash in the first seal: 32 zero bytes."""


@dataclass(frozen=True, slots=True)
class SealLink:
    """A seal with only the hash of its list of records: enough to follow the chain."""

    number: int
    created: str
    previous: bytes
    records: bytes
    pruning: tuple[str, bytes] | None = None
    """Id and hash of the pruning that the seal holds; None without one."""
    erasure: tuple[str, bytes] | None = None
    """Id and hash of the erasure that the seal holds; None without one."""

    @classmethod
    def of(cls, seal: Seal) -> "SealLink":
        """Return the link of a stored seal."""
        pruning = (str(seal.pruning), bytes(seal.pruning_sha256 or b"")) if seal.pruning else None
        erasure = (str(seal.erasure), bytes(seal.erasure_sha256 or b"")) if seal.erasure else None
        records = records_hash(seal.sealed)
        return cls(seal.number, timestamp(seal.created), bytes(seal.previous), records, pruning, erasure)

    @property
    def sha256(self) -> bytes:
        """The seal's own hash: SHA-256 of its canonical JSON, 32 bytes."""
        return hashlib.sha256(canonical_json(self.document)).digest()

    @property
    def document(self) -> dict[str, Any]:
        """The seal as JSON values, as hashed and as stored in bundles."""
        return {
            "form": ERASURE_FORM if self.erasure else FORM_VERSION,
            "number": self.number,
            "created": self.created,
            "previous": self.previous.hex(),
            "records": self.records.hex(),
            "pruning": {"id": self.pruning[0], "sha256": self.pruning[1].hex()} if self.pruning else None,
            **({"erasure": {"id": self.erasure[0], "sha256": self.erasure[1].hex()}} if self.erasure else {}),
        }


def records_hash(sealed: Iterable[tuple[UUID, bytes]]) -> bytes:
    """Return the SHA-256 of a seal's records: for each, in order, the 16 bytes of its id and the 32 of its hash."""
    found = hashlib.sha256()
    for id_, sha256 in sealed:
        found.update(id_.bytes + sha256)
    return found.digest()


def canonical_json(value: Any) -> bytes:
    """Return a value as the JSON that is hashed: keys sorted, no spaces, UTF-8 and not escaped."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def timestamp(at: datetime) -> str:
    """Return a time as it is hashed: UTC to the microsecond, `2026-11-21T09:30:00.000000Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


RECORD_COLUMNS = (
    *("id", "created", "agent_id", "agent_slug", "agent_name", "team_id", "team_slug", "team_name"),
    *("requested_by", "requester_name", "parent", "decided_in", "topic", "profile_name", "profile_version"),
    *("tokenizer", "now", "budget", "tokens", "truncated", "left_out", "warnings", "codes", "told", "omitted"),
    *("sha256", "engine_version", "assembly_ms", "body"),
)
PRUNING_COLUMNS = ("id", "created", "team_id", "days", "keep_flagged", "by_ref", "assemblies", "hashes")
ERASURE_COLUMNS = (
    *("id", "created", "erasure", "number", "by_ref", "pieces", "piece_hashes", "refs"),
    *("assemblies", "columns", "hashes", "report"),
)


def record_bytes(assembly: Assembly, parts: Sequence[str]) -> bytes:
    """Return the bytes of which a record's hash is taken; `parts` are its pieces' hashes in hexadecimal, in order."""
    return canonical_json(record_document(assembly, parts))


def record_document(assembly: Assembly, parts: Sequence[str]) -> dict[str, Any]:
    """Return a record as JSON values, as hashed and as stored in bundles; `parts` are its pieces' hashes.

    Raises KeysUnavailable. A sealed topic that was changed outside of Dossier makes another hash.
    """
    if isinstance(assembly.topic, UnreadableText) and isinstance(assembly.topic.error, KeysUnavailable):
        raise assembly.topic.error
    form = PURPOSE_FORM if assembly.purpose else FORM_VERSION
    return {"form": form, **_columns(assembly, record_columns(form)), "parts": list(parts)}


def record_columns(form: int) -> tuple[str, ...]:
    """Return the names of the hashed columns of a record in this form."""
    return (*RECORD_COLUMNS, "purpose") if form == PURPOSE_FORM else RECORD_COLUMNS


def pruning_hash(pruning: Pruning) -> bytes:
    """Return the hash of a pruning for its seal: 32 bytes."""
    return hashlib.sha256(canonical_json({"form": FORM_VERSION, **_columns(pruning, PRUNING_COLUMNS)})).digest()


def erasure_document(erasure: RecordErasure) -> dict[str, Any]:
    """Return a part of an erasure as JSON values, as hashed and as stored in bundles."""
    return {"form": FORM_VERSION, **_columns(erasure, ERASURE_COLUMNS)}


def erasure_hash(erasure: RecordErasure) -> bytes:
    """Return the hash of a part of an erasure for its seal: 32 bytes."""
    return hashlib.sha256(canonical_json(erasure_document(erasure))).digest()


def _columns(row: Assembly | Pruning | RecordErasure, names: Sequence[str]) -> dict[str, Any]:
    return {name: _json_value(getattr(row, name)) for name in names}


def _json_value(value: Any) -> Any:
    """Return a column's value for JSON: ids and times as text, bytes in hexadecimal."""
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, list | tuple):
        return [_json_value(one) for one in value]
    return value
