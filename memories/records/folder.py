"""A folder of records, read whole and checked, before anything is stored.

sessions.jsonl tasks.jsonl events.jsonl           one JSON object per line (see kinds)
entities.jsonl relations.jsonl patterns.jsonl
threads.jsonl tools.jsonl
documents/                                        text files, each a document by its path below (see documents)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memories.importing import MAX_LINES_CHARACTERS, ImportRefused, text_within
from memories.records.documents import DOCUMENT_FOLDER, documents_in, printable
from memories.records.kinds import KINDS
from memories.records.reading import Record, records_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """What a folder holds. `lines` are by the names of their kinds; `left_aside` names what is no part of it."""

    lines: Mapping[str, Sequence[Record]]
    documents: Sequence[Record] = ()
    left_aside: Sequence[str] = ()

    @property
    def size(self) -> int:
        """How many lines and documents there are."""
        return sum(map(len, self.lines.values())) + len(self.documents)


def records_read(folder: Path) -> Records:
    """Everything in the folder, checked. Raises ImportRefused for whatever could not be stored."""
    if not folder.is_dir():
        raise ImportRefused(f"{folder} is not a folder; name the folder that holds events.jsonl and the other files.")
    kinds = {kind.file: kind for kind in KINDS}
    lines: dict[str, Sequence[Record]] = {kind.noun.name: () for kind in KINDS}
    documents, aside = list[Record](), list[str]()
    for path in _listed(folder):
        name = printable(path.name)
        if kind := kinds.get(path.name):
            lines[kind.noun.name] = list(records_of(kind, text_within(folder, path, name, MAX_LINES_CHARACTERS)))
        elif path.name == DOCUMENT_FOLDER and path.is_dir():
            documents, passed_over = documents_in(folder)
            aside += passed_over
        else:
            aside.append(name)
    return Records(lines=lines, documents=documents, left_aside=aside)


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise ImportRefused(f"{folder} cannot be listed ({error.strerror}); check that you may read it.") from None
