"""The lines of a bundle as values: every one of the type that it has to be. Whoever made it may mean harm.

Reading a bundle into memory: everything of the right type, and whatever has a hash checked against it.
"""

import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from assembly.models import Assembly, text_hash
from assembly.models.seal import HASH_BYTES
from assembly.records.bundle_writer import (
    ABOUT,
    FILES,
    FORMAT,
    LINKS,
    MAX_BYTES,
    PIECES,
    RECORDS,
    SEALS,
    TEXTS,
    VERSION,
)
from assembly.records.pieces import piece_hash
from assembly.records.reader import PieceRead
from assembly.records.seal_hashing import FORM, RECORD_COLUMNS, Link, moment
from config.http.errors import DossierError
from memories.archive.contents import ArchiveContents
from memories.archive.zip_file import read_zip
from memories.imports.base import ImportRefused

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
NUMBERS = {"profile_version", "budget", "tokens", "left_out", "engine_version", "assembly_ms"}
LISTS: dict[str, type] = {"warnings": str, "codes": str, "told": int, "omitted": int}
IDS = {"id", "agent_id", "team_id", "parent", "decided_in"}
MAY_BE_NULL = {"team_id", "parent", "decided_in"}
MOMENTS = {"created", "now"}
BYTES = {"sha256", "body"}
MOST_NUMBER = 2**63


class BundleRefused(DossierError):
    """A bundle that cannot be read. The message says where."""

    status = 422
    code = "bundle_refused"
    title = "This bundle cannot be read"


def lines_of(name: str, text: str) -> Iterator[dict[str, Any]]:
    """The objects of a file of lines. Raises BundleRefused with the line's number."""
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        try:
            found = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise BundleRefused(f"Line {number} of {name} is no JSON object.")
        yield found


def record_of(document: dict[str, Any]) -> tuple[Assembly, list[str]]:
    """A record, which no database knows of, and the hashes of its pieces. Raises BundleRefused."""
    if document.keys() != {*RECORD_COLUMNS, "form", "parts"} or document["form"] != FORM:
        raise BundleRefused("A record in it has other columns than this version knows.")
    values = {name: _column(name, document[name]) for name in RECORD_COLUMNS}
    parts = _list("parts", document["parts"], str)
    if len(parts) != len(values["told"]) + len(values["omitted"]):
        raise BundleRefused(f"The record {values['id']} has not as many hashes as pieces.")
    return Assembly(**values), parts


def unpacked_size_checked(body: bytes) -> bytes:
    """The body, which does not unpack to more than a bundle may hold. Raises BundleRefused."""
    unpacking = zlib.decompressobj()
    try:
        unpacking.decompress(body[1:], MAX_BYTES)
    except zlib.error:
        raise BundleRefused("The body of a record cannot be unpacked.") from None
    if unpacking.unconsumed_tail:
        raise BundleRefused("The body of a record is larger than 200 MB, unpacked.")
    return body


def hash_of(value: Any) -> bytes:
    """32 bytes from 64 hexadecimal digits. Raises BundleRefused."""
    found = _bytes("hash", value)
    if len(found) != HASH_BYTES:
        raise BundleRefused("A hash in it is no SHA-256.")
    return found


def text_in(document: dict[str, Any], name: str) -> str:
    """The text under that name. Raises BundleRefused."""
    value = document.get(name)
    if not isinstance(value, str):
        raise BundleRefused(f"“{name}” is no text.")
    return value


def number_in(document: dict[str, Any], name: str) -> int:
    """The whole number under that name. Raises BundleRefused."""
    return _number(name, document.get(name))


def id_of(value: Any) -> UUID:
    """The id that a text is. Raises BundleRefused."""
    try:
        found = UUID(value)
    except (ValueError, TypeError, AttributeError):
        raise BundleRefused("An id in it is none.") from None
    if str(found) != value:
        raise BundleRefused("An id in it is not written as ids are.")
    return found


def _column(name: str, value: Any) -> Any:
    if value is None and name in MAY_BE_NULL:
        return None
    if name in IDS:
        return id_of(value)
    if name in MOMENTS:
        return _moment(name, value)
    if name in NUMBERS:
        return _number(name, value)
    if name in LISTS:
        return _list(name, value, LISTS[name])
    if name in BYTES:
        return unpacked_size_checked(_bytes(name, value)) if name == "body" and value else _bytes(name, value)
    if name == "truncated":
        if not isinstance(value, bool):
            raise BundleRefused(f"“{name}” is neither true nor false.")
        return value
    return text_in({name: value}, name)


