"""These functions return the texts of an item for which levels of detail are stored: the texts that its sources offer.

A level belongs to the text of a candidate for a section of blocks, so these texts must equal those of the candidates: a
memory as a whole, the passages of documents, files and logs. Texts of other kinds are short, or are not stored; the
levels of these are derived when a context needs them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Length

from agents.models import AgentFile, DailyLog
from assembly.engine.item_formats import format_chunk
from assembly.sources.file_passages import format_file_passage
from memories.embeddings.file_splitting import WHOLE_KEYS
from memories.embeddings.splitting import split_text
from memories.models import Chunk, Document, Memory
from memories.models.file_passage import FILE_KINDS
from teams.models import OrganisationFile, TeamFile
from teams.versioned_text.versioned_file import VersionedFile

STORED_CHARACTERS = 200
"""The least characters of a text whose levels are stored: a shorter text rarely has enough tokens for any."""


class OfferedText(NamedTuple):
    """A text of an item as its source offers it, and the line on which it begins; None for the whole item."""

    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class LevelledKind:
    """A kind of items with stored levels: its table, the column with the text, and how its texts are offered."""

    model: Any
    column: str
    texts: Callable[[Any], Sequence[OfferedText]]

    def long_rows(self) -> QuerySet[Any]:
        """Return the rows whose text may have stored levels."""
        rows: QuerySet[Any] = self.model._default_manager.all()  # noqa: SLF001 - Django's documented name
        is_long = Q(characters__gte=STORED_CHARACTERS) | Q((f"{self.column}__isnull", True))  # NULL: packed, so long
        long: QuerySet[Any] = rows.annotate(characters=Length(self.column)).filter(is_long)
        return long


def _of_memory(memory: Memory) -> list[OfferedText]:
    return [OfferedText(memory.text)]


def _of_document(document: Document) -> list[OfferedText]:
    chunks = Chunk.objects.filter(document=document).order_by("position").values_list("line", "text")
    return [OfferedText(format_chunk(path=document.path, line=line, text=text), line) for line, text in chunks]


def _of_file(file: VersionedFile) -> list[OfferedText]:
    """Return the passages, as they are stored or will be; none of a file that contexts have whole."""
    if isinstance(file, AgentFile) and file.file_key in WHOLE_KEYS:
        return []
    kind = FILE_KINDS[type(file)]
    title = file.date.isoformat() if isinstance(file, DailyLog) else getattr(file, "title", "")
    return [
        OfferedText(format_file_passage(kind, title=title, line=piece.line, text=piece.text), piece.line)
        for piece in split_text(path="", language="markdown", text=file.content)
    ]


LEVELLED_KINDS: Mapping[str, LevelledKind] = {
    "memory": LevelledKind(Memory, "text", _of_memory),
    "document": LevelledKind(Document, "content", _of_document),
    "agent_file": LevelledKind(AgentFile, "content", _of_file),
    "team_file": LevelledKind(TeamFile, "content", _of_file),
    "organisation_file": LevelledKind(OrganisationFile, "content", _of_file),
    "daily_log": LevelledKind(DailyLog, "content", _of_file),
}
"""The kinds of items with stored levels, by the prefix of their refs."""


def levelled_kind_of(model: type[Any]) -> str | None:
    """Return the name of the kind of the model's rows; None if their levels are not stored."""
    return next((name for name, kind in LEVELLED_KINDS.items() if kind.model is model), None)


def is_long(row: Any) -> bool:
    """Return whether the row may have stored levels."""
    kind = levelled_kind_of(type(row))
    return kind is not None and len(getattr(row, LEVELLED_KINDS[kind].column)) >= STORED_CHARACTERS


def offered_texts(row: Any) -> Sequence[OfferedText]:
    """Return the texts of the row that its sources offer as blocks; none of a kind without stored levels."""
    kind = levelled_kind_of(type(row))
    return LEVELLED_KINDS[kind].texts(row) if kind else ()


def stored_texts_of(kind: str, id_: UUID) -> list[str] | None:
    """Return the texts of the item whose levels are stored, each once; None if the item does not exist."""
    row = LEVELLED_KINDS[kind].model._default_manager.filter(id=id_).first()  # noqa: SLF001 - as above
    if row is None:
        return None
    return list(dict.fromkeys(one.text for one in offered_texts(row) if len(one.text) >= STORED_CHARACTERS))
