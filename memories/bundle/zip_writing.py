"""Archives as zips: the same entries give the same bytes, and only one piece of one entry is held at a time."""

import zipfile
from collections.abc import Iterable
from tempfile import SpooledTemporaryFile
from typing import IO

from memories.bundle.rooms import Entry

IN_MEMORY_BYTES = 2_000_000
"""A larger zip goes to a temporary file."""
LEVEL = 6
NO_TIME = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip can name: when it was made is nothing that it holds."""
UNIX = 3
PLAIN_FILE = 0o100644 << 16


def zip_of(entries: Iterable[Entry]) -> IO[bytes]:
    """A temporary file with the zip, at its beginning; who closes it removes it."""
    file: IO[bytes] = SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115
    zip_write(entries, file)
    file.seek(0)
    return file


def zip_write(entries: Iterable[Entry], file: IO[bytes]) -> int:
    """Write the zip into the file. Returns how many entries there were."""
    count = 0
    with zipfile.ZipFile(file, "w") as archive:
        for entry in entries:
            with archive.open(_described(entry.name), "w") as packing:
                for piece in entry.pieces:
                    packing.write(piece.encode())
            count += 1
    return count


def _described(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, NO_TIME)
    info.compress_type, info._compresslevel = zipfile.ZIP_DEFLATED, LEVEL  # type: ignore[attr-defined]  # noqa: SLF001
    info.create_system, info.external_attr = UNIX, PLAIN_FILE
    return info
