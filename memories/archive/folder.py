"""Archives can be written to and read from folders, with the same contents as a zip."""

import os
from collections.abc import Iterable
from pathlib import Path

from memories.archive.contents import MAX_TOTAL_BYTES, ArchiveContents, archive_too_large_error, contents_of
from memories.archive.sections import ArchiveEntry
from memories.imports.base import ImportRefused, check_within


def write_folder(entries: Iterable[ArchiveEntry], folder: Path) -> int:
    """Write the entries into the folder, which is created if necessary, and return their number.

    Other files in the folder remain.
    """
    count = 0
    for entry in entries:
        path = folder / entry.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(entry.pieces)
        count += 1
    return count


def read_folder(folder: Path, known: Iterable[str]) -> ArchiveContents:
    """Return the contents of the folder, without hidden files. Raises ImportRefused."""
    if not folder.is_dir():
        raise ImportRefused(f"{folder} is not a folder or a zip; name the one that was exported.")
    paths = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    for name, path in paths.items():
        check_within(folder, path, name)
    sizes = {name: path.stat().st_size for name, path in paths.items()}
    if sum(sizes.values()) > MAX_TOTAL_BYTES:
        raise archive_too_large_error()
    return contents_of(sizes, lambda name: (folder / name).read_bytes(), known)


def _files(folder: Path) -> Iterable[Path]:
    for place, folders, files in os.walk(folder, onerror=_raise_refused):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(files) if not name.startswith("."))


def _raise_refused(error: OSError) -> None:
    raise ImportRefused(f"{error.filename} cannot be listed ({error.strerror}); check that you may read it.") from None
