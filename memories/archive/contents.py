"""The contents of an archive, whether a zip or a folder, are file names with slashes and the bytes of each file."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from memories.imports.base import ImportRefused, decode_text
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

MAX_ENTRIES = 20_000
MAX_TOTAL_BYTES = 200_000_000
"""The limit of the unpacked size of all files together."""
MAX_NAME_CHARACTERS = 700
MAX_WRAPPER_FOLDERS = 3
"""The number of nested folders around the whole archive that are ignored, as GitHub and file managers add them."""
SYSTEM_FILES = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True)
class ArchiveContents:
    """The files of an archive: sorted names, a function that reads a file, and the total size in bytes (`size`)."""

    names: tuple[str, ...]
    read: Callable[[str], bytes]
    size: int

    def has_folder(self, folder: str) -> bool:
        """Return whether the folder has a file."""
        place = bisect_left(self.names, f"{folder}/")
        return place < len(self.names) and self.names[place].startswith(f"{folder}/")

    def text(self, name: str, most: int = MAX_FILE_CHARACTERS) -> str:
        """Return the file's text, of at most `most` characters. Raises UnreadableText, and ImportRefused for a damaged
        file.
        """
        return decode_text(self.read(name), name, most)


def contents_of(sizes: Mapping[str, int], read: Callable[[str], bytes], known: Iterable[str]) -> ArchiveContents:
    """Return the contents of an archive, with the names relative to the innermost folder that encloses all files.

    `sizes` holds the bytes of each file by name; `known` are the top-level folders of an archive, which are not
    removed. Raises ImportRefused for unsafe, repeated or too many names.
    """
    inner = {_normalise_name(name): name for name in _without_system_files(sizes)}
    for _ in range(MAX_WRAPPER_FOLDERS):
        tops = {name.partition("/")[0] for name in inner}
        if len(tops) != 1 or tops & set(known) or not all("/" in name for name in inner):
            break
        inner = {name.partition("/")[2]: outer for name, outer in inner.items()}
    return ArchiveContents(tuple(sorted(inner)), lambda name: read(inner[name]), sum(sizes.values()))


def _without_system_files(names: Iterable[str]) -> list[str]:
    """Return the names without files that file managers add. Raises ImportRefused for equal or too many names."""
    own = [name for name in names if not any(part in SYSTEM_FILES for part in name.replace("\\", "/").split("/"))]
    if len(own) > MAX_ENTRIES:
        raise too_many_files_error()
    seen = dict[str, str]()
    for name in own:
        like = _normalise_name(name).casefold()
        if like in seen:
            raise ImportRefused(f"“{printable_name(name)}” is in the archive twice. Remove one of them.")
        seen[like] = name
    return own


def _normalise_name(name: str) -> str:
    """Return the name with slashes. Raises ImportRefused for a name that leaves the archive or cannot be displayed."""
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
    """Return the name for an error message: at most 80 characters, with unprintable ones escaped."""
    return name[:80].encode("unicode_escape").decode() if not name.isprintable() else name[:80]


def too_many_files_error() -> ImportRefused:
    return ImportRefused(f"There are more than {MAX_ENTRIES:,} files in it. Import a part of it at a time.")


def archive_too_large_error() -> ImportRefused:
    size = MAX_TOTAL_BYTES // 1_000_000
    return ImportRefused(f"Unpacked, it would be larger than {size:,} MB. Import a part of it at a time.")
