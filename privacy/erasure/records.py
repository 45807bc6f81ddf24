"""Recorded contexts: pieces that mention the person are deleted, and columns of records emptied, in sealed batches.

The hash of a deleted piece moves to the row of the erasure that deleted it, so the records that held it keep the hash
that was sealed. A record with emptied columns is hashed as it is since then. Each batch is one transaction with its
own row in `record_erasures` and its own seal: a batch that was interrupted is not there, and is found again.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from assembly.models import Assembly, NewAssembly, Piece, RecordErasure, StoredText
from assembly.models.assembly import EMPTIED_BODY, ENCRYPTED_FORMAT, unpacked
from assembly.models.encryption import ErasedText, RecordErased, load_body_keys, read_texts
from assembly.records.followers import new_assemblies_follow
from assembly.records.insert_sql import stored_pieces
from assembly.records.seals import erasure_seal, lock_chain, record_hashes
from config.db.statements import fetch_rows
from config.keys.sealed_texts import MARK
from memories.jobs.services import RetryLater
from privacy.erasure.record_keys import body_keys_list, text_keys_claim
from privacy.erasure.sought import Sought
from privacy.models import SubjectErasure

BATCH = 500
CHUNK = 500
WAIT = timedelta(seconds=15)
ERASE_PARTS_SQL = "SELECT erase_record_parts(%s, %s, %s, %s, %s, %s, %s)"
NAME_COLUMNS = ("agent_name", "team_name", "requester_name")


@dataclass(slots=True)
class RecordParts:
    """Pieces to delete, and columns to empty by the ids of their records."""

    pieces: list[int] = field(default_factory=list)
    columns: dict[UUID, set[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.pieces) + len(self.columns)

    def batches(self) -> Iterator["RecordParts"]:
        """Yield the parts, some hundred at a time."""
        for at in range(0, len(self.pieces), BATCH):
            yield RecordParts(self.pieces[at : at + BATCH])
        records = sorted(self.columns)
        for at in range(0, len(records), BATCH):
            yield RecordParts([], {id_: self.columns[id_] for id_ in records[at : at + BATCH]})

    def with_column(self, column: str) -> list[UUID]:
        """Return the records whose column is to be emptied."""
        return [id_ for id_, columns in self.columns.items() if column in columns]


def record_parts(sought: Sought) -> RecordParts:
    """Return all pieces and columns of records in which the person is mentioned, spared contexts and things apart.

    Every stored text and every body is read: packed, they cannot be searched by the database.
    """
    found = RecordParts(sorted(_pieces(sought)))
    for id_, column in _columns(sought):
        found.columns.setdefault(id_, set()).add(column)
    return found


def _pieces(sought: Sought) -> Iterator[int]:
    texts = {sha256 for sha256, text in _stored_texts() if sought.patterns.is_in(text)}
    pieces = Piece.objects.order_by().values_list("id", "ref", "named", "text_sha256", "facts")
    for id_, ref, named, text_sha256, facts in pieces.iterator(chunk_size=CHUNK):
        mentions = (
            bytes(text_sha256) in texts or sought.patterns.is_in(ref) or sought.patterns.is_in_value(facts)
        ) and not sought.is_spared(named)
        if mentions or sought.is_whole(named):
            yield id_


def _stored_texts() -> Iterator[tuple[bytes, str]]:
    """Yield each stored text with its hash; not those whose keys were destroyed, which nobody can read any more."""
    rows = StoredText.objects.order_by().values_list("sha256", "text", "sealed").iterator(chunk_size=CHUNK)
    while some := list(islice(rows, CHUNK)):
        for sha256, text in read_texts(some).items():
            if not isinstance(text, ErasedText):
                yield sha256, text


def _columns(sought: Sought) -> Iterator[tuple[UUID, str]]:
    named = Q()
    for column in ("topic", *NAME_COLUMNS):
        named |= Q(**{f"{column}__iregex": sought.patterns.strict})
    named |= Q(topic__startswith=MARK)  # which the database cannot search
    heads = Assembly.everything.filter(named).order_by().values("id", "topic", *NAME_COLUMNS)
    for row in heads.iterator(chunk_size=CHUNK):
        if not sought.is_spared(f"context:{row['id']}"):
            yield from (
                (row["id"], name) for name, value in row.items() if name != "id" and sought.patterns.is_in(value)
            )
    bodies = Assembly.everything.exclude(body=b"").exclude(body=EMPTIED_BODY).order_by().values_list("id", "body")
    remaining = bodies.iterator(chunk_size=CHUNK)
    while some := list(islice(remaining, CHUNK)):
        rows = [(id_, bytes(body)) for id_, body in some]
        load_body_keys((id_, body[1:]) for id_, body in rows if body[:1] == ENCRYPTED_FORMAT)
        for id_, body in rows:
            with suppress(RecordErased):
                if sought.patterns.is_in_value(unpacked(body, id_)) and not sought.is_spared(f"context:{id_}"):
                    yield id_, "body"


def records_erase(erasure: SubjectErasure, sought: Sought) -> None:
    """Erase everything that `record_parts` finds. Raises RetryLater while a context that is concerned waits for its
    seal.
    """
    parts = record_parts(sought)
    _wait_for_seals(parts)
    for batch in parts.batches():
        _erase_batch(erasure, batch)
    stored_pieces.forget()


def erased_parts(erasure: SubjectErasure) -> dict[str, int]:
    """Return how many pieces the batches of an erasure deleted, and of how many contexts they emptied which parts.

    They are counted in the rows that seals hold, whichever process erased them.
    """
    pieces, columns = 0, defaultdict[UUID, set[str]](set)
    for batch in RecordErasure.objects.filter(erasure=erasure.id).order_by("id"):
        pieces += len(batch.pieces)
        for id_, emptied in zip(batch.assemblies, batch.columns, strict=True):
            columns[id_].update(emptied.split())
    return {
        "pieces": pieces,
        "contexts": len(columns),
        "topics": sum("topic" in emptied for emptied in columns.values()),
        "bodies": sum("body" in emptied for emptied in columns.values()),
    }


def _wait_for_seals(parts: RecordParts) -> None:
    """Let the followers process new contexts, because what is not sealed yet must not change."""
    while new_assemblies_follow():
        pass
    ids = list(parts.columns)
    if NewAssembly.objects.filter(assembly__in=ids).exists():
        raise RetryLater("A context that is to be erased waits for its seal.", WAIT)


@transaction.atomic
def _erase_batch(erasure: SubjectErasure, parts: RecordParts) -> None:
    lock_chain()
    rows = {row.id: row for row in Piece.objects.filter(id__in=parts.pieces)}
    pieces = [rows[id_] for id_ in parts.pieces if id_ in rows]
    columns = [parts.with_column(name) for name in ("topic", "body", *NAME_COLUMNS)]
    body_keys_list(erasure, parts.with_column("body"))
    fetch_rows(ERASE_PARTS_SQL, [erasure.id, [piece.id for piece in pieces], *columns])
    text_keys_claim(erasure, {bytes(piece.text_sha256) for piece in pieces})
    sought = Sought.of(erasure)
    records = sorted(parts.columns)
    hashes = record_hashes(list(Assembly.everything.filter(id__in=records).order_by("id")))
    erased = RecordErasure(
        created=timezone.now(),
        erasure=erasure.id,
        number=erasure.number,
        by_ref=erasure.requested_by,
        pieces=[piece.id for piece in pieces],
        piece_hashes=b"".join(bytes(piece.sha256) for piece in pieces),
        refs=["" if sought.patterns.is_in(piece.ref) else piece.ref for piece in pieces],
        assemblies=records,
        columns=[" ".join(sorted(parts.columns[id_])) for id_ in records],
        hashes=b"".join(hashes[id_] for id_ in records),
    )
    erased.save(force_insert=True)
    erasure_seal(erased)
