"""What an archive holds, wherever it lies: names with slashes, and the bytes behind them."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from memories.imports.base import ImportRefused, decode_text
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

MAX_ENTRIES = 20_000
MAX_TOTAL_BYTES = 200_000_000
"""Of all files together, unpacked."""
MAX_NAME_CHARACTERS = 700
MAX_WRAPPER_FOLDERS = 3
"""Folders around everything, as GitHub and file managers put them into a zip."""
SYSTEM_FILES = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True)
class ArchiveContents:
    """The names in an archive, in order, and how the bytes of one are read. `size`: of all files together, in bytes."""

    names: tuple[str, ...]
    read: Callable[[str], bytes]
    size: int

    def has_folder(self, folder: str) -> bool:
        """Whether a file lies in the folder."""
        place = bisect_left(self.names, f"{folder}/")
        return place < len(self.names) and self.names[place].startswith(f"{folder}/")

    def text(self, name: str, most: int = MAX_FILE_CHARACTERS) -> str:
        """The file's text, of at most so many characters. Raises NoText, and ImportRefused for what is damaged."""
        return decode_text(self.read(name), name, most)


def contents_of(sizes: Mapping[str, int], read: Callable[[str], bytes], known: Iterable[str]) -> ArchiveContents:
    """The contents under the names that they have in Dossier: without folders around all of them.

    `sizes` are the bytes of each file by its name. `known` are the folders that an archive has at its top.
    Raises ImportRefused.
    """
    inner = {_normalise_name(name): name for name in _without_system_files(sizes)}
    for _ in range(MAX_WRAPPER_FOLDERS):
        tops = {name.partition("/")[0] for name in inner}
        if len(tops) != 1 or tops & set(known) or not all("/" in name for name in inner):
            break
        inner = {name.partition("/")[2]: outer for name, outer in inner.items()}
    return ArchiveContents(tuple(sorted(inner)), lambda name: read(inner[name]), sum(sizes.values()))


def _without_system_files(names: Iterable[str]) -> list[str]:
    """The names without those that file managers add by themselves. Raises ImportRefused for two that are alike."""
    own = [name for name in names if not any(part in SYSTEM_FILES for part in name.replace("\\", "/").split("/"))]
    if len(own) > MAX_ENTRIES:
        raise too_many_files_error()
    seen = dict[str, str]()
    for name in own:
        like = _normalise_name(name).casefold()
        if like in seen:
            raise ImportRefused(
                f"“{printable_name(name)}” is there twice, so nobody can tell which counts. Remove one of them."
            )
        seen[like] = name
    return own


def _normalise_name(name: str) -> str:
    """The name with slashes. Raises ImportRefused for one that leads elsewhere or cannot be shown."""
    cleaned = name.replace("\\", "/").removeprefix("./")
    parts = cleaned.split("/")
    if cleaned.startswith("/") or ".." in parts or ":" in parts[0]:
        raise ImportRefused(
            f"“{printable_name(name)}” leads out of the archive. Nothing was read; use an archive you trust."
        )
    if len(name) > MAX_NAME_CHARACTERS or not cleaned.isprintable() or "" in parts or "." in parts:
        raise ImportRefused(f"“{printable_name(name)}” cannot be the name of a file here. Rename it and pack it again.")
    return cleaned


def printable_name(name: str) -> str:
    """The name as messages call it."""
    return name[:80].encode("unicode_escape").decode() if not name.isprintable() else name[:80]


def too_many_files_error() -> ImportRefused:
    return ImportRefused(f"There are more than {MAX_ENTRIES:,} files in it. Import a part of it at a time.")


def archive_too_large_error() -> ImportRefused:
    size = MAX_TOTAL_BYTES // 1_000_000
    return ImportRefused(f"Unpacked, it would be larger than {size:,} MB. Import a part of it at a time.")
