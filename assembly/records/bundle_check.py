"""Records in a bundle are replayed and checked against the bundle's seals here, without any database."""

import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from assembly.models import Assembly
from assembly.models.assembly import ENCRYPTED_FORMAT, cache_profile, unpacked
from assembly.models.encryption import RecordErased
from assembly.records.bundle_reader import BundleContents
from assembly.records.reader import record_from_pieces, replay
from assembly.records.seal_hashing import record_bytes, records_hash

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecordCheck:
    """The check of one record of a bundle: whether it replays byte for byte, and its seal's number (None: none)."""

    id: UUID
    replays: bool
    seal: int | None
    fault: str = ""
    """A sentence on what is wrong with the record; empty if nothing is."""


def chain_faults(bundle: BundleContents) -> Iterator[str]:
    """Yield a sentence for each fault of the bundle's own seals: a wrong hash, a gap, or a changed list of records."""
    links = [bundle.links[number] for number in sorted(bundle.links)]
    for link, sha256 in links:
        if link.sha256 != sha256:
            yield f"Seal {link.number} is not what its own hash says."
    for (before, sha256), (link, _) in pairwise(links):
        if link.number != before.number + 1 or link.previous != sha256:
            yield f"Seal {link.number} does not follow on seal {before.number}."
    for number, records in bundle.seals.items():
        if number not in bundle.links or bundle.links[number][0].records != records_hash(records):
            yield f"The list of seal {number} is not the one that was sealed."


def newest_head(bundle: BundleContents) -> str:
    """Return the bundle's newest seal as `number:hash`, as `verify_records --head` prints it; "" without seals."""
    newest = max(bundle.links, default=None)
    return "" if newest is None else f"{newest}:{bundle.links[newest][1].hex()}"


def check_bundle(bundle: BundleContents) -> Iterator[RecordCheck]:
    """Yield the check of each record of the bundle: replayed, and compared with its seal."""
    sealed = {id_: (number, sha256) for number, records in bundle.seals.items() for id_, sha256 in records}
    for id_, (record, parts) in bundle.records.items():
        number, sha256 = sealed.get(id_, (None, b""))
        fault = _parts_fault(bundle, record, parts)
        if number is not None and hashlib.sha256(record_bytes(record, parts)).digest() != sha256:
            fault = f"It differs from seal {number}."
        replays, trouble = _replays(bundle, record) if not fault else (False, "")
        yield RecordCheck(id_, replays, number, fault or trouble)


def _parts_fault(bundle: BundleContents, record: Assembly, parts: Sequence[str]) -> str:
    ids = [*record.told, *record.omitted]
    if any(bundle.hashes.get(id_, b"").hex() != part for id_, part in zip(ids, parts, strict=True)):
        return "A part of it is missing or differs."
    return ""


def _replays(bundle: BundleContents, record: Assembly) -> tuple[bool, str]:
    """Return whether a replay gives the recorded bytes, and a sentence on the fault if not."""
    try:
        if replay(record_from_pieces(_with_body(bundle, record), bundle.pieces)).identical:
            return True, ""
    except RecordErased as error:
        return False, error.detail
    except Exception as error:  # a forged record can make the engine raise anything
        logger.info("a record of a bundle cannot be replayed", exc_info=True)
        return False, f"It cannot be replayed ({type(error).__name__})."
    return False, "It gives another text than the one whose hash was recorded."


def _with_body(bundle: BundleContents, record: Assembly) -> Assembly:
    """Return the record with its body unpacked, or the body of the record that it repeats, and cache its profile."""
    first = bundle.records[record.decided_in][0] if record.decided_in else record
    key = bundle.keys.get(first.id)
    if key is None and bytes(first.body[:1]) == ENCRYPTED_FORMAT:
        raise RecordErased("Its contents were erased before the bundle was made.")
    record.contents = unpacked(bytes(first.body), first.id, key)
    sha256 = record.contents["profile"]
    cache_profile(sha256, bundle.texts[bytes.fromhex(sha256)])
    return record
