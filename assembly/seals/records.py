"""Records as they are sealed: read from the database with the hashes of the pieces that they are made of."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from assembly.models import Assembly, Piece
from assembly.seals.forms import record_form


def record_hashes(assemblies: Sequence[Assembly]) -> dict[UUID, bytes]:
    """The hash of each record by its id: 32 bytes. One query."""
    pieces = piece_hashes(assemblies)
    return {one.id: record_hash(one, pieces) for one in assemblies}


def record_hash(assembly: Assembly, pieces: Mapping[int, bytes]) -> bytes:
    """Of one record, with the hashes of all its pieces that are there."""
    return hashlib.sha256(record_form(assembly, parts_of(assembly, pieces))).digest()


def parts_of(assembly: Assembly, pieces: Mapping[int, bytes]) -> list[str]:
    """The hashes of the record's pieces, those told before those omitted; "" stands for one that is gone."""
    return [pieces.get(id_, b"").hex() for id_ in (*assembly.told, *assembly.omitted)]


def piece_hashes(assemblies: Iterable[Assembly]) -> dict[int, bytes]:
    """The hashes of the pieces of these records by their ids, as they are stored."""
    ids = {id_ for one in assemblies for id_ in (*one.told, *one.omitted)}
    return {id_: bytes(sha256) for id_, sha256 in Piece.objects.filter(id__in=ids).values_list("id", "sha256")}
