"""This module finds what erasures removed from records, as far as the chain of seals proves it.

The hash of a piece outlives the piece, in the row of the erasure that deleted it, so the hash of a record that held the
piece can still be computed. A record with emptied columns cannot be hashed as it was sealed; the erasure has the hash
that it has since then. Rows of erasures count only if a seal has their hash.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from assembly.models import Assembly, RecordErasure, Seal
from assembly.models.assembly import ERASED
from assembly.models.encryption import RecordErased
from assembly.models.seal import HASH_BYTES
from assembly.records.encoding import SUMMARY, StoredPiece
from assembly.records.record_errors import ErasedParts
from assembly.records.seal_hashing import erasure_hash


@dataclass(frozen=True, slots=True)
class ErasedPiece:
    """A deleted piece: its hash, its ref without a version (may be empty), and the erasure by which it is gone."""

    sha256: bytes
    ref: str
    number: int
    created: datetime

    @property
    def note(self) -> str:
        """What stands in the place of the text."""
        return f"[erased on {self.created:%Y-%m-%d} by erasure {self.number}]"


@dataclass(frozen=True, slots=True)
class ErasedRecord:
    """A record with emptied columns: their names, the record's hash since then, and the erasure."""

    sha256: bytes
    columns: frozenset[str]
    number: int
    created: datetime


def erased_pieces(ids: Collection[int], *, proven: bool = True) -> dict[int, ErasedPiece]:
    """Return what is known of those of the pieces that were erased, by id; two queries, one if not `proven`.

    `proven`: only erasures count whose hash is in a seal.
    """
    if not ids:
        return {}
    rows: Iterable[RecordErasure] = RecordErasure.objects.filter(pieces__overlap=list(ids)).order_by("id")
    return {id_: piece for row in (sealed_erasures(rows) if proven else rows) for id_, piece in pieces_in(row)}


def pieces_in(row: RecordErasure) -> Iterator[tuple[int, ErasedPiece]]:
    """Yield each piece that this part of an erasure deleted, with its id."""
    for place, id_ in enumerate(row.pieces):
        ref = row.refs[place] if place < len(row.refs) else ""
        yield id_, ErasedPiece(hash_at(row.piece_hashes, place), ref, row.number, row.created)


def erased_records(ids: Collection[UUID], *, proven: bool = True) -> dict[UUID, ErasedRecord]:
    """Return what erasures emptied in these records, by id; what the last one sealed counts for the hash."""
    if not ids:
        return {}
    rows: Iterable[RecordErasure] = RecordErasure.objects.filter(assemblies__overlap=list(ids)).order_by(
        "created", "id"
    )
    return records_in(sealed_erasures(rows) if proven else rows)


def records_in(rows: Iterable[RecordErasure]) -> dict[UUID, ErasedRecord]:
    """Return the records with columns that these parts of erasures emptied, the oldest part first."""
    found: dict[UUID, ErasedRecord] = {}
    for row in rows:
        for place, id_ in enumerate(row.assemblies):
            columns = frozenset(row.columns[place].split() if place < len(row.columns) else ())
            before = found[id_].columns if id_ in found else frozenset[str]()
            found[id_] = ErasedRecord(hash_at(row.hashes, place), columns | before, row.number, row.created)
    return found


def sealed_erasures(rows: Iterable[RecordErasure]) -> list[RecordErasure]:
    """Return those of the rows whose hash a seal has, in the same order."""
    parts = list(rows)
    named = Seal.objects.filter(erasure__in=[row.id for row in parts]).values_list("erasure", "erasure_sha256")
    sealed: Mapping[UUID | None, object] = dict(named)
    return [row for row in parts if sealed.get(row.id) and bytes(sealed[row.id]) == erasure_hash(row)]  # type: ignore[call-overload]


def hash_at(hashes: bytes | memoryview, place: int) -> bytes:
    """Return the hash at this place of a column of hashes; shorter if a damaged row has fewer."""
    return bytes(hashes)[place * HASH_BYTES : (place + 1) * HASH_BYTES]


NO_FACTS: Mapping[str, Any] = {"kind": "", "date": None, "occurred_at": None, "superseded_by": None}
"""The facts of an item whose piece was erased."""


def find_erased(assemblies: Sequence[Assembly], pieces: dict[int, StoredPiece]) -> dict[UUID, ErasedParts]:
    """Return what is erased of these records, by id, and put notes in the place of their erased pieces.

    Records of which nothing seems to be gone cost no query.
    """
    missing = {id_ for one in assemblies for id_ in (*one.told, *one.omitted)} - pieces.keys()
    gone = erased_pieces(missing, proven=False)
    pieces |= {id_: _note_of(id_, one) for id_, one in gone.items()}
    touched = [one for one in assemblies if one.topic == ERASED or _has_emptied_body(one)]
    emptied = erased_records({id_ for one in touched for id_ in (one.id, one.decided_in) if id_}, proven=False)
    return {
        one.id: parts
        for one in assemblies
        if (parts := _erased_parts(one, gone, [emptied.get(one.id), emptied.get(one.decided_in or one.id)]))
    }


def _has_emptied_body(assembly: Assembly) -> bool:
    try:
        return bool(assembly.contents.get("erased"))
    except RecordErased:  # its key is gone, as whoever reads the record is told
        return False


def _note_of(id_: int, piece: ErasedPiece) -> StoredPiece:
    facts = {"model": "erased"} if piece.ref.startswith(f"{SUMMARY}:") else dict(NO_FACTS)
    return StoredPiece(piece.ref or f"erased:{id_}", facts, piece.note)


def _erased_parts(
    assembly: Assembly, gone: Mapping[int, ErasedPiece], emptied: Sequence[ErasedRecord | None]
) -> ErasedParts | None:
    pieces = [gone[id_] for id_ in {*assembly.told, *assembly.omitted} if id_ in gone]
    records = [one for one in emptied if one]
    if not pieces and not records:
        return None
    gone_parts: list[ErasedPiece | ErasedRecord] = [*pieces, *records]
    last = max(gone_parts, key=lambda one: one.created)
    own, first = emptied
    columns = (own.columns if own else frozenset[str]()) | ({"body"} & first.columns if first else set())
    return ErasedParts(last.created, last.number, len(pieces), columns)
