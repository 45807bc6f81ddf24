"""The reader of bundles checks the type of every value and every hash, because a bundle may be forged."""

import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from assembly.models import Assembly, Purpose, text_hash
from assembly.models.assembly import BODY_FORMAT, ENCRYPTED_FORMAT, compressed_body
from assembly.models.encryption import ErasedText
from assembly.models.seal import HASH_BYTES
from assembly.records.bundle_writer import (
    ABOUT,
    FILES,
    FORMAT,
    KEYS,
    LINKS,
    MAX_BYTES,
    PIECES,
    RECORDS,
    SEALS,
    TEXTS,
    VERSION,
)
from assembly.records.encoding import piece_hash
from assembly.records.reader import StoredPiece
from assembly.records.seal_hashing import FORM_VERSION, PURPOSE_FORM, SealLink, record_columns, timestamp
from config.http.errors import DossierError
from config.keys.envelope import DataKey
from memories.archive.contents import ArchiveContents
from memories.archive.zip_file import read_zip
from memories.imports.base import ImportRefused

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
NUMBER_COLUMNS = {"profile_version", "budget", "tokens", "left_out", "engine_version", "assembly_ms"}
LIST_COLUMNS: dict[str, type] = {"warnings": str, "codes": str, "told": int, "omitted": int}
ID_COLUMNS = {"id", "agent_id", "team_id", "parent", "decided_in"}
NULLABLE_COLUMNS = {"team_id", "parent", "decided_in"}
TIME_COLUMNS = {"created", "now"}
BYTES_COLUMNS = {"sha256", "body"}
MAX_NUMBER = 2**63


class BundleRefused(DossierError):
    """The bundle cannot be read (422). The message says where the fault is."""

    status = 422
    code = "bundle_refused"
    title = "Invalid bundle"


