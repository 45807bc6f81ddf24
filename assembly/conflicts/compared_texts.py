"""The texts that are compared for conflicts, as they are stored now.

A memory and an entity are one text each; a file or document has a text per passage. Daily logs and events say what was
at some time, code and the files that say who an agent is make no statements: none of them is compared.
"""

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from agents.models import AgentFile
from assembly.conflicts.detection.nearness import may_share_subject
from assembly.engine.refs import Ref
from assembly.models import Conflict, text_hash
from config.db.statements import fetch_rows
from memories.embeddings.active_model import SLOTS, EmbeddingModel, read_active_model
from memories.embeddings.file_splitting import file_split
from memories.embeddings.indexing import document_split
from memories.embeddings.splitting import is_code
from memories.models import Chunk, Document, Entity, FilePassage, Memory
from memories.search.languages import DEFAULT
from teams.models import OrganisationFile, TeamFile
from teams.sensitivity import DEFAULT_LEVEL

MAX_PASSAGES = 100
"""The most passages of one item that are compared, the first ones."""
COMPARED_FILES = ("agent_file", "team_file", "organisation_file")

MODELS: Mapping[str, type[Any]] = {
    "memory": Memory,
    "agent_file": AgentFile,
    "team_file": TeamFile,
    "organisation_file": OrganisationFile,
    "document": Document,
    "entity": Entity,
}
"""The models whose rows are compared, by kind."""
KINDS: Mapping[type[Any], str] = {model: kind for kind, model in MODELS.items()}


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text with its ref, the id of the row that is versioned, its owner (neither: the organisation)."""

    ref: str
    item: UUID
    text: str
    agent_id: UUID | None
    team_id: UUID | None
    date: datetime.date | None = None
    """The day of which the text speaks, if somebody named it; when it was written says nothing about that."""
    vector: str | None = None
    """The vector of a text whose nearest are to be found, as PostgreSQL writes it."""
    similarity: float = 1.0
    """The cosine with the text to which it is near."""
    language: str = ""
    """The text search configuration of the text's words; empty for a text by whose words none are searched for."""
    names: frozenset[str] = frozenset()
    """The names of an entity in lower case; no names for other texts."""

    @property
    def sha256(self) -> bytes:
        """The SHA-256 of the text."""
        return text_hash(self.text)

    def shares_subject(self, other: "ComparedText") -> bool:
        """Return whether the texts may be about the same thing, as far as the names of entities tell."""
        return may_share_subject(self.text, self.names, other.text, other.names)


LEVEL_SQL = "SELECT greatest(%s, sensitivity_of(%s), sensitivity_of(%s))"
LOCK_SQL = "SELECT version FROM {table} WHERE id = %s FOR KEY SHARE SKIP LOCKED"


def conflict_between(left: ComparedText, right: ComparedText, **values: Any) -> Conflict:
    """Return an unsaved conflict of the texts, owned by both and as sensitive as both, with these further values."""
    ((level,),) = fetch_rows(LEVEL_SQL, [DEFAULT_LEVEL, left.item, right.item])
    return Conflict(
        sensitivity=level,
        agent_id=left.agent_id or right.agent_id,
        team_id=left.team_id or right.team_id,
        of_organisation=not all(one.agent_id or one.team_id for one in (left, right)),
        left_ref=left.ref,
        left_item=left.item,
        left_sha256=left.sha256,
        right_ref=right.ref,
        right_item=right.item,
        right_sha256=right.sha256,
        **values,
    )


def conflicts_between(left: ComparedText, right: ComparedText) -> QuerySet[Conflict]:
    """Return the stored conflict of the texts: one or none."""
    return Conflict.objects.filter(
        left_item=left.item, left_sha256=left.sha256, right_item=right.item, right_sha256=right.sha256
    )


def texts_of(kind: str, id_: UUID) -> list[ComparedText] | None:
    """Return the current texts of the item that are compared, with vectors; None if it does not exist.

    A file or document without passages of its current version is split first.
    """
    row = _row_of(kind, id_)
    if row is None:
        return None
    read, space = _READERS.get(kind), read_active_model()
    return read(row, space) if read else _passage_texts(row, _passages(row)[:MAX_PASSAGES], space)


