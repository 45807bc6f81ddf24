"""Cached values are sealed before they leave this process: encrypted and authenticated under SECRET_KEY.

So the server or the disk that holds them cannot read them, and what somebody else wrote there, what was damaged, what
belongs to another key, and what another installation stored are no values: they cannot be opened. A former SECRET_KEY
is not tried, because cached values are made again.
"""

import hashlib
import secrets
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from isal import isal_zlib

NONCE_BYTES = 12
FORMAT = b"\x01"
"""The first byte of a sealed value: zlib within AES-256-GCM, with the key of the cache as associated data."""
COMPRESSION_LEVEL = 1


def seal(key: bytes, value: bytes) -> bytes:
    """Return the value as it may be stored outside of this process under the key of a cache."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    packed = isal_zlib.compress(value, COMPRESSION_LEVEL)
    return FORMAT + nonce + _cipher(settings.SECRET_KEY).encrypt(nonce, packed, key)


def unseal(key: bytes, sealed: bytes) -> bytes | None:
    """Return the value that was sealed for the key; None for anything else."""
    head = len(FORMAT) + NONCE_BYTES
    if sealed[:1] != FORMAT or len(sealed) <= head:
        return None
    try:
        packed = _cipher(settings.SECRET_KEY).decrypt(sealed[1:head], sealed[head:], key)
    except InvalidTag:
        return None
    value: bytes = isal_zlib.decompress(packed)
    return value


@lru_cache(maxsize=2)
def _cipher(secret_key: str) -> AESGCM:
    return AESGCM(hashlib.sha256(b"cached-values:" + secret_key.encode()).digest())
