"""Verification compares the database with its seals, in one snapshot, with memory for one seal at a time.

It checks that each seal is intact and follows the one before; that pieces and texts match their hashes; that sealed
records and prunings are unchanged; and that no record or pruning is outside the chain.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from assembly.engine.refs import without_version
from assembly.models import Assembly, Piece, Pruning, Seal, text_hash
from assembly.models.assembly import ENCRYPTED_FORMAT
from assembly.models.encryption import ErasedText, StoredForm, body_key_name, read_body, read_texts
from assembly.models.seal import HASH_BYTES
from assembly.records.encoding import ID_BYTES, piece_hash
from assembly.records.seal_hashing import NO_PREVIOUS_HASH, SealLink, pruning_hash
from assembly.records.seals import piece_hash_texts, piece_hashes, record_hash
from config.db.statements import ONE_SNAPSHOT_SQL, execute_sql
from config.keys.envelope import DecryptionFailed
from config.keys.key_errors import KeyLost
from config.keys.store import DestroyedKey, fetch


class FindingKind(StrEnum):
    """The kinds of findings, as codes for programs."""

    SEAL_MISSING = "seal_missing"
    SEAL_ALTERED = "seal_altered"
    CHAIN_BROKEN = "chain_broken"
    HEAD_DIFFERS = "head_differs"
    RECORD_ALTERED = "record_altered"
    RECORD_MISSING = "record_missing"
    RECORD_WAITING = "record_waiting"
    RECORD_FORGED = "record_forged"
    PRUNING_ALTERED = "pruning_altered"
    PRUNING_MISSING = "pruning_missing"
    PRUNING_FORGED = "pruning_forged"
    PIECE_ALTERED = "piece_altered"
    TEXT_ALTERED = "text_altered"
    TEXT_MISSING = "text_missing"
    KEY_LOST = "key_lost"


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference from the sealed state: its kind, its subject, and a sentence for people."""

    kind: FindingKind
    about: str
    sentence: str


@dataclass(slots=True)
class VerificationCounts:
    """Counters of what a verification has checked."""

    seals: int = 0
    records: int = 0
    pruned: int = 0
    pieces: int = 0
    erased: int = 0
    """Encrypted texts and bodies whose keys were destroyed. Their hashes are checked, but not what they said."""


def link_findings(seal: Seal, before: Seal | None) -> Iterator[Finding]:
    """Yield findings on a seal's own hash and on its place after the seal before it (None: it must be the first)."""
    first = before.number + 1 if before else 1
    if seal.number != first:
        gone = f"Seal {first} is" if seal.number == first + 1 else f"Seals {first} to {seal.number - 1} are"
        yield Finding(FindingKind.SEAL_MISSING, f"seal {first}", f"{gone} missing.")
    elif bytes(seal.previous) != (bytes(before.sha256) if before else NO_PREVIOUS_HASH):
        named = f"seal {before.number} as it is now" if before else "nothing, as the first one has to"
        yield Finding(FindingKind.CHAIN_BROKEN, _seal_name(seal), f"Seal {seal.number} does not follow on {named}.")
    if SealLink.of(seal).sha256 != bytes(seal.sha256) or len(seal.hashes) != HASH_BYTES * len(seal.assemblies):
        yield Finding(FindingKind.SEAL_ALTERED, _seal_name(seal), f"Seal {seal.number} is not what its own hash says.")


def head_findings(number: int, sha256: bytes) -> Iterator[Finding]:
    """Yield a finding if the seal with this number does not have the hash that was noted earlier."""
    seal = Seal.objects.filter(number=number).first()
    if seal is None:
        sentence = f"Seal {number} is missing: the chain ends before it. What was sealed since was removed."
        yield Finding(FindingKind.HEAD_DIFFERS, f"seal {number}", sentence)
    elif bytes(seal.sha256) != sha256:
        sentence = f"The hash of seal {number} differs from the one you noted: it or an earlier seal was replaced."
        yield Finding(FindingKind.HEAD_DIFFERS, f"seal {number}", sentence)


def _seal_name(seal: Seal) -> str:
    return f"seal {seal.number}"


CHUNK = 1_000

# PostgreSQL's sha256 of the text in UTF-8: each text is checked once, however many pieces share it.
ALTERED_TEXTS_SQL = "SELECT encode(sha256, 'hex') FROM stored_texts WHERE sha256 <> sha256(convert_to(text, 'UTF8'))"
SEALED_TEXTS_SQL = "SELECT sha256, NULL, sealed FROM stored_texts WHERE sealed IS NOT NULL"
MISSING_TEXTS_SQL = """
SELECT DISTINCT encode(text_sha256, 'hex') FROM pieces
    WHERE NOT EXISTS (SELECT FROM stored_texts WHERE stored_texts.sha256 = pieces.text_sha256)
"""