def refs_of(kind: str, id_: UUID, compared: Sequence[ComparedText]) -> dict[bytes, str]:
    """Return the refs of all current texts of the item by their SHA-256: of those that are compared, and of a long
    file or document, those of the other passages, too.
    """
    has_more = kind not in _READERS and len(compared) == MAX_PASSAGES
    row = _row_of(kind, id_) if has_more else None
    if row is None:
        return {text.sha256: text.ref for text in compared}
    passages = _passages(row).defer(*SLOTS, "search").iterator(chunk_size=MAX_PASSAGES)
    return {text_hash(passage.text): passage.ref for passage in passages}


def text_at(ref: str) -> ComparedText | None:
    """Return the current text of the ref's item, with its vector: that of the passage at the ref's position.

    Returns None if there is none, or if the item is archived or superseded.
    """
    named = Ref.parse(ref)
    kind = _kind_of(named)
    row = _row_of(kind, UUID(named.id))
    if row is None:
        return None
    read, space = _READERS.get(kind), read_active_model()
    found = read(row, space) if read else _passage_texts(row, _passages(row).filter(position=named.part or 0), space)
    return found[0] if found else None


def lock_current(text: ComparedText) -> bool:
    """Return whether the item has still this text; until the transaction ends, the item is not deleted then.

    An item whose deletion has begun counts as deleted: waiting for its transaction, which deletes the conflicts, too,
    would be a deadlock.
    """
    named = Ref.parse(text.ref)
    model = MODELS[_kind_of(named)]
    held = fetch_rows(LOCK_SQL.format(table=model._meta.db_table), [text.item])  # noqa: SLF001 - Django's documented name
    if named.part:  # a passage belongs to one version of its file or document
        return [version for (version,) in held] == [named.number]
    row = _row_of(_kind_of(named), text.item) if held else None
    return row is not None and text_hash(row.said) == text.sha256


def _kind_of(ref: Ref) -> str:
    return "document" if ref.kind == "chunk" else ref.kind


def _row_of(kind: str, id_: UUID) -> Any:
    return MODELS[kind]._default_manager.filter(id=id_).first()  # noqa: SLF001 - Django's documented name


def memory_texts(memory: Memory, space: EmbeddingModel) -> list[ComparedText]:
    """Return the text of a memory with its vector of this model; none of one that is archived or superseded."""
    if not memory.stands:
        return []
    day = memory.occurred_at.date() if memory.occurred_at else None
    vector = _vector(memory, space)
    return [
        ComparedText(
            memory.ref, memory.id, memory.text, memory.agent_id, memory.team_id, day, vector, language=memory.language
        )
    ]


def entity_texts(entity: Entity, space: EmbeddingModel) -> list[ComparedText]:
    """Return what an entity says about itself, with its vector of this model."""
    vector = _vector(entity, space)
    names = frozenset(entity.names)
    return [
        ComparedText(
            entity.ref, entity.id, entity.said, entity.agent_id, None, None, vector, language=DEFAULT, names=names
        )
    ]


def _passages(row: Any) -> QuerySet[Any]:
    """Return the passages of the file or document in order, split before if need be; none of code."""
    if not isinstance(row, Document):
        kind = KINDS[type(row)]
        file_split(kind=kind, id_=row.id)
        return FilePassage.objects.filter(file_id=row.id, file_kind=kind).order_by("position")
    if is_code(path=row.path, language=row.language):
        return Chunk.objects.none()
    document_split(id_=row.id)
    return Chunk.objects.filter(document=row).order_by("position")


def _passage_texts(row: Any, passages: Iterable[Any], space: EmbeddingModel) -> list[ComparedText]:
    return [
        ComparedText(
            one.ref,
            row.id,
            one.text,
            one.agent_id,
            getattr(one, "team_id", None),
            None,
            _vector(one, space),
            language=one.language,
        )
        for one in passages
    ]


_READERS: Mapping[str, Callable[[Any, EmbeddingModel], list[ComparedText]]] = {
    "memory": memory_texts,
    "entity": entity_texts,
}
"""The functions that read the text of an item without passages."""


def _vector(row: Any, space: EmbeddingModel) -> str | None:
    vector = getattr(row, space.slot) if getattr(row, space.model_column) == space.model else None
    return None if vector is None else f"[{','.join(map(str, vector))}]"


def items_of_all_kinds() -> Iterator[tuple[str, Sequence[UUID]]]:
    """Yield the ids of all items that are compared, kind by kind."""
    for kind, model in MODELS.items():
        rows = model._default_manager.all()  # noqa: SLF001 - Django's documented name
        yield kind, list(rows.order_by("id").values_list("id", flat=True))
