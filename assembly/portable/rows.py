"""The lines of a bundle as values: every one of the type that it has to be. Whoever made it may mean harm."""

import json
import re
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from assembly.models import Assembly
from assembly.models.seal import HASH_BYTES
from assembly.portable.layout import MAX_BYTES
from assembly.seals.chain import FORM, moment
from assembly.seals.forms import RECORD_COLUMNS
from config.http.errors import DossierError

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
