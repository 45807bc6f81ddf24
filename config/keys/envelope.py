"""Envelope encryption: a value is encrypted under a data key of its own, and each data key under the master key. Pure.

AES-256-GCM authenticates both. A sealed value is bound to its name, so that it cannot be moved to another row, and
tells the generation of its key; a wrapped key is bound to its id, and tells which master key it is under.
"""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from msgspec import Struct

KEY_BYTES, NONCE_BYTES, GENERATION_BYTES, FINGERPRINT_BYTES = 32, 12, 4, 4
HEAD_BYTES = GENERATION_BYTES + NONCE_BYTES
ALIKE = b"dossier: nonces of values that are sealed alike"
"""The purpose for which the key of these nonces is derived, so that it serves nothing else."""


class DecryptionFailed(ValueError):
    """The value was sealed under another key or for another name, or it was changed."""


class DataKey(Struct, frozen=True):
    """The key of one value: 32 bytes. A value that is stored again after its key was destroyed has one of a later
    generation.
    """

    generation: int
    secret: bytes


def seal(key: DataKey, name: bytes, value: bytes) -> bytes:
    """Return the value encrypted for this name: the key's generation (4 bytes), the nonce (12) and the ciphertext."""
    generation, nonce = key.generation.to_bytes(GENERATION_BYTES), secrets.token_bytes(NONCE_BYTES)
    return generation + nonce + AESGCM(key.secret).encrypt(nonce, value, name + generation)


def seal_alike(key: DataKey, name: bytes, values: Iterable[bytes]) -> list[bytes]:
    """Return values encrypted as `seal` does, but equal ones become equal: they can be compared and found unread.

    Each nonce is the beginning of a keyed hash (HMAC-SHA256) of its value, under a key that is derived from the data
    key (HKDF). So who has not the key sees which values are equal, and nothing else of them.
    """
    hashing = HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=ALIKE).derive(key.secret)
    cipher, generation = AESGCM(key.secret), key.generation.to_bytes(GENERATION_BYTES)
    nonces = ((value, hmac.digest(hashing, value, "sha256")[:NONCE_BYTES]) for value in values)
    return [generation + nonce + cipher.encrypt(nonce, value, name + generation) for value, nonce in nonces]


def unseal(key: DataKey, name: bytes, sealed: bytes) -> bytes:
    """Return the value that was sealed for this name. Raises DecryptionFailed."""
    generation, nonce = sealed[:GENERATION_BYTES], sealed[GENERATION_BYTES:HEAD_BYTES]
    try:
        return AESGCM(key.secret).decrypt(nonce, sealed[HEAD_BYTES:], name + generation)
    except (InvalidTag, ValueError):
        raise DecryptionFailed("This is not what was encrypted.") from None


def generation_of(sealed: bytes) -> int:
    """Return the generation of the key that a sealed value is under."""
    return int.from_bytes(sealed[:GENERATION_BYTES])


class MasterKey:
    """The key under which data keys are stored, with former ones that can still be read. Each has 32 bytes."""

    def __init__(self, present: bytes, former: Sequence[bytes] = ()) -> None:
        self.fingerprint = fingerprint(present)
        self._ciphers = {fingerprint(one): AESGCM(one) for one in (*former, present)}

    def wrap(self, id_: bytes, secret: bytes) -> bytes:
        """Return the data key as it is stored under this id: fingerprint (4 bytes), nonce (12) and ciphertext (48)."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return self.fingerprint + nonce + self._ciphers[self.fingerprint].encrypt(nonce, secret, id_)

    def unwrap(self, id_: bytes, wrapped: bytes) -> bytes:
        """Return the data key that was stored under this id. Raises DecryptionFailed."""
        mark, rest = wrapped[:FINGERPRINT_BYTES], wrapped[FINGERPRINT_BYTES:]
        if mark not in self._ciphers:
            raise DecryptionFailed("This key is under another master key.")
        try:
            return self._ciphers[mark].decrypt(rest[:NONCE_BYTES], rest[NONCE_BYTES:], id_)
        except (InvalidTag, ValueError):
            raise DecryptionFailed("This is not the key that was stored.") from None


def fingerprint(master: bytes) -> bytes:
    """Return four bytes that tell master keys apart, and nothing about them."""
    return hashlib.sha256(b"master-key:" + master).digest()[:FINGERPRINT_BYTES]
