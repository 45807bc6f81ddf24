"""The writer of bundles writes a few JSON files, one object per line, from a few hundred rows at a time."""

from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

from django.utils import timezone

from assembly.models import Assembly, Piece, Seal, StoredText
from assembly.models.encryption import ErasedText, read_texts
from assembly.records.bodies import body_keys
from assembly.records.seal_hashing import SealLink, canonical_json, record_document, timestamp
from assembly.records.seals import newest_seal, piece_hash_texts, piece_hashes
from config.http.errors import DossierError
from memories.archive.sections import ArchiveEntry
from memories.archive.zip_file import write_zip
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import Principal

FORMAT, VERSION = "dossier-records", 1
ABOUT = "about.json"
RECORDS = "records.jsonl"
PIECES = "pieces.jsonl"
TEXTS = "texts.jsonl"
SEALS = "seals.jsonl"
LINKS = "links.jsonl"
KEYS = "keys.jsonl"
"""The keys of encrypted bodies, by which whoever has the bundle reads them. Older bundles have no such file."""
FILES = (ABOUT, RECORDS, PIECES, TEXTS, SEALS, LINKS)
MAX_BYTES = 200_000_000
"""Most bytes of all files together, unpacked: the reader holds a bundle in memory."""

BATCH = 200
Item = TypeVar("Item")


class BundleTooLarge(DossierError):
    """The bundle would be larger than its reader accepts (422)."""

    status = 422
    code = "bundle_too_large"
    title = "The bundle would be too large"


class RecordBundle:
    """The bundle of these records, and of the records whose decisions they repeat.

    Its entries must be written in order, because each file lists what the ones before refer to.
    """

    def __init__(self, ids: Iterable[UUID]) -> None:
        asked = sorted(set(ids))
        shared = Assembly.objects.filter(id__in=asked).values_list("decided_in", flat=True)
        self.ids = sorted({*asked, *(id_ for id_ in shared if id_)})
        self._pieces: set[int] = set()
        self._texts: set[bytes] = set()
        self._first_seal = 0
        self._bytes = 0

    def entries(self) -> Iterator[ArchiveEntry]:
        """Yield the files of the zip. Raises BundleTooLarge while the entries are written."""
        yield ArchiveEntry(ABOUT, [self._line(self._about())])
        for name, documents in (
            (RECORDS, self._records()),
            (PIECES, self._piece_rows()),
            (TEXTS, self._text_rows()),
            (SEALS, self._seal_rows()),
            (LINKS, self._link_rows()),
            (KEYS, self._key_rows()),
        ):
            yield ArchiveEntry(name, map(self._line, documents))

    def _line(self, document: dict[str, Any]) -> str:
        line = canonical_json(document) + b"\n"
        self._bytes += len(line)
        if self._bytes > MAX_BYTES:
            raise BundleTooLarge("A bundle has at most 200 MB, unpacked. Choose fewer contexts, or a shorter time.")
        return line.decode()

    def _about(self) -> dict[str, Any]:
        return {"format": FORMAT, "version": VERSION, "made": timestamp(timezone.now()), "records": len(self.ids)}

    def _records(self) -> Iterator[dict[str, Any]]:
        for ids in _batches(self.ids):
            found = list(Assembly.objects.filter(id__in=ids).order_by("id"))
            hashes = piece_hashes(found)
            self._pieces |= hashes.keys()
            yield from (record_document(one, piece_hash_texts(one, hashes)) for one in found)

    def _piece_rows(self) -> Iterator[dict[str, Any]]:
        for ids in _batches(sorted(self._pieces)):
            for piece in Piece.objects.filter(id__in=ids).order_by("id"):
                self._texts.add(bytes(piece.text_sha256))
                hashes = {"sha256": bytes(piece.sha256).hex(), "text_sha256": bytes(piece.text_sha256).hex()}
                yield {"id": piece.id, "ref": piece.ref, "facts": piece.facts, **hashes}

    def _text_rows(self) -> Iterator[dict[str, Any]]:
        for hashes in _batches(sorted(self._texts)):
            rows = StoredText.objects.filter(sha256__in=hashes).order_by("sha256")
            for sha256, text in read_texts(rows.values_list("sha256", "text", "sealed")).items():
                erased = {"erased": timestamp(text.erased_at)} if isinstance(text, ErasedText) else {"text": text}
                yield {"sha256": sha256.hex(), **erased}

    def _seal_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the record lists of the seals that hold the bundle's records, each seal once."""
        written: set[int] = set()
        for ids in _batches(self.ids):
            for seal in Seal.objects.filter(assemblies__overlap=ids).exclude(number__in=written).order_by("number"):
                written.add(seal.number)
                yield {"number": seal.number, "records": [[str(id_), sha256.hex()] for id_, sha256 in seal.sealed]}
        self._first_seal = min(written, default=0)

    def _link_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the chain of seals from the bundle's first seal to the newest one."""
        newest = newest_seal()
        if self._first_seal and newest:
            numbers = (self._first_seal, newest.number)
            for seal in Seal.objects.filter(number__range=numbers).order_by("number").iterator(chunk_size=BATCH):
                yield {**SealLink.of(seal).document, "sha256": bytes(seal.sha256).hex()}

    def _key_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the keys of the bodies that are encrypted and were not erased."""
        for ids in _batches(self.ids):
            for id_, key in body_keys(Assembly.objects.filter(id__in=ids).order_by("id")).items():
                yield {"id": str(id_), "key": key.secret.hex()}


def record_bundle_download(assembly: Assembly, principal: Principal) -> None:
    """Record in the activity log that the principal downloaded the bundle of this context."""
    detail = {"context": str(assembly.id)}
    action = ActivityAction.BUNDLE_DOWNLOADED
    activity_record(principal, action, assembly.agent_name, team_ids=[assembly.team_id], detail=detail)


def zip_bundle(bundle: RecordBundle) -> bytes:
    """Return a bundle of a few records as the bytes of a zip file. Raises BundleTooLarge."""
    file = BytesIO()
    write_zip(bundle.entries(), file)
    return file.getvalue()


def _batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    remaining = iter(items)
    while batch := list(islice(remaining, BATCH)):
        yield batch
