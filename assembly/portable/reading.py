"""Reading a bundle into memory: everything of the right type, and whatever has a hash checked against it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from assembly.models import Assembly, text_hash
from assembly.pieces import piece_hash
from assembly.portable.layout import ABOUT, FILES, FORMAT, LINKS, MAX_BYTES, PIECES, RECORDS, SEALS, TEXTS, VERSION
from assembly.portable.rows import BundleRefused, hash_of, id_of, lines_of, number_in, record_of, text_in
from assembly.recorded import PieceRead
from assembly.seals.chain import FORM, Link
from memories.bundle.contents import Contents
from memories.bundle.zip_reading import zip_contents
from memories.importing import ImportRefused

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
        contents = zip_contents(data, ())
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


def _check_about(contents: Contents) -> None:
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
