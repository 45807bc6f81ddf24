"""What a seal's hash is of. Pure: a stranger needs this and SHA-256; docs/audit/seals.md says it in words."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from assembly.models import Seal

FORM = 1
"""The number of the form in which records and seals are hashed. Another form gets another number."""
NOTHING_BEFORE = bytes(32)
"""The hash that the first seal names as the one before."""


@dataclass(frozen=True, slots=True)
class Link:
    """A seal without its list of records, of which it holds the hash: enough to follow the chain."""

    number: int
    created: str
    previous: bytes
    records: bytes
    pruning: tuple[str, bytes] | None = None
    """The id of the pruning that it seals, and the hash of it."""

    @classmethod
    def of(cls, seal: Seal) -> "Link":
        """As the stored seal has it."""
        pruning = (str(seal.pruning), bytes(seal.pruning_sha256 or b"")) if seal.pruning else None
        return cls(seal.number, moment(seal.created), bytes(seal.previous), records_hash(seal.sealed), pruning)

    @property
    def sha256(self) -> bytes:
        """The seal's own hash: 32 bytes."""
        return hashlib.sha256(canonical(self.document)).digest()

    @property
    def document(self) -> dict[str, Any]:
        """As it is hashed, and as bundles carry it."""
        return {
            "form": FORM,
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


def canonical(value: Any) -> bytes:
    """JSON in the one form that is hashed: keys sorted, no spaces, UTF-8 and not escaped."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def moment(at: datetime) -> str:
    """A moment as it is hashed: UTC to the microsecond, `2026-11-21T09:30:00.000000Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
