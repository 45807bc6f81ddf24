"""Texts in live columns are sealed: a column holds a text as it was written, or encrypted behind a mark.

A sealed text names its owner, an agent, a team or the organisation, under whose key it is encrypted, so it can be moved
between columns and tables of the owner and opened wherever it is read. Keys are in the key store; a process asks for
the key of an owner once in half a minute, and never if it reads nothing that is sealed.

A text that begins with the mark by itself is sealed, too, so what begins with it always is a sealed text.
"""

import base64
import binascii
import hashlib
from collections.abc import Sequence
from uuid import UUID

from config.caching.process_cache import ProcessCache
from config.keys import store
from config.keys.envelope import DataKey, DecryptionFailed, generation_of, seal, seal_alike, unseal
from config.keys.key_errors import KeyLost, KeyStoreMissing
from config.keys.store import KeyName

MARK = "\x03sealed:"
"""The beginning of sealed texts. The database has it in its triggers: see `config.db.sealed_columns`."""
JSON_MARK = r'"\u0003sealed:'
"""The beginning of sealed JSON values as PostgreSQL writes them."""
OWNER_BYTES = 16
OVERHEAD_BYTES = OWNER_BYTES + 4 + 12 + 16
"""The bytes that sealing adds before base64: owner, generation, nonce and tag."""


def is_sealed(stored: object) -> bool:
    """Return whether a value as it is stored is a sealed text."""
    return isinstance(stored, str) and stored.startswith(MARK)


def seal_text(text: str, owner: UUID) -> str:
    """Return the text encrypted under the owner's key. An empty text stays empty.

    Raises KeyStoreMissing, KeyStoreUnavailable and MasterKeyMissing.
    """
    if not text:
        return text
    name = _key_id(owner)
    sealed = seal(_key_of(name), name, text.encode("utf-8", "surrogatepass"))
    return MARK + base64.b64encode(owner.bytes + sealed).decode()


def seal_names(names: Sequence[str], owner: UUID) -> list[str]:
    """Return names encrypted under the owner's key, the same name always alike, so that it is unique and can be found.

    They are opened as all sealed texts. An empty name is sealed, too. Raises as `seal_text` does.
    """
    key_id = _key_id(owner)
    sealed = seal_alike(_key_of(key_id), key_id, (name.encode("utf-8", "surrogatepass") for name in names))
    return [MARK + base64.b64encode(owner.bytes + one).decode() for one in sealed]


def open_text(stored: str) -> str:
    """Return the text as it was written; one that is not sealed is returned as it is.

    Raises KeyStoreUnavailable, MasterKeyMissing, KeyLost (a LookupError) if the key store does not have the key, and
    DecryptionFailed (a ValueError) if the text was changed.
    """
    return open_texts([stored])[0] if stored.startswith(MARK) else stored


def open_texts(stored: Sequence[str]) -> list[str]:
    """Return the texts as they were written, as `open_text` does. Their keys are fetched together."""
    sealed = {place: _parts(text) for place, text in enumerate(stored) if text.startswith(MARK)}
    if not sealed:
        return [*stored]
    _require_store()
    keys = store.fetch({name for name, _ in sealed.values()})
    texts = [*stored]
    for place, (name, ciphertext) in sealed.items():
        key = keys[name]
        if not isinstance(key, DataKey):
            raise KeyLost(f"The key {name.id.hex()} was destroyed.")
        texts[place] = unseal(key, name.id, ciphertext).decode("utf-8", "surrogatepass")
    return texts


def owner_of(sealed: str) -> UUID:
    """Return the owner under whose key a text is sealed. Raises DecryptionFailed."""
    return UUID(bytes=_parts(sealed)[0].id[len(LIVE) :])


def owner_prefix(owner: UUID) -> str:
    """Return the characters with which every text begins that is sealed under the owner's key.

    They tell the first 15 of the 16 bytes of the owner's id: base64 has three bytes in four characters.
    """
    return MARK + base64.b64encode(owner.bytes[: OWNER_BYTES - 1]).decode()


def owner_of_key(name: bytes) -> UUID | None:
    """Return the owner whose key has this id; None for keys of other things."""
    is_owners = name.startswith(LIVE) and len(name) == len(LIVE) + OWNER_BYTES
    return UUID(bytes=name[len(LIVE) :]) if is_owners else None


def records_owner(agent: UUID) -> UUID:
    """Return the owner under whose key lies what is recorded about an agent and outlives it, such as topics."""
    return UUID(hashlib.md5(f"records:{agent}".encode(), usedforsecurity=False).hexdigest())


def _parts(sealed: str) -> tuple[KeyName, bytes]:
    try:
        octets = base64.b64decode(sealed[len(MARK) :], validate=True)
    except binascii.Error:
        raise DecryptionFailed("This is no sealed text.") from None
    owner, ciphertext = octets[:OWNER_BYTES], octets[OWNER_BYTES:]
    return KeyName(LIVE + owner, generation_of(ciphertext)), ciphertext


LIVE = b"live:"
"""The beginning of the ids of the keys of owners."""


def _key_id(owner: UUID) -> bytes:
    return LIVE + owner.bytes


def _key_of(name: bytes) -> DataKey:
    key = _keys.get(name)
    if key is None:
        _require_store()
        key = store.obtain([name])[name]
        _keys.put(name, key)
    return key


def _require_store() -> None:
    if not store.is_configured():
        raise KeyStoreMissing


_keys = ProcessCache[bytes, DataKey](
    "owner_keys", store.MAX_CACHE_BYTES, lambda _: store.ENTRY_BYTES, lifetime=lambda _: store.CACHE_SECONDS
)
store.on_destruction(_keys.clear)