def parse_lines(name: str, text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a file with one object per line. Raises BundleRefused with the line's number."""
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        try:
            found = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise BundleRefused(f"Line {number} of {name} is no JSON object.")
        yield found


def parse_record(document: dict[str, Any]) -> tuple[Assembly, list[str]]:
    """Return the record as an unsaved `Assembly`, and the hashes of its pieces. Raises BundleRefused."""
    form = document.get("form")
    columns = record_columns(form) if form in {FORM_VERSION, PURPOSE_FORM} else ()
    if document.keys() != {*columns, "form", "parts"}:
        raise BundleRefused("A record in it has other columns than this version knows.")
    values = {name: _parse_column(name, document[name]) for name in columns}
    if form == PURPOSE_FORM and values["purpose"] not in Purpose.values:
        raise BundleRefused(f"The record {values['id']} has a purpose that this version does not know.")
    parts = _parse_list("parts", document["parts"], str)
    if len(parts) != len(values["told"]) + len(values["omitted"]):
        raise BundleRefused(f"The record {values['id']} has not as many hashes as pieces.")
    return Assembly(**values), parts


def check_unpacked_size(body: bytes) -> bytes:
    """Return the body if it unpacks to no more than a bundle may hold (200 MB). Raises BundleRefused."""
    unpacking = zlib.decompressobj()
    try:
        unpacking.decompress(body[1:], MAX_BYTES)
    except zlib.error:
        raise BundleRefused("The body of a record cannot be unpacked.") from None
    if unpacking.unconsumed_tail:
        raise BundleRefused("The body of a record is larger than 200 MB, unpacked.")
    return body


def _check_body(body: bytes) -> bytes:
    """Return the body. One that is encrypted is checked later, with its key."""
    return body if body[:1] == ENCRYPTED_FORMAT else check_unpacked_size(body)


def parse_hash(value: Any) -> bytes:
    """Return 32 bytes from 64 hexadecimal digits. Raises BundleRefused."""
    found = _parse_bytes("hash", value)
    if len(found) != HASH_BYTES:
        raise BundleRefused("A hash in it is no SHA-256.")
    return found


def parse_text(document: dict[str, Any], name: str) -> str:
    """Return the text under the name in a JSON object. Raises BundleRefused."""
    value = document.get(name)
    if not isinstance(value, str):
        raise BundleRefused(f"“{name}” is no text.")
    return value


def parse_number(document: dict[str, Any], name: str) -> int:
    """Return the integer under the name in a JSON object. Raises BundleRefused."""
    return _parse_column_number(name, document.get(name))


def parse_id(value: Any) -> UUID:
    """Return a JSON text as a UUID. Raises BundleRefused if it is not in the canonical form."""
    try:
        found = UUID(value)
    except (ValueError, TypeError, AttributeError):
        raise BundleRefused("An id in it is none.") from None
    if str(found) != value:
        raise BundleRefused("An id in it is not written as ids are.")
    return found


def _parse_column(name: str, value: Any) -> Any:
    if value is None and name in NULLABLE_COLUMNS:
        return None
    if name in ID_COLUMNS:
        return parse_id(value)
    if name in TIME_COLUMNS:
        return _parse_time(name, value)
    if name in NUMBER_COLUMNS:
        return _parse_column_number(name, value)
    if name in LIST_COLUMNS:
        return _parse_list(name, value, LIST_COLUMNS[name])
    if name in BYTES_COLUMNS:
        return _check_body(_parse_bytes(name, value)) if name == "body" and value else _parse_bytes(name, value)
    if name == "truncated":
        if not isinstance(value, bool):
            raise BundleRefused(f"“{name}” is neither true nor false.")
        return value
    return parse_text({name: value}, name)


def _parse_column_number(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -MAX_NUMBER <= value < MAX_NUMBER:
        raise BundleRefused(f"“{name}” is not a whole number.")
    return value


def _parse_time(name: str, value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(value).astimezone(UTC) if TIMESTAMP.fullmatch(value) else None
    except (ValueError, TypeError, OverflowError):
        found = None
    if found is None or timestamp(found) != value:
        raise BundleRefused(f"“{name}” is no moment.")
    return found


def _parse_list(name: str, value: Any, kind: type) -> list[Any]:
    if not isinstance(value, list) or not all(type(one) is kind for one in value):
        raise BundleRefused(f"“{name}” is not the list that it has to be.")
    return value


def _parse_bytes(name: str, value: Any) -> bytes:
    try:
        return bytes.fromhex(value)
    except (ValueError, TypeError):
        raise BundleRefused(f"“{name}” is not written in hexadecimal digits.") from None


def _refuse_constant(constant: str) -> None:
    raise ValueError(constant)


Value = TypeVar("Value")
SealedHashes = list[tuple[UUID, bytes]]


@dataclass(frozen=True, slots=True)
class BundleContents:
    """The parsed contents of a bundle. `damaged` names the pieces and texts that do not match their hashes."""

    records: Mapping[UUID, tuple[Assembly, list[str]]]
    pieces: Mapping[int, StoredPiece]
    hashes: Mapping[int, bytes]
    """Hashes of the pieces, by id."""
    texts: Mapping[bytes, str]
    seals: Mapping[int, SealedHashes]
    links: Mapping[int, tuple[SealLink, bytes]]
    """Each seal without its records, with the hash that it claims to have, by number."""
    damaged: tuple[str, ...]
    keys: Mapping[UUID, DataKey] = field(default_factory=dict)
    """The keys of encrypted bodies, by the id of the record. Bodies that were erased have none."""

    @property
    def damaged_sentences(self) -> list[str]:
        """Sentences on the pieces and texts that do not match their hashes."""
        return [f"{what} is not what its own hash says." for what in self.damaged]


def read_bundle(data: bytes) -> BundleContents:
    """Return the contents of a bundle's zip file. Raises BundleRefused, with a sentence, if it is no valid bundle."""
    try:
        contents = read_zip(data, ())
        _check_about(contents)
        there = [*FILES, *({KEYS} & set(contents.names))]
        told = {name: contents.text(name, MAX_BYTES) for name in there if name != ABOUT}
    except ImportRefused as error:
        raise BundleRefused(error.detail) from None
    records = {one.id: (one, parts) for one, parts in map(parse_record, parse_lines(RECORDS, told[RECORDS]))}
    damaged: list[str] = []
    texts = dict(map(_parse_text_entry, parse_lines(TEXTS, told[TEXTS])))
    damaged += [
        f"The text {sha256.hex()}"
        for sha256, text in texts.items()
        if text_hash(text) != sha256 and not isinstance(text, ErasedText)
    ]
    keys = {id_: key for id_, key in map(_parse_key, parse_lines(KEYS, told.get(KEYS, ""))) if id_ in records}
    damaged += [f"The body of the record {id_}" for id_, key in keys.items() if not _opens(records[id_][0], key)]
    pieces, hashes = {}, {}
    for document in parse_lines(PIECES, told[PIECES]):
        id_, piece, sha256, is_whole = _parse_piece(document, texts)
        pieces[id_], hashes[id_] = piece, sha256
        damaged += [] if is_whole else [f"The piece {id_}"]
    seals = dict(map(_parse_seal, parse_lines(SEALS, told[SEALS])))
    links = {link.number: (link, sha256) for link, sha256 in map(_parse_link, parse_lines(LINKS, told[LINKS]))}
    return BundleContents(records, pieces, hashes, texts, seals, links, tuple(damaged), keys)


def _check_about(contents: ArchiveContents) -> None:
    missing = [name for name in FILES if name not in contents.names]
    if missing:
        raise BundleRefused(f"This is no bundle of contexts: {missing[0]} is missing.")
    about = _parse_or_none(lambda: json.loads(contents.text(ABOUT)))
    if not isinstance(about, dict) or (about.get("format"), about.get("version")) != (FORMAT, VERSION):
        raise BundleRefused("This bundle is of a format that this version does not know.")


def _parse_or_none(parse: Callable[[], Value]) -> Value | None:
    try:
        return parse()
    except (ValueError, RecursionError):
        return None


def _parse_text_entry(document: dict[str, Any]) -> tuple[bytes, str]:
    sha256 = parse_hash(document.get("sha256"))
    if "erased" in document:
        return sha256, ErasedText.since(_parse_time("erased", document["erased"]))
    return sha256, parse_text(document, "text")


def _parse_key(document: dict[str, Any]) -> tuple[UUID, DataKey]:
    return parse_id(document.get("id")), DataKey(1, parse_hash(document.get("key")))


def _opens(record: Assembly, key: DataKey) -> bool:
    """Return whether the record's body can be decrypted by the key. Raises BundleRefused if it is too large."""
    try:
        check_unpacked_size(BODY_FORMAT + compressed_body(bytes(record.body), record.id, key))
    except ValueError:
        return False
    return True


def _parse_piece(document: dict[str, Any], texts: Mapping[bytes, str]) -> tuple[int, StoredPiece, bytes, bool]:
    """Return a piece's id, the piece, its hash, and whether its contents match the hash."""
    id_, ref, facts = parse_number(document, "id"), parse_text(document, "ref"), document.get("facts")
    sha256, text_sha256 = parse_hash(document.get("sha256")), parse_hash(document.get("text_sha256"))
    if not isinstance(facts, dict):
        raise BundleRefused(f"The facts of the piece {id_} are no JSON object.")
    try:
        is_whole = piece_hash(ref, text_sha256, facts) == sha256 and text_sha256 in texts
    except TypeError:  # orjson refuses integers beyond 64 bits, which no piece holds
        is_whole = False
    return id_, StoredPiece(ref, facts, texts.get(text_sha256, "")), sha256, is_whole


def _parse_seal(document: dict[str, Any]) -> tuple[int, SealedHashes]:
    rows = document.get("records")
    try:
        return parse_number(document, "number"), [(parse_id(id_), parse_hash(sha256)) for id_, sha256 in rows or ()]
    except (TypeError, ValueError):
        raise BundleRefused("The list of a seal is not as it has to be.") from None


def _parse_link(document: dict[str, Any]) -> tuple[SealLink, bytes]:
    pruning = document.get("pruning")
    if document.get("form") != FORM_VERSION or not (pruning is None or isinstance(pruning, dict)):
        raise BundleRefused("A seal in it is of a form that this version does not know.")
    link = SealLink(
        parse_number(document, "number"),
        parse_text(document, "created"),
        parse_hash(document.get("previous")),
        parse_hash(document.get("records")),
        (parse_text(pruning, "id"), parse_hash(pruning.get("sha256"))) if pruning else None,
    )
    return link, parse_hash(document.get("sha256"))
