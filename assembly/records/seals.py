"""Sealing adds records, prunings and erasures to a chain of hashes. One transaction at a time may extend the chain."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.utils import timezone

from assembly.models import Assembly, Piece, Pruning, RecordErasure, Seal
from assembly.records.erased_parts import erased_pieces
from assembly.records.seal_hashing import NO_PREVIOUS_HASH, SealLink, erasure_hash, pruning_hash, record_bytes
from config.db.statements import execute_sql, fetch_rows

HOLD_LOCK_SQL = "SELECT pg_advisory_xact_lock(hashtext('dossier seals'))"
TRY_LOCK_SQL = "SELECT pg_try_advisory_xact_lock(hashtext('dossier seals'))"


def try_lock_chain() -> bool:
    """Return whether the open transaction got the lock on the chain, which it holds until its end. Does not wait."""
    ((ours,),) = fetch_rows(TRY_LOCK_SQL)
    return bool(ours)


def lock_chain() -> None:
    """Wait until the open transaction has the lock on the chain."""
    execute_sql(HOLD_LOCK_SQL)


def record_hashes(assemblies: Sequence[Assembly]) -> dict[UUID, bytes]:
    """Return the hash (32 bytes) of each record by its id; one query."""
    pieces = piece_hashes(assemblies)
    return {one.id: record_hash(one, pieces) for one in assemblies}


def record_hash(assembly: Assembly, pieces: Mapping[int, bytes]) -> bytes:
    """Return the hash of a record, with the hashes of its pieces by id."""
    return hashlib.sha256(record_bytes(assembly, piece_hash_texts(assembly, pieces))).digest()


def piece_hash_texts(assembly: Assembly, pieces: Mapping[int, bytes]) -> list[str]:
    """Return the hashes of a record's pieces in hexadecimal, included before excluded; "" for a missing piece."""
    return [pieces.get(id_, b"").hex() for id_ in (*assembly.told, *assembly.omitted)]


def piece_hashes(assemblies: Iterable[Assembly]) -> dict[int, bytes]:
    """Return the hashes of the pieces of these records, by piece id: stored ones, and those that were erased."""
    ids = {id_ for one in assemblies for id_ in (*one.told, *one.omitted)}
    stored = {id_: bytes(sha256) for id_, sha256 in Piece.objects.filter(id__in=ids).values_list("id", "sha256")}
    return {id_: one.sha256 for id_, one in erased_pieces(ids - stored.keys()).items()} | stored


def records_seal(assemblies: Sequence[Assembly]) -> None:
    """Append one seal that holds these records, in their order. A follower of new assemblies."""
    hashes = record_hashes(assemblies)
    if assemblies:
        _append_seal(
            ids=[assembly.id for assembly in assemblies], hashes=b"".join(hashes[one.id] for one in assemblies)
        )


def pruning_seal(pruning: Pruning) -> None:
    """Append a seal that holds a pruning, so that the chain shows that records were deleted."""
    _append_seal(ids=[], hashes=b"", pruning=pruning)


def erasure_seal(erasure: RecordErasure) -> None:
    """Append a seal that holds a part of an erasure, so that the chain shows what is gone from records, and why."""
    _append_seal(ids=[], hashes=b"", erasure=erasure)


def newest_seal() -> Seal | None:
    """Return the newest seal; None if there is none."""
    return Seal.objects.order_by("number").last()


def _append_seal(
    *, ids: list[UUID], hashes: bytes, pruning: Pruning | None = None, erasure: RecordErasure | None = None
) -> None:
    lock_chain()
    last = newest_seal()
    seal = Seal(
        number=last.number + 1 if last else 1,
        created=timezone.now(),
        previous=bytes(last.sha256) if last else NO_PREVIOUS_HASH,
        assemblies=ids,
        hashes=hashes,
        pruning=pruning.id if pruning else None,
        pruning_sha256=pruning_hash(pruning) if pruning else None,
        erasure=erasure.id if erasure else None,
        erasure_sha256=erasure_hash(erasure) if erasure else None,
    )
    seal.sha256 = SealLink.of(seal).sha256
    seal.save(force_insert=True)
