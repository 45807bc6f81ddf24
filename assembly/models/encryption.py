"""Recorded texts and bodies are encrypted, each under a key of its own, if there is a key store.

What is encrypted is bound to its place: a text to its hash, a body to the id of its assembly. If its key was destroyed,
a text is an `ErasedText`, and reading a body raises RecordErased.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from uuid import UUID

from django.conf import settings
from isal import isal_zlib

from config.http.errors import DossierError
from config.keys import store
from config.keys.envelope import DataKey, DecryptionFailed, generation_of, seal, unseal
from config.keys.store import DestroyedKey, KeyName
from config.keys.words import indexing_statements

TEXT, BODY = b"text:", b"body:"
PLAIN, DEFLATED = b"\x00", b"\x01"
"""The first byte of what is encrypted of a text: UTF-8, or the same packed by zlib."""
LEAST_DEFLATED_BYTES = 200
COMPRESSION_LEVEL = 1

NO_KEYS: Mapping[bytes, DataKey] = MappingProxyType({})

ERASED_NOTICE = "[This text was erased.]"

StoredForm = tuple[bytes | memoryview, str | None, bytes | memoryview | None]
"""A row of stored texts: the hash, and the text in plain or encrypted."""


class ErasedText(str):
    """A notice that is shown instead of a text whose key was destroyed, with the moment of that."""

    erased_at: datetime

    @classmethod
    def since(cls, erased_at: datetime) -> "ErasedText":
        """Return the notice for a text that was erased then."""
        erased = cls(ERASED_NOTICE)
        erased.erased_at = erased_at
        return erased


class RecordErased(DossierError, ValueError):
    """A text or record that is needed was erased (410). No replay gives it again."""

    status = 410
    code = "record_erased"
    title = "This was erased"

    @classmethod
    def of_record(cls, erased_at: datetime) -> "RecordErased":
        """Return the error for a record whose body was erased then."""
        return cls(f"The contents of this context were erased on {_day(erased_at)}, and cannot be read again.")

    @classmethod
    def of_texts(cls, erased: Collection[ErasedText]) -> "RecordErased":
        """Return the error for a context with these erased texts, at least one."""
        without = "it" if len(erased) == 1 else "them"
        return cls(f"{erasure_sentence(erased)} Without {without}, the text of the context cannot be assembled again.")


def erasure_sentence(erased: Collection[ErasedText]) -> str:
    """Return a sentence on the erased texts of a context; empty if there are none."""
    if not erased:
        return ""
    since = _day(max(one.erased_at for one in erased))
    if len(erased) == 1:
        return f"A text of this context was erased on {since}."
    return f"{len(erased)} texts of this context were erased, the last one on {since}."


def _day(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d at %H:%M} UTC"


def seal_texts(texts: Mapping[bytes, str], obtained: Mapping[bytes, DataKey] = NO_KEYS) -> dict[bytes, bytes]:
    """Return the texts encrypted, by hash, with keys that are stored by now: those that were `obtained`, and others.

    Raises KeyStoreUnavailable.
    """
    missing = {sha256: text for sha256, text in texts.items() if sha256 not in obtained}
    keys = {**obtained, **(_obtain_keys(missing.keys(), missing) if missing else {})}
    return {sha256: seal(keys[sha256], TEXT + sha256, _packed(text)) for sha256, text in texts.items()}


def _obtain_keys(ids: Collection[bytes], texts: Mapping[bytes, str]) -> dict[bytes, DataKey]:
    return store.obtain(ids, also=[*indexing_statements(texts)])


def read_texts(rows: Iterable[StoredForm]) -> dict[bytes, str]:
    """Return the texts of the rows by hash; each whose key was destroyed is an ErasedText.

    Their keys are fetched together. Raises KeyStoreUnavailable; DecryptionFailed (a ValueError) or KeyLost (a
    LookupError) if a row or the key store was changed.
    """
    found: dict[bytes, str] = {}
    sealed: dict[KeyName, bytes] = {}
    for hash_, text, ciphertext in rows:
        if ciphertext is None:
            found[bytes(hash_)] = text or ""
        else:
            sealed[KeyName(bytes(hash_), generation_of(bytes(ciphertext)))] = bytes(ciphertext)
    keys = store.fetch(sealed.keys()) if sealed else {}
    for name, ciphertext in sealed.items():
        key = keys[name]
        found[name.id] = (
            ErasedText.since(key.destroyed_at)
            if isinstance(key, DestroyedKey)
            else _unpacked(unseal(key, TEXT + name.id, ciphertext))
        )
    return found


def read_text(row: StoredForm) -> str:
    """Return the text of one row, as `read_texts` does."""
    (text,) = read_texts([row]).values()
    return text


def _packed(text: str) -> bytes:
    octets = text.encode()
    if len(octets) < LEAST_DEFLATED_BYTES:
        return PLAIN + octets
    deflated: bytes = isal_zlib.compress(octets, COMPRESSION_LEVEL)
    return DEFLATED + deflated if len(deflated) < len(octets) else PLAIN + octets


def _unpacked(packed: bytes) -> str:
    try:
        octets: bytes = isal_zlib.decompress(packed[1:]) if packed[:1] == DEFLATED else packed[1:]
        return octets.decode()
    except (isal_zlib.error, UnicodeDecodeError):  # type: ignore[misc]  # the stub names an instance
        raise DecryptionFailed("This is no text.") from None


def begin_record_keys(id_: UUID, texts: Mapping[bytes, str]) -> Callable[[], dict[bytes, DataKey]]:
    """Begin to obtain the keys of a new assembly: of its body, by the bytes of its id, and of these texts by hash.

    The returned function waits for them. It returns none if records are not encrypted, and raises KeyStoreUnavailable.
    """
    if not settings.ENCRYPT_RECORDS:
        return dict
    return store.begin(partial(_obtain_keys, [id_.bytes, *texts], texts))


def seal_body(key: DataKey, id_: UUID, body: bytes) -> bytes:
    """Return the body of the assembly encrypted."""
    return seal(key, BODY + id_.bytes, body)


def read_body(id_: UUID, sealed: bytes, key: DataKey | None = None) -> bytes:
    """Return the body that was encrypted for the assembly; without `key`, it is fetched.

    Raises RecordErased, KeyStoreUnavailable, and DecryptionFailed if the body was changed.
    """
    if key is None:
        name = body_key_name(id_, sealed)
        found = store.fetch([name])[name]
        if isinstance(found, DestroyedKey):
            raise RecordErased.of_record(found.destroyed_at)
        key = found
    return unseal(key, BODY + id_.bytes, sealed)


def body_key_name(id_: UUID, sealed: bytes) -> KeyName:
    """Return the name of the key of an encrypted body."""
    return KeyName(id_.bytes, generation_of(sealed))


def load_body_keys(bodies: Iterable[tuple[UUID, bytes]]) -> None:
    """Fetch the keys of these encrypted bodies together, so that reading them soon asks for none."""
    store.fetch([body_key_name(id_, sealed) for id_, sealed in bodies])
