"""These fields hold copies of texts for some days, encrypted under SECRET_KEY: archives, lists, files for download.

Such a copy has texts of many owners and levels, so it cannot be sealed under the key of one owner as live texts are.
What was stored before there were these fields is returned as it is, until it expires.
"""

import base64
import hashlib
import json
import secrets
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.db import models

from config.http.encryption import UndecryptableSecret

MARK = b"\x03copy1"
"""The beginning of an encrypted copy, followed by the nonce and AES-256-GCM's ciphertext."""
TEXT_MARK = MARK.decode()
NONCE_BYTES = 12


class EncryptedBytesField(models.BinaryField):  # type: ignore[type-arg]  # Django itself takes no arguments
    """Bytes that are encrypted in their column. Reading raises UndecryptableSecret after a change of SECRET_KEY."""

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return encrypt_copy(bytes(value)) if value else value

    def from_db_value(self, value: Any, *_: Any) -> Any:
        """Return the bytes as they were before they were stored."""
        return value if value is None else decrypt_copy(bytes(value))


class EncryptedJSONField(models.JSONField):
    """JSON that is encrypted in its column, as a JSON string. Reading raises UndecryptableSecret like the other's."""

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if value and not hasattr(value, "as_sql"):
            encrypted = encrypt_copy(json.dumps(value, cls=self.encoder).encode())
            value = TEXT_MARK + base64.b64encode(encrypted).decode()
        return super().get_db_prep_value(value, connection, prepared)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the value as it was before it was stored."""
        value = super().from_db_value(value, expression, connection)
        if not isinstance(value, str) or not value.startswith(TEXT_MARK):
            return value
        return json.loads(decrypt_copy(base64.b64decode(value[len(TEXT_MARK) :])), cls=self.decoder)


def encrypt_copy(value: bytes) -> bytes:
    """Return the bytes encrypted under the current SECRET_KEY."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return MARK + nonce + _cipher(settings.SECRET_KEY).encrypt(nonce, value, MARK)


def decrypt_copy(stored: bytes) -> bytes:
    """Return the bytes that were encrypted; others are returned as they are. Raises UndecryptableSecret."""
    if not stored.startswith(MARK):
        return stored
    nonce, ciphertext = stored[len(MARK) :][:NONCE_BYTES], stored[len(MARK) + NONCE_BYTES :]
    for cipher in _ciphers():
        try:
            return cipher.decrypt(nonce, ciphertext, MARK)
        except InvalidTag:
            continue
    raise UndecryptableSecret


def _ciphers() -> Iterator[AESGCM]:
    return map(_cipher, (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


@lru_cache(maxsize=8)
def _cipher(secret_key: str) -> AESGCM:
    return AESGCM(hashlib.sha256(b"stored-copies:" + secret_key.encode()).digest())
