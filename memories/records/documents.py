"""The text files of a project's folder, each a document by its path below that folder."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from memories.api.documents import MAX_CONTENT_CHARACTERS, DocumentCreateSerializer
from memories.importing import ImportRefused, NoText, check_within, text_within
from memories.records.reading import Record, checked
from memories.splitting import LANGUAGE_OF

DOCUMENT_FOLDER = "documents"


def documents_in(folder: Path) -> tuple[list[Record], list[str]]:
    """The records of the folder's documents, and the names of what is left aside: hidden, or no text that can be kept.

    Raises ImportRefused for links that leave the folder and paths that cannot be stored.
    """
    serializer = DocumentCreateSerializer()
    records, aside = list[Record](), list[str]()
    for path, name in _files(folder, folder / DOCUMENT_FOLDER, aside):
        try:
            content = text_within(folder, path, name, MAX_CONTENT_CHARACTERS)
        except NoText:
            aside.append(name)
            continue
        below = path.relative_to(folder / DOCUMENT_FOLDER).as_posix()
        said = {"path": below, "language": language_of(below), "content": content}
        records.append(Record(name, checked(serializer, said, name)))
    return records, aside


def language_of(path: str) -> str:
    """The language of a file as its ending tells it; "" for one that is not known."""
    return LANGUAGE_OF.get(PurePosixPath(path).suffix.removeprefix(".").lower(), "")


def printable(name: str) -> str:
    """The name as messages call it, also where the file system holds bytes that are no text."""
    return name.encode(errors="backslashreplace").decode()


def _files(folder: Path, root: Path, aside: list[str]) -> Iterator[tuple[Path, str]]:
    """All files below, with the names that messages use, in order. Hidden ones and links to folders go aside."""
    check_within(folder, root, DOCUMENT_FOLDER)
    for place, folders, files in os.walk(root, onerror=_refuse):
        folders.sort()
        for name in [*folders]:
            path = Path(place, name)
            shown = printable(path.relative_to(folder).as_posix())
            if name.startswith("."):
                aside.append(f"{shown}/")
                folders.remove(name)
            elif path.is_symlink():
                check_within(folder, path, shown)
                aside.append(f"{shown}/")  # what it leads to is here already
        for name in sorted(files):
            path = Path(place, name)
            shown = printable(path.relative_to(folder).as_posix())
            if name.startswith("."):
                aside.append(shown)
            else:
                yield path, shown


def _refuse(error: OSError) -> None:
    raise ImportRefused(f"{error.filename} cannot be listed ({error.strerror}); check that you may read it.") from None
