"""Frozen texts are in files below the data folder, one per month, or in an S3-compatible store where one is configured.

Each text is encrypted under a key of its own, which is in the row alone: with the row the text is gone as well, though
its bytes remain in the file. Several texts are written together; a place names the file or object and the bytes in it.
"""

import base64
import datetime
import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID, uuid4

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from config.http.errors import DossierError
from memories.lifecycle.packing import pack, unpack

KEY_BYTES, NONCE = 16, bytes(12)  # a key encrypts one text, so the nonce need not differ

CONNECT_SECONDS, READ_SECONDS, TRIES = 2, 10, 2
"""The seconds that an S3-compatible store has for a connection and for an answer, and the number of attempts."""
READERS = 16
"""How many frozen texts are read at the same time in a process."""


class FrozenTextUnreachable(DossierError):
    """Raised where the file or the store with a frozen text cannot be read, or has other bytes than were written."""

    status = 503
    code = "frozen_text_unreachable"
    title = "A stored text cannot be read"


class FrozenStore(Protocol):
    """A store of bytes that are written once."""

    def append(self, month: str, data: bytes) -> tuple[str, int]:
        """Store the bytes durably; return the name of the file or object, and where in it they begin."""

    def read(self, name: str, start: int, length: int) -> bytes:
        """Return these bytes. Raises FrozenTextUnreachable."""


class FolderStore:
    """One file per month, to which texts are appended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def append(self, month: str, data: bytes) -> tuple[str, int]:
        """Append the bytes to the month's file, and wait until they are on disk."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"{month}.texts"
        with open(self.folder / name, "ab", opener=_private) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            start = file.seek(0, os.SEEK_END)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        return name, start

    def read(self, name: str, start: int, length: int) -> bytes:
        """Return these bytes of the file. Raises FrozenTextUnreachable."""
        try:
            with (self.folder / Path(name).name).open("rb") as file:
                file.seek(start)
                return file.read(length)
        except OSError as error:
            raise _unreachable("files", name) from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class ObjectStore:
    """A bucket of an S3-compatible store; texts that are frozen together are one object."""

    def __init__(self, client: Any, bucket: str) -> None:
        self.client, self.bucket = client, bucket

    def append(self, month: str, data: bytes) -> tuple[str, int]:
        """Store the bytes as an object of the month."""
        name = f"{month}/{uuid4()}"
        self.client.put_object(Bucket=self.bucket, Key=name, Body=data)
        return name, 0

    def read(self, name: str, start: int, length: int) -> bytes:
        """Return these bytes of the object. Raises FrozenTextUnreachable."""
        try:
            part = f"bytes={start}-{start + length - 1}"
            body = self.client.get_object(Bucket=self.bucket, Key=name, Range=part)["Body"]
            data: bytes = body.read()
        except Exception as error:  # boto3's errors are made at run time, and it is optional
            raise _unreachable("s3", name) from error
        return data


PLACES = {"files": "the folder of frozen texts", "s3": "the bucket of frozen texts"}


def _unreachable(store: str, name: str) -> FrozenTextUnreachable:
    where = f"“{name}” in {PLACES[store]}"
    return FrozenTextUnreachable(f"The text is stored in {where}, which cannot be read now. Try again later.")


def store_named(name: str) -> FrozenStore:
    """Return the store of this name, `files` or `s3`."""
    return FolderStore(settings.FROZEN_FOLDER) if name == "files" else _object_store(*_s3_settings())


def _s3_settings() -> tuple[str, str, str]:
    return settings.FROZEN_S3_BUCKET, settings.FROZEN_S3_ENDPOINT, settings.FROZEN_S3_REGION


@cache
def _object_store(bucket: str, endpoint: str, region: str) -> ObjectStore:
    import boto3  # type: ignore[import-untyped]  # noqa: PLC0415 - an optional dependency
    from botocore.config import Config  # type: ignore[import-untyped]  # noqa: PLC0415 - comes with it

    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": TRIES, "mode": "standard"},
        max_pool_connections=READERS,
    )
    client = boto3.client("s3", endpoint_url=endpoint or None, region_name=region or None, config=config)
    return ObjectStore(client, bucket)


def freeze(texts: Sequence[str], now: datetime.datetime) -> list[dict[str, Any]]:
    """Store the texts durably, together, and return for each what its row keeps: hash, size, key and place."""
    store = "s3" if settings.FROZEN_S3_BUCKET else "files"
    kept, data = [], bytearray()
    for text in texts:
        key, octets = secrets.token_bytes(KEY_BYTES), text.encode()
        sealed = AESGCM(key).encrypt(NONCE, pack(text), None)
        kept.append(
            {
                "sha256": hashlib.sha256(octets).hexdigest(),
                "bytes": len(octets),
                "key": base64.b64encode(key).decode(),
                "start": len(data),
                "length": len(sealed),
            }
        )
        data += sealed
    if not kept:
        return []
    name, start = store_named(store).append(f"{now:%Y-%m}", bytes(data))
    return [{**one, "store": store, "name": name, "start": start + one["start"]} for one in kept]  # type: ignore[operator]


FrozenTexts = dict[tuple[UUID, int, int], str]
"""What rows keep of frozen texts, as JSON, by id, version and sensitivity."""


def freeze_once(
    keys: Sequence[tuple[UUID, int, int]], texts: Sequence[str], now: datetime.datetime, known: FrozenTexts | None
) -> list[str]:
    """Store the texts that are not known, which become known, and return for each what its row keeps."""
    known = {} if known is None else known
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    known |= dict(zip(new, map(json.dumps, freeze([*new.values()], now)), strict=True))
    return [known[key] for key in keys]


def thaw(frozen: Mapping[str, Any]) -> str:
    """Return a frozen text. Raises FrozenTextUnreachable, also where its bytes are not those that were written."""
    sealed = store_named(frozen["store"]).read(frozen["name"], frozen["start"], frozen["length"])
    try:
        text = unpack(AESGCM(base64.b64decode(frozen["key"])).decrypt(NONCE, sealed, None))
    except InvalidTag as error:
        raise _unreachable(frozen["store"], frozen["name"]) from error
    if hashlib.sha256(text.encode()).hexdigest() != frozen["sha256"]:
        raise _unreachable(frozen["store"], frozen["name"])
    return text
