"""The body of a record: what has no column of its own, as compressed JSON. Pure."""

import json
import zlib
from typing import Any

import orjson

LEVEL = 6
SMALLEST_WINDOW = 9
"""As a power of two, in bytes."""
FORMAT = b"\x01"
"""Stands first, so that another way of packing can follow one day."""


def packed(contents: dict[str, Any]) -> bytes:
    """The bytes for these JSON-safe contents."""
    text = _dumped(contents)
    # As large as the text: to make room for more takes longer than to compress what most records hold.
    window = max(SMALLEST_WINDOW, min(zlib.MAX_WBITS, len(text).bit_length()))
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, window, window - SMALLEST_WINDOW + 2)
    return FORMAT + compressor.compress(text) + compressor.flush()


def unpacked(body: bytes) -> dict[str, Any]:
    """The contents of these bytes. Raises ValueError for what `packed` did not make."""
    if body[:1] != FORMAT:
        raise ValueError("The body of this record is of no known format.")
    try:
        contents = json.loads(zlib.decompress(body[1:]))
    except zlib.error:
        raise ValueError("The body of this record cannot be read.") from None
    if not isinstance(contents, dict):
        raise ValueError("The body of this record holds something else.")  # noqa: TRY004 - one error for all
    return contents


def _dumped(contents: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(contents)
    except TypeError:  # of whole numbers beyond 64 bits
        return json.dumps(contents, separators=(",", ":"), ensure_ascii=False).encode()
