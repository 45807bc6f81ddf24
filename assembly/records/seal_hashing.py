"""The canonical text of records and prunings, and the hash of a seal. Pure.

Every stored column goes in, typed, as one JSON text. A column that is added makes another form with another number:
records of form 1 have no purpose. What was sealed in a form stays as it is. docs/audit/seals.md says the same for
strangers with SHA-256.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from assembly.models import Assembly, Pruning, Seal

FORM_VERSION = 1
"""The number of the form in which records and seals are hashed. Another form gets another number."""
PURPOSE_FORM = 2
"""The number of the form of records that have a purpose. Seals and prunings have no form of this number."""
NO_PREVIOUS_HASH = bytes(32)
"""The hash that the first seal names as the one before."""


@dataclass(frozen=True, slots=True)
class SealLink:
    """A seal without its list of records, of which it holds the hash: enough to follow the chain."""

    number: int
    created: str
    previous: bytes
    records: bytes
    pruning: tuple[str, bytes] | None = None
    """The id of the pruning that it seals, and the hash of it."""

    @classmethod
    def of(cls, seal: Seal) -> "SealLink":
        """As the stored seal has it."""
        pruning = (str(seal.pruning), bytes(seal.pruning_sha256 or b"")) if seal.pruning else None
        return cls(seal.number, timestamp(seal.created), bytes(seal.previous), records_hash(seal.sealed), pruning)

    @property
    def sha256(self) -> bytes:
        """The seal's own hash: 32 bytes."""
        return hashlib.sha256(canonical_json(self.document)).digest()

    @property
    def document(self) -> dict[str, Any]:
        """As it is hashed, and as bundles carry it."""
        return {
            "form": FORM_VERSION,
            "number": self.number,
            "created": self.created,
            "previous": self.previous.hex(),
            "records": self.records.hex(),
            "pruning": {"id": self.pruning[0], "sha256": self.pruning[1].hex()} if self.pruning else None,
        }


def records_hash(sealed: Iterable[tuple[UUID, bytes]]) -> bytes:
    """Of a seal's records: of each in order the 16 bytes of its id and the 32 of its hash, without anything between."""
    found = hashlib.sha256()
    for id_, sha256 in sealed:
        found.update(id_.bytes + sha256)
    return found.digest()


def canonical_json(value: Any) -> bytes:
    """JSON in the one form that is hashed: keys sorted, no spaces, UTF-8 and not escaped."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def timestamp(at: datetime) -> str:
    """A moment as it is hashed: UTC to the microsecond, `2026-11-21T09:30:00.000000Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


RECORD_COLUMNS = (
    *("id", "created", "agent_id", "agent_slug", "agent_name", "team_id", "team_slug", "team_name"),
    *("requested_by", "requester_name", "parent", "decided_in", "topic", "profile_name", "profile_version"),
    *("tokenizer", "now", "budget", "tokens", "truncated", "left_out", "warnings", "codes", "told", "omitted"),
    *("sha256", "engine_version", "assembly_ms", "body"),
)
PRUNING_COLUMNS = ("id", "created", "team_id", "days", "keep_flagged", "by_ref", "assemblies", "hashes")


def record_bytes(assembly: Assembly, parts: Sequence[str]) -> bytes:
    """The bytes that a record's hash is of; `parts` are the hashes of its pieces in hexadecimal, in order."""
    return canonical_json(record_document(assembly, parts))


def record_document(assembly: Assembly, parts: Sequence[str]) -> dict[str, Any]:
    """A record as it is hashed, and as bundles carry it."""
    form = PURPOSE_FORM if assembly.purpose else FORM_VERSION
    return {"form": form, **_columns(assembly, record_columns(form)), "parts": list(parts)}


def record_columns(form: int) -> tuple[str, ...]:
    """Return the columns of a record of that form."""
    return (*RECORD_COLUMNS, "purpose") if form == PURPOSE_FORM else RECORD_COLUMNS


def pruning_hash(pruning: Pruning) -> bytes:
    """The hash with which a pruning is sealed: 32 bytes."""
    return hashlib.sha256(canonical_json({"form": FORM_VERSION, **_columns(pruning, PRUNING_COLUMNS)})).digest()


def _columns(row: Assembly | Pruning, names: Sequence[str]) -> dict[str, Any]:
    return {name: _json_value(getattr(row, name)) for name in names}


def _json_value(value: Any) -> Any:
    """As JSON has it: ids and moments as text, bytes in hexadecimal."""
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, list | tuple):
        return [_json_value(one) for one in value]
    return value
