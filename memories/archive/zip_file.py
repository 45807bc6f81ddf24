"""Reading a zip that anybody may have made: everything is checked before anything is unpacked.

Archives as zips: the same entries give the same bytes, and only one piece of one entry is held at a time.

An archive as an answer: written to a temporary file first, so that what fails is told, then sent piece by piece.
"""

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO

from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase

from memories.archive.contents import MAX_ENTRIES, MAX_TOTAL_BYTES, Contents, contents_of, shown, too_large, too_many
from memories.archive.sections import Entry, Scope, entries_of
from memories.imports.base import ImportRefused

NO_ZIP = "This is no zip that can be read; perhaps it did not arrive whole. Make it anew and choose it again."
END = b"PK\x05\x06"
LONGEST_END = 65_557  # bytes: the record itself and its comment
MOST_BYTES_PER_ENTRY = 200
"""Of the list at the end of a zip. It is refused by its length, before a line of it is parsed."""
ENCRYPTED = 0x1
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


def zip_contents(data: bytes, known: Iterable[str]) -> Contents:
    """What the zip holds. `known` are the folders that an archive has at its top. Raises ImportRefused."""
    _check_list(data)
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, NotImplementedError, ValueError, UnicodeDecodeError, struct.error, OSError):
        raise ImportRefused(NO_ZIP) from None
    files = {entry.orig_filename: entry for entry in archive.infolist() if not entry.is_dir()}
    if len(archive.infolist()) > MAX_ENTRIES:
        raise too_many()
    if len(files) < sum(not entry.is_dir() for entry in archive.infolist()):
        raise ImportRefused("Two files in it have the same name, so nobody can tell which counts. Remove one of them.")
    for entry in files.values():
        _check(entry)
    sizes = {name: entry.file_size for name, entry in files.items()}
    if sum(sizes.values()) > MAX_TOTAL_BYTES:
        raise too_large()
    return contents_of(sizes, lambda name: _unpacked(archive, files[name]), known)


def _check_list(data: bytes) -> None:
    """Raises ImportRefused where the list of entries is too long to be parsed at all."""
    place = data.rfind(END, max(0, len(data) - LONGEST_END))
    if place < 0 or len(data) < place + 22:
        raise ImportRefused(NO_ZIP)
    entries, size = struct.unpack_from("<HI", data, place + 10)
    if entries > MAX_ENTRIES or size > MAX_ENTRIES * MOST_BYTES_PER_ENTRY:
        raise too_many()


def _check(entry: zipfile.ZipInfo) -> None:
    """Raises ImportRefused for an entry that is no plain file."""
    name = shown(entry.orig_filename)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if entry.flag_bits & ENCRYPTED:
        raise ImportRefused(f"“{name}” is protected by a password. Pack it without one and choose it again.")
    if kind not in {0, stat.S_IFREG}:
        raise ImportRefused(f"“{name}” is a link or no file at all. Put the file itself there and pack it again.")
    if entry.compress_type not in METHODS:
        raise ImportRefused(f"“{name}” is packed in a way that is not known here. Pack it as an ordinary zip.")


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of an entry: never more than it said, which was counted before."""
    try:
        with archive.open(entry) as unpacking:
            return unpacking.read(entry.file_size)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
        message = "is damaged. Make the zip anew and choose it again."
        raise ImportRefused(f"“{shown(entry.orig_filename)}” {message}") from None


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


PIECE_BYTES = 65_536
ZIP = "application/zip"


def download_of(scope: Scope) -> HttpResponseBase:
    """The zip of the scope, to be saved as a file."""
    return attached(zip_of(entries_of(scope)), f"{scope.name}.zip", ZIP)


def attached(file: IO[bytes], name: str, content_type: str) -> HttpResponseBase:
    """What the temporary file holds, to be saved under that name."""
    whole = file.read(IN_MEMORY_BYTES + 1)
    if len(whole) <= IN_MEMORY_BYTES:
        file.close()
        disposition = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return HttpResponse(whole, content_type=content_type, headers=disposition)
    file.seek(0)
    response = FileResponse(file, as_attachment=True, filename=name, content_type=content_type)
    response.block_size = PIECE_BYTES
    response["Cache-Control"] = "no-store"
    return response
