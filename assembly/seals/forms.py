"""The form in which records and prunings are hashed: every stored column, typed, in one JSON text. Pure.

A column that is added one day makes another form with another number: what was sealed in this one stays as it is.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from assembly.models import Assembly, Pruning
from assembly.seals.chain import FORM, canonical, moment

RECORD_COLUMNS = (
    *("id", "created", "agent_id", "agent_slug", "agent_name", "team_id", "team_slug", "team_name"),
    *("requested_by", "requester_name", "parent", "decided_in", "topic", "profile_name", "profile_version"),
    *("tokenizer", "now", "budget", "tokens", "truncated", "left_out", "warnings", "codes", "told", "omitted"),
    *("sha256", "engine_version", "assembly_ms", "body"),
)
PRUNING_COLUMNS = ("id", "created", "team_id", "days", "keep_flagged", "by_ref", "assemblies", "hashes")


def record_form(assembly: Assembly, parts: Sequence[str]) -> bytes:
    """The bytes that a record's hash is of; `parts` are the hashes of its pieces in hexadecimal, in order."""
    return canonical(record_document(assembly, parts))


def record_document(assembly: Assembly, parts: Sequence[str]) -> dict[str, Any]:
    """A record as it is hashed, and as bundles carry it."""
    return {"form": FORM, **_columns(assembly, RECORD_COLUMNS), "parts": list(parts)}


def pruning_hash(pruning: Pruning) -> bytes:
    """The hash with which a pruning is sealed: 32 bytes."""
    return hashlib.sha256(canonical({"form": FORM, **_columns(pruning, PRUNING_COLUMNS)})).digest()


def _columns(row: Assembly | Pruning, names: Sequence[str]) -> dict[str, Any]:
    return {name: _plain(getattr(row, name)) for name in names}


def _plain(value: Any) -> Any:
    """As JSON has it: ids and moments as text, bytes in hexadecimal."""
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
