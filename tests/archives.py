"""Archives as tests make, read and edit them."""

from collections.abc import Callable
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from memories.archive.sections import ExportScope, entries_of
from memories.archive.zip_file import build_zip


def zipped(scope: ExportScope) -> bytes:
    """The zip of the scope."""
    with build_zip(entries_of(scope)) as file:
        return file.read()


def texts_in(archive: bytes) -> dict[str, bytes]:
    """What the zip holds, by names."""
    with ZipFile(BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def packed(texts: dict[str, Any]) -> bytes:
    """A zip of these texts, as any program makes one."""
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return file.getvalue()


def edited(archive: bytes, name: str, edit: Callable[[str], str]) -> bytes:
    """The zip with one of its texts changed."""
    texts: dict[str, Any] = texts_in(archive)
    texts[name] = edit(texts[name].decode())
    return packed(texts)