def _number(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -MOST_NUMBER <= value < MOST_NUMBER:
        raise BundleRefused(f"“{name}” is no whole number.")
    return value


def _moment(name: str, value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(value).astimezone(UTC) if MOMENT.fullmatch(value) else None
    except (ValueError, TypeError, OverflowError):
        found = None
    if found is None or moment(found) != value:
        raise BundleRefused(f"“{name}” is no moment.")
    return found


def _list(name: str, value: Any, kind: type) -> list[Any]:
    if not isinstance(value, list) or not all(type(one) is kind for one in value):
        raise BundleRefused(f"“{name}” is not the list that it has to be.")
    return value


def _bytes(name: str, value: Any) -> bytes:
    try:
        return bytes.fromhex(value)
    except (ValueError, TypeError):
        raise BundleRefused(f"“{name}” is not written in hexadecimal digits.") from None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


Value = TypeVar("Value")
Sealed = list[tuple[UUID, bytes]]


@dataclass(frozen=True, slots=True)
class BundleRead:
    """What a bundle holds. `damaged` names the pieces and texts that are not what their hashes say."""

    records: Mapping[UUID, tuple[Assembly, list[str]]]
    pieces: Mapping[int, PieceRead]
    hashes: Mapping[int, bytes]
    """Of the pieces, by id."""
    texts: Mapping[bytes, str]
    seals: Mapping[int, Sealed]
    links: Mapping[int, tuple[Link, bytes]]
    """Each with the hash that it claims to have."""
    damaged: tuple[str, ...]

    @property
    def damaged_sentences(self) -> list[str]:
        """What is wrong with pieces and texts."""
        return [f"{what} is not what its own hash says." for what in self.damaged]


def bundle_read(data: bytes) -> BundleRead:
    """What the zip holds. Raises BundleRefused, with a sentence, for what is no bundle."""
    try:
        contents = read_zip(data, ())
        _check_about(contents)
        told = {name: contents.text(name, MAX_BYTES) for name in FILES if name != ABOUT}
    except ImportRefused as error:
        raise BundleRefused(error.detail) from None
    records = {one.id: (one, parts) for one, parts in map(record_of, lines_of(RECORDS, told[RECORDS]))}
    damaged: list[str] = []
    texts = dict(map(_text, lines_of(TEXTS, told[TEXTS])))
    damaged += [f"The text {sha256.hex()}" for sha256, text in texts.items() if text_hash(text) != sha256]
    pieces, hashes = {}, {}
    for document in lines_of(PIECES, told[PIECES]):
        id_, piece, sha256, is_whole = _piece(document, texts)
        pieces[id_], hashes[id_] = piece, sha256
        damaged += [] if is_whole else [f"The piece {id_}"]
    seals = dict(map(_seal, lines_of(SEALS, told[SEALS])))
    links = {link.number: (link, sha256) for link, sha256 in map(_link, lines_of(LINKS, told[LINKS]))}
    return BundleRead(records, pieces, hashes, texts, seals, links, tuple(damaged))


def _check_about(contents: ArchiveContents) -> None:
    missing = [name for name in FILES if name not in contents.names]
    if missing:
        raise BundleRefused(f"This is no bundle of contexts: {missing[0]} is missing.")
    about = _read(lambda: json.loads(contents.text(ABOUT)))
    if not isinstance(about, dict) or (about.get("format"), about.get("version")) != (FORMAT, VERSION):
        raise BundleRefused("This bundle is of a format that this version does not know.")


def _read(parse: Callable[[], Value]) -> Value | None:
    try:
        return parse()
    except (ValueError, RecursionError):
        return None


def _text(document: dict[str, Any]) -> tuple[bytes, str]:
    return hash_of(document.get("sha256")), text_in(document, "text")


def _piece(document: dict[str, Any], texts: Mapping[bytes, str]) -> tuple[int, PieceRead, bytes, bool]:
    """A piece by its id, its hash, and whether it is what its hash says."""
    id_, ref, facts = number_in(document, "id"), text_in(document, "ref"), document.get("facts")
    sha256, text_sha256 = hash_of(document.get("sha256")), hash_of(document.get("text_sha256"))
    if not isinstance(facts, dict):
        raise BundleRefused(f"The facts of the piece {id_} are no JSON object.")
    try:
        is_whole = piece_hash(ref, text_sha256, facts) == sha256 and text_sha256 in texts
    except TypeError:  # of what no piece holds: whole numbers beyond 64 bits
        is_whole = False
    return id_, PieceRead(ref, facts, texts.get(text_sha256, "")), sha256, is_whole


def _seal(document: dict[str, Any]) -> tuple[int, Sealed]:
    rows = document.get("records")
    try:
        return number_in(document, "number"), [(id_of(id_), hash_of(sha256)) for id_, sha256 in rows or ()]
    except (TypeError, ValueError):
        raise BundleRefused("The list of a seal is not as it has to be.") from None


def _link(document: dict[str, Any]) -> tuple[Link, bytes]:
    pruning = document.get("pruning")
    if document.get("form") != FORM or not (pruning is None or isinstance(pruning, dict)):
        raise BundleRefused("A seal in it is of a form that this version does not know.")
    link = Link(
        number_in(document, "number"),
        text_in(document, "created"),
        hash_of(document.get("previous")),
        hash_of(document.get("records")),
        (text_in(pruning, "id"), hash_of(pruning.get("sha256"))) if pruning else None,
    )
    return link, hash_of(document.get("sha256"))
