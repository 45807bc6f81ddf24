"""Texts are compressed losslessly. The first byte of a packed text says how, so that the method can change."""

import zlib

from isal import isal_zlib

RAW_DEFLATE = b"\x01"
WINDOW_BITS = -15  # without zlib's header and checksum
LEVEL = 9
MIN_BYTES = 200
"""The least size of a text that is packed: a shorter one hardly becomes smaller."""


def pack(text: str) -> bytes:
    """Return the compressed text."""
    deflating = zlib.compressobj(LEVEL, zlib.DEFLATED, WINDOW_BITS)
    return RAW_DEFLATE + deflating.compress(text.encode()) + deflating.flush()


def pack_if_smaller(text: str) -> bytes | None:
    """Return the compressed text; None where it is not worth it."""
    octets = len(text.encode())
    if octets < MIN_BYTES:
        return None
    packed = pack(text)
    return packed if len(packed) < octets else None


def unpack(packed: bytes) -> str:
    """Return the text. Raises ValueError for bytes that are no packed text."""
    if packed[:1] != RAW_DEFLATE:
        raise ValueError("no packed text")
    return isal_zlib.decompress(packed[1:], wbits=WINDOW_BITS).decode()