def piece_findings(tally: VerificationCounts) -> Iterator[Finding]:
    """Yield a finding for each piece that does not match its hash."""
    for piece in Piece.objects.order_by().iterator(chunk_size=CHUNK):
        tally.pieces += 1
        if not _is_intact(piece):
            sentence = f"The piece {piece.id} ({piece.ref}) is not what its own hash says."
            yield Finding(FindingKind.PIECE_ALTERED, str(piece.id), sentence)


def text_findings(tally: VerificationCounts) -> Iterator[Finding]:
    """Yield a finding for each text that does not match its hash or is missing. Raises KeysUnavailable."""
    for rows in _sealed_texts():
        for hash_, is_intact in _check_sealed(rows, tally):
            if not is_intact:
                name = hash_.hex()
                yield Finding(FindingKind.TEXT_ALTERED, name, f"The text {name} is not what its own hash says.")
    for sha256 in _hashes(ALTERED_TEXTS_SQL):
        yield Finding(FindingKind.TEXT_ALTERED, sha256, f"The text {sha256} is not what its own hash says.")
    for sha256 in _hashes(MISSING_TEXTS_SQL):
        yield Finding(FindingKind.TEXT_MISSING, sha256, f"The text {sha256} of recorded contexts is missing.")


def _is_intact(piece: Piece) -> bool:
    sha256 = bytes(piece.sha256)
    ids = {int.from_bytes(sha256[at : at + ID_BYTES], signed=True) for at in range(0, len(sha256), ID_BYTES)}
    of_itself = piece_hash(piece.ref, bytes(piece.text_sha256), piece.facts)
    return of_itself == sha256 and piece.id in ids and piece.named == without_version(piece.ref)


def _sealed_texts() -> Iterator[list[StoredForm]]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(SEALED_TEXTS_SQL)
        while rows := cursor.fetchmany(CHUNK):
            yield rows


def _check_sealed(rows: Sequence[StoredForm], tally: VerificationCounts) -> Iterator[tuple[bytes, bool]]:
    """Yield the hash of each encrypted text, and whether the text is the one that was stored, or was erased."""
    try:
        texts = read_texts(rows)
    except (KeyLost, DecryptionFailed):
        if len(rows) > 1:
            for row in rows:
                yield from _check_sealed([row], tally)
        else:
            yield bytes(rows[0][0]), False
        return
    for sha256, text in texts.items():
        is_erased = isinstance(text, ErasedText)
        tally.erased += is_erased
        yield sha256, is_erased or text_hash(text) == sha256


def _hashes(select: str) -> Iterator[str]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(select)
        yield from (sha256 for (sha256,) in cursor)


def sealed_findings(seal: Seal, tally: VerificationCounts) -> Iterator[Finding]:
    """Yield findings on a seal's records and on its pruning. Six queries at most."""
    found = Assembly.objects.in_bulk(list(seal.assemblies))
    pieces = piece_hashes(found.values())
    pruned = _pruned_hashes([id_ for id_ in seal.assemblies if id_ not in found])
    closed = _closed_bodies(found.values(), tally)
    for id_, sha256 in seal.sealed:
        if record := found.get(id_):
            tally.records += 1
            altered = list(_record_findings(seal, record, sha256, pieces))
            yield from altered
            if id_ in closed and not altered:
                sentence = f"The context {id_}, of seal {seal.number}: its key is lost, so it cannot be decrypted."
                yield Finding(FindingKind.KEY_LOST, str(id_), sentence)
        elif pruned.get(id_) == sha256:
            tally.pruned += 1
        else:
            sentence = f"The context {id_}, of seal {seal.number}, is gone, and nothing says that it was pruned."
            yield Finding(FindingKind.RECORD_MISSING, str(id_), sentence)
    if seal.pruning:
        yield from _pruning_findings(seal, seal.pruning)


def _closed_bodies(records: Iterable[Assembly], tally: VerificationCounts) -> set[UUID]:
    """Return the ids of the records whose body is encrypted under a key that is neither there nor destroyed."""
    sealed = {one.id: bytes(one.body)[1:] for one in records if bytes(one.body[:1]) == ENCRYPTED_FORMAT}
    try:
        keys = fetch([body_key_name(id_, body) for id_, body in sealed.items()])
    except KeyLost:
        keys = {}
    closed = set()
    for id_, body in sealed.items():
        name = body_key_name(id_, body)
        try:
            key = keys.get(name) or fetch([name])[name]
            if isinstance(key, DestroyedKey):
                tally.erased += 1
            else:
                read_body(id_, body, key)
        except (KeyLost, DecryptionFailed):
            closed.add(id_)
    return closed


