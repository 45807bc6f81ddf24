"""These functions return the texts of an item for which levels of detail are stored: the texts that its sources offer.

A level belongs to the text of a candidate, so these texts must equal those of the candidates. Of a document, they are
its passages; of a memory, a file or a log, it is the whole text. Texts of other kinds are short, or are not stored; the
levels of these are derived when a context needs them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Length

from agents.models import AgentFile, DailyLog
from assembly.engine.item_formats import format_chunk
from memories.models import Chunk, Document, Memory
from teams.models import TeamFile

STORED_CHARACTERS = 400
"""The least characters of a text whose levels are stored: those of a shorter text are derived as fast as found."""


@dataclass(frozen=True, slots=True)
class LevelledKind:
    """A kind of items with stored levels: its table, the column with the text, and how its texts are offered."""

    model: Any
    column: str
    texts: Callable[[Any], Iterable[str]]

    def long_rows(self) -> QuerySet[Any]:
        """Return the rows whose text may have stored levels."""
        rows: QuerySet[Any] = self.model._default_manager.all()  # noqa: SLF001 - Django's documented name
        long: QuerySet[Any] = rows.annotate(characters=Length(self.column)).filter(characters__gte=STORED_CHARACTERS)
        return long


def _passages(document: Document) -> list[str]:
    chunks = Chunk.objects.filter(document=document).order_by("position").values_list("line", "text")
    return [format_chunk(path=document.path, line=line, text=text) for line, text in chunks]


LEVELLED_KINDS: Mapping[str, LevelledKind] = {
    "memory": LevelledKind(Memory, "text", lambda row: [row.text]),
    "document": LevelledKind(Document, "content", _passages),
    "agent_file": LevelledKind(AgentFile, "content", lambda row: [row.content]),
    "team_file": LevelledKind(TeamFile, "content", lambda row: [row.content]),
    "daily_log": LevelledKind(DailyLog, "content", lambda row: [row.content]),
}
"""The kinds of items with stored levels, by the prefix of their refs."""


def is_long(row: Any) -> bool:
    """Return whether the row may have stored levels."""
    kind = levelled_kind_of(type(row))
    return kind is not None and len(getattr(row, LEVELLED_KINDS[kind].column)) >= STORED_CHARACTERS


def levelled_kind_of(model: type[Any]) -> str | None:
    """Return the name of the kind of the model's rows; None if their levels are not stored."""
    return next((name for name, kind in LEVELLED_KINDS.items() if kind.model is model), None)


def stored_texts_of(kind: str, id_: UUID) -> list[str] | None:
    """Return the texts of the item whose levels are stored, each once; None if the item does not exist."""
    row = LEVELLED_KINDS[kind].model._default_manager.filter(id=id_).first()  # noqa: SLF001 - as above
    if row is None:
        return None
    return list(dict.fromkeys(text for text in LEVELLED_KINDS[kind].texts(row) if len(text) >= STORED_CHARACTERS))
