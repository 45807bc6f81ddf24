"""This module reads archives from zips of unknown origin, writes them as zips, and sends them as downloads.

Before anything is unpacked, a zip is checked. The same entries give the same bytes of a zip, and only one piece of one
entry is in memory at a time.
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

from memories.archive.contents import (
    MAX_ENTRIES,
    MAX_TOTAL_BYTES,
    ArchiveContents,
    archive_too_large_error,
    contents_of,
    printable_name,
    too_many_files_error,
)
from memories.archive.sections import ArchiveEntry, ExportScope, entries_of
from memories.archive.unreadable_texts import whole_exports
from memories.imports.base import ImportRefused
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction

NOT_A_ZIP = "This file is not a valid zip. Create it again and choose it again."
END_RECORD = b"PK\x05\x06"
MAX_END_BYTES = 65_557  # the record itself and its comment
MAX_BYTES_PER_ENTRY = 200
"""The limit of bytes per entry of a zip's directory. A longer directory is refused before it is parsed."""
ENCRYPTED = 0x1
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


def read_zip(data: bytes, known: Iterable[str]) -> ArchiveContents:
    """Return the contents of the zip. `known` are the top-level folders of an archive. Raises ImportRefused."""
    _check_entry_list(data)
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, NotImplementedError, ValueError, UnicodeDecodeError, struct.error, OSError):
        raise ImportRefused(NOT_A_ZIP) from None
    files = {entry.orig_filename: entry for entry in archive.infolist() if not entry.is_dir()}
    if len(archive.infolist()) > MAX_ENTRIES:
        raise too_many_files_error()
    if len(files) < sum(not entry.is_dir() for entry in archive.infolist()):
        raise ImportRefused("Two files in it have the same name. Remove one of them.")
    for entry in files.values():
        _check(entry)
    sizes = {name: entry.file_size for name, entry in files.items()}
    if sum(sizes.values()) > MAX_TOTAL_BYTES:
        raise archive_too_large_error()
    return contents_of(sizes, lambda name: _unpack(archive, files[name]), known)


def _check_entry_list(data: bytes) -> None:
    """Raise ImportRefused where the zip's directory is missing, or too long to be parsed."""
    place = data.rfind(END_RECORD, max(0, len(data) - MAX_END_BYTES))
    if place < 0 or len(data) < place + 22:
        raise ImportRefused(NOT_A_ZIP)
    entries, size = struct.unpack_from("<HI", data, place + 10)
    if entries > MAX_ENTRIES or size > MAX_ENTRIES * MAX_BYTES_PER_ENTRY:
        raise too_many_files_error()


def _check(entry: zipfile.ZipInfo) -> None:
    """Raise ImportRefused for an entry that is encrypted, no plain file, or packed by an unknown method."""
    name = printable_name(entry.orig_filename)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if entry.flag_bits & ENCRYPTED:
        raise ImportRefused(f"“{name}” is protected by a password. Pack it without one and choose it again.")
    if kind not in {0, stat.S_IFREG}:
        raise ImportRefused(f"“{name}” is a link or no file at all. Put the file itself there and pack it again.")
    if entry.compress_type not in METHODS:
        raise ImportRefused(f"“{name}” is packed in a way that is not known here. Pack it as an ordinary zip.")


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the bytes of an entry, never more than its stated size, which was counted before. Raises ImportRefused."""
    try:
        with archive.open(entry) as unpacking:
            return unpacking.read(entry.file_size)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
        message = "is damaged. Create the zip again and choose it again."
        raise ImportRefused(f"“{printable_name(entry.orig_filename)}” {message}") from None


IN_MEMORY_BYTES = 2_000_000
"""The size from which a zip is written to a temporary file."""
COMPRESSION_LEVEL = 6
EARLIEST_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold; it is used for all entries, so that equal data gives equal bytes."""
UNIX = 3
PLAIN_FILE = 0o100644 << 16


def build_zip(entries: Iterable[ArchiveEntry]) -> IO[bytes]:
    """Return a temporary file with the zip, positioned at its beginning; closing the file deletes it."""
    file = _temporary_file()
    write_zip(entries, file)
    file.seek(0)
    return file


def _temporary_file() -> IO[bytes]:
    return SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)


def write_zip(entries: Iterable[ArchiveEntry], file: IO[bytes]) -> int:
    """Write the zip into the file, and return the number of entries."""
    count = 0
    with zipfile.ZipFile(file, "w") as archive:
        for entry in entries:
            with archive.open(_zip_info(entry.name), "w") as packing:
                for piece in entry.pieces:
                    packing.write(piece.encode())
            count += 1
    return count


def _zip_info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, EARLIEST_TIME)
    info.compress_type, info._compresslevel = zipfile.ZIP_DEFLATED, COMPRESSION_LEVEL  # type: ignore[attr-defined]  # noqa: SLF001
    info.create_system, info.external_attr = UNIX, PLAIN_FILE
    return info


CHUNK_BYTES = 65_536
ZIP = "application/zip"


def zip_download(scope: ExportScope) -> HttpResponseBase:
    """Return a response that downloads the zip of the scope. Raises FrozenTextUnreachable if texts would be missing."""
    of = [] if scope.organisation else [team.id for team in scope.teams]
    name, file = f"{scope.name}.zip", _temporary_file()
    try:
        with whole_exports(scope):
            detail = {"files": write_zip(entries_of(scope), file)}
    except BaseException:
        file.close()
        raise
    file.seek(0)
    activity_record(scope.principal, ActivityAction.EXPORT_DOWNLOADED, name, team_ids=of, detail=detail)
    return file_response(file, name, ZIP)


def file_response(file: IO[bytes], name: str, content_type: str) -> HttpResponseBase:
    """Return a response that downloads the content of the temporary file under this name."""
    whole = file.read(IN_MEMORY_BYTES + 1)
    if len(whole) <= IN_MEMORY_BYTES:
        file.close()
        disposition = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return HttpResponse(whole, content_type=content_type, headers=disposition)
    file.seek(0)
    response = FileResponse(file, as_attachment=True, filename=name, content_type=content_type)
    response.block_size = CHUNK_BYTES
    response["Cache-Control"] = "no-store"
    return response