def _record_findings(seal: Seal, record: Assembly, sha256: bytes, pieces: Mapping[int, bytes]) -> Iterator[Finding]:
    if record_hash(record, pieces) == sha256:
        return
    gone = "" in piece_hash_texts(record, pieces)
    why = "a part of it is missing" if gone else "it is not what was sealed"
    yield Finding(FindingKind.RECORD_ALTERED, str(record.id), f"The context {record.id}, of seal {seal.number}: {why}.")


def _pruned_hashes(ids: Sequence[UUID]) -> dict[UUID, bytes]:
    """Return the hashes of pruned records by id, from prunings that match their seals."""
    if not ids:
        return {}
    lines = list(Pruning.objects.filter(assemblies__overlap=list(ids)))
    sealed = dict(Seal.objects.filter(pruning__in=[line.id for line in lines]).values_list("pruning", "pruning_sha256"))
    hashes: dict[UUID, bytes] = {}
    for line in lines:
        if bytes(sealed.get(line.id) or b"") == pruning_hash(line):
            known = bytes(line.hashes)
            for place, id_ in enumerate(line.assemblies):
                hashes[id_] = known[place * HASH_BYTES : (place + 1) * HASH_BYTES]
    return hashes


def _pruning_findings(seal: Seal, id_: UUID) -> Iterator[Finding]:
    line = Pruning.objects.filter(id=id_).first()
    if line is None:
        sentence = (
            f"The pruning {id_} of seal {seal.number} is missing, so pruned contexts cannot be "
            "distinguished from lost ones."
        )
        yield Finding(FindingKind.PRUNING_MISSING, str(id_), sentence)
    elif pruning_hash(line) != bytes(seal.pruning_sha256 or b""):
        sentence = f"The pruning {id_} differs from seal {seal.number}."
        yield Finding(FindingKind.PRUNING_ALTERED, str(id_), sentence)


MAX_SEALING_DELAY = timedelta(minutes=15)
"""Age at which an unsealed record counts as a fault: the worker is down, or the record's time was set back."""

UNSEALED_SQL = """
SELECT id, created < %(long_ago)s, EXISTS (SELECT FROM new_assemblies WHERE assembly = assemblies.id) FROM assemblies
    WHERE created >= %(since)s AND NOT EXISTS (SELECT FROM seals WHERE seals.assemblies @> ARRAY[assemblies.id])
"""


def unsealed_findings(now: datetime, since: datetime | None) -> Iterator[Finding]:
    """Yield a finding for each record and pruning that no seal holds, except records that were queued recently."""
    facts = {"long_ago": now - MAX_SEALING_DELAY, "since": since or "-infinity"}
    with connection.chunked_cursor() as cursor:
        cursor.execute(UNSEALED_SQL, facts)
        for id_, is_old, is_queued in cursor:
            if not is_queued:
                sentence = (
                    f"The context {id_} was never sealed and does not wait for a seal: it was added outside of Dossier."
                )
                yield Finding(FindingKind.RECORD_FORGED, str(id_), sentence)
            elif is_old:
                sentence = f"The context {id_} has waited for its seal for too long. Check that a worker is running."
                yield Finding(FindingKind.RECORD_WAITING, str(id_), sentence)
    for id_ in Pruning.objects.exclude(id__in=Seal.objects.exclude(pruning=None).values("pruning")).values_list("id"):
        sentence = f"The pruning {id_[0]} is in no seal: it was added outside of Dossier."
        yield Finding(FindingKind.PRUNING_FORGED, str(id_[0]), sentence)


SEAL_BATCH = 20


def verify_records(tally: VerificationCounts, since: datetime | None = None) -> Iterator[Finding]:
    """Yield a finding for everything that differs from its sealed state, and count what was checked in `tally`.

    With `since`, only later seals and records are checked, and the seal before is trusted. Pieces and texts are always
    all checked.
    """
    with transaction.atomic():
        execute_sql(ONE_SNAPSHOT_SQL)
        yield from _seal_findings(tally, since)
        yield from unsealed_findings(timezone.now(), since)
        yield from piece_findings(tally)
        yield from text_findings(tally)


def _seal_findings(tally: VerificationCounts, since: datetime | None) -> Iterator[Finding]:
    seals = Seal.objects.order_by("number")
    before = None
    if since:
        before = seals.filter(created__lt=since).last()
        seals = seals.filter(number__gt=before.number) if before else seals
    for seal in seals.iterator(chunk_size=SEAL_BATCH):
        tally.seals += 1
        yield from link_findings(seal, before)
        yield from sealed_findings(seal, tally)
        before = seal
