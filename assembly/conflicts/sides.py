"""People see both sides of a conflict: the texts as they are now, their authors, dates and confidence."""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from assembly.engine.refs import Ref
from assembly.models import Conflict, ConflictSide, text_hash
from memories.embeddings.active_model import SLOTS
from memories.models import Chunk, Document, Entity, FilePassage, Memory
from memories.models.file_passage import FILE_MODELS


@dataclass(frozen=True, slots=True)
class SideText:
    """One side as it is now. `owner` is the name of its agent or team; empty for the organisation.

    `is_current` says whether the text is still the one that was compared; `text` is empty if it is not there any more,
    and that of a passage also until the newest version of its file or document is split.
    `credibility` is 0 to 1, and None for texts that nobody rates. `path` is that of a document, or the file's key.
    """

    side: ConflictSide
    title: str
    text: str
    is_current: bool
    owner: str
    agent_slug: str
    team_slug: str
    author_ref: str
    author: str
    origin: str
    written: datetime.datetime | None
    credibility: float | None = None
    version: int | None = None
    key: str = ""
    """The key of a file; empty for other kinds."""


def side_texts(conflicts: Iterable[Conflict]) -> dict[UUID, tuple[SideText, SideText]]:
    """Return both sides of each conflict, by its id; at most two queries per kind of item."""
    known = list(conflicts)
    sides = [side for conflict in known for side in conflict.sides]
    rows = _load_rows(sides)
    passages = _load_passages(sides)
    found = {}
    for conflict in known:
        left, right = (_side_text(side, rows.get(side.item), passages) for side in conflict.sides)
        found[conflict.id] = (left, right)
    return found


PassageKey = tuple[UUID, int, int]
"""The id of a file or document, its version, and the position of a passage in it."""


def _load_rows(sides: Sequence[ConflictSide]) -> dict[UUID, Any]:
    """Return the rows that are versioned, by id."""
    models: Mapping[str, type[Any]] = {"memory": Memory, "entity": Entity, "chunk": Document, **FILE_MODELS}
    rows: dict[UUID, Any] = {}
    for kind in {side.kind for side in sides} & models.keys():
        model = models[kind]
        owners = [name for name in ("agent", "team") if any(field.name == name for field in model._meta.fields)]  # noqa: SLF001 - Django's documented introspection
        unread = [*SLOTS, "search"] if kind == "memory" else [*SLOTS] if kind == "entity" else []
        found = model._default_manager.select_related(*owners) if owners else model._default_manager.all()  # noqa: SLF001
        rows |= found.defer(*unread).in_bulk({side.item for side in sides if side.kind == kind})
    return rows


def _load_passages(sides: Sequence[ConflictSide]) -> dict[PassageKey, str]:
    """Return the texts of the passages of files and documents; a new version has some as soon as it is split."""
    files = {side.item for side in sides if side.kind in FILE_MODELS}
    documents = {side.item for side in sides if side.kind == "chunk"}
    texts: dict[PassageKey, str] = {}
    if files:
        names = ("file_id", "file_version", "position", "text")
        of_files = FilePassage.objects.filter(file_id__in=files).values_list(*names)
        texts |= {(item, version, position): text for item, version, position, text in of_files}
    if documents:
        names = ("document_id", "document_version", "position", "text")
        of_documents = Chunk.objects.filter(document_id__in=documents).values_list(*names)
        texts |= {(item, version, position): text for item, version, position, text in of_documents}
    return texts


def _side_text(side: ConflictSide, row: Any, passages: Mapping[PassageKey, str]) -> SideText:
    if row is None:
        return SideText(side, "", "", False, "", "", "", "", "", "", None)
    text = _text_of(side, row, passages)
    agent, team = (getattr(row, name, None) for name in ("agent", "team"))
    owner = agent or team
    return SideText(
        side=side,
        title=_title_of(row),
        text=text,
        is_current=text_hash(text) == side.sha256,
        owner=owner.name if owner else "",
        agent_slug=agent.slug if agent else "",
        team_slug=team.slug if team else "",
        author_ref=row.editor_ref,
        author=row.editor_name,
        origin=row.origin,
        written=next(_moments_of(row), None),
        credibility=getattr(row, "credibility", None),
        version=row.version,
        key=getattr(row, "file_key", ""),
    )


def _text_of(side: ConflictSide, row: Any, passages: Mapping[PassageKey, str]) -> str:
    if side.kind in {"memory", "entity"}:
        said: str = row.said
        return said
    part = Ref.parse(side.ref).part
    return passages.get((side.item, row.version, int(part or 0)), "")


def _title_of(row: Any) -> str:
    for name in ("title", "path", "file_key", "name", "kind"):
        if value := getattr(row, name, ""):
            return str(value)
    return ""


def _moments_of(row: Any) -> Iterator[datetime.datetime]:
    for name in ("occurred_at", "updated_at", "updated", "created"):
        if moment := getattr(row, name, None):
            yield moment
