"""The texts that are compared for conflicts: those of an item that was saved, and those nearest in meaning to them.

A memory and an entity are one text each; a file or document has a text per passage. Daily logs and events say what was
at some time, code and the files that say who an agent is make no statements: none of them is compared.
"""

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from agents.models import AgentFile, AgentTeam
from assembly.conflicts.detection.nearness import (
    LEAST_SIMILARITY,
    MAX_SHORT,
    MAX_WORDED_RATIO,
    is_short,
    may_share_subject,
    nearness,
    searched_pairs,
)
from assembly.models import Conflict, text_hash
from config.db.migration_helpers import ORGANISATION
from config.db.statements import execute_sql, fetch_rows
from memories.embeddings.active_model import EmbeddingModel, read_active_model
from memories.embeddings.file_splitting import file_split
from memories.embeddings.indexing import document_split
from memories.embeddings.splitting import is_code
from memories.lifecycle.half_vectors import vector_sql
from memories.models import Chunk, Document, Entity, FilePassage, Memory
from memories.models.file_passage import FILE_MODELS
from memories.search.languages import DEFAULT
from teams.models import OrganisationFile, TeamFile
from teams.sensitivity import DEFAULT_LEVEL

NEAREST = 20
"""The number of texts, of all kinds together, with which a text is compared."""
WORDED = 10
"""The most further memories and passages with which a text is compared because of their common words."""
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
    """Return the current texts of the item, with vectors; None if it does not exist.

    A file or document without passages of its current version is split first.
    """
    row = MODELS[kind]._default_manager.filter(id=id_).first()  # noqa: SLF001 - Django's documented name
    return None if row is None else _READERS[kind](row, read_active_model())


def _of_memory(memory: Memory, space: EmbeddingModel) -> list[ComparedText]:
    if not memory.stands:
        return []
    day = memory.occurred_at.date() if memory.occurred_at else None
    vector = _vector(memory, space)
    return [
        ComparedText(
            memory.ref, memory.id, memory.text, memory.agent_id, memory.team_id, day, vector, language=memory.language
        )
    ]


def _of_entity(entity: Entity, space: EmbeddingModel) -> list[ComparedText]:
    vector = _vector(entity, space)
    names = frozenset(entity.names)
    return [
        ComparedText(
            entity.ref, entity.id, entity.said, entity.agent_id, None, None, vector, language=DEFAULT, names=names
        )
    ]


def _of_document(document: Document, space: EmbeddingModel) -> list[ComparedText]:
    if is_code(path=document.path, language=document.language):
        return []
    document_split(id_=document.id)
    chunks = Chunk.objects.filter(document=document).order_by("position")[:MAX_PASSAGES]
    return [
        ComparedText(
            chunk.ref,
            document.id,
            chunk.text,
            document.agent_id,
            None,
            None,
            _vector(chunk, space),
            language=chunk.language,
        )
        for chunk in chunks
    ]


def _of_file(file: Any, space: EmbeddingModel) -> list[ComparedText]:
    kind = KINDS[type(file)]
    file_split(kind=kind, id_=file.id)
    passages = FilePassage.objects.filter(file_id=file.id, file_kind=kind).order_by("position")[:MAX_PASSAGES]
    return [
        ComparedText(
            one.ref, file.id, one.text, one.agent_id, one.team_id, None, _vector(one, space), language=one.language
        )
        for one in passages
    ]


_READERS: Mapping[str, Callable[[Any, EmbeddingModel], list[ComparedText]]] = {
    "memory": _of_memory,
    "entity": _of_entity,
    "document": _of_document,
    **dict.fromkeys(COMPARED_FILES, _of_file),
}


def _vector(row: Any, space: EmbeddingModel) -> str | None:
    vector = getattr(row, space.slot) if getattr(row, space.model_column) == space.model else None
    return None if vector is None else f"[{','.join(map(str, vector))}]"


def items_of_all_kinds() -> Iterator[tuple[str, Sequence[UUID]]]:
    """Yield the ids of all items that are compared, kind by kind."""
    for kind, model in MODELS.items():
        rows = model._default_manager.all()  # noqa: SLF001 - Django's documented name
        yield kind, list(rows.order_by("id").values_list("id", flat=True))


# The vector index does not know owners, so an iterative scan goes on until it has enough rows.
SETTINGS_SQL = """
SELECT set_config('hnsw.ef_search', '100', true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.max_scan_tuples', '40000', true)
"""
NEAREST_SQL = """
WITH near AS (
    (SELECT 'memory' AS kind, id::text AS id, {distance} AS distance FROM memories
        WHERE {of_agents_or_teams} AND {here} AND {slot} IS NOT NULL AND id <> %(item)s
            AND superseded_by_id IS NULL AND retired_because = ''
        ORDER BY {indexed} LIMIT %(nearest)s)
    UNION ALL
    (SELECT 'passage', id::text, {distance} FROM file_passages
        WHERE {of_owners} AND {here} AND {slot} IS NOT NULL AND file_id <> %(item)s AND file_kind = ANY(%(files)s)
        ORDER BY {distance} LIMIT %(nearest)s)
    UNION ALL
    (SELECT 'chunk', id::text, {chunk} <=> %(vector)s::vector AS distance FROM chunks
        WHERE {of_agents} AND {here} AND {chunk} IS NOT NULL AND document_id <> %(item)s
        ORDER BY distance LIMIT %(nearest)s)
    UNION ALL
    (SELECT 'entity', id::text, {distance} FROM entities
        WHERE {of_agents} AND {here} AND {slot} IS NOT NULL AND id <> %(item)s
        ORDER BY {distance} LIMIT %(nearest)s)
)
SELECT kind, id, 1 - distance FROM near WHERE distance <= %(farthest)s ORDER BY distance, kind, id LIMIT %(nearest)s
"""
# Each text has both words of a pair, so that the index of words leaves few rows. One of two texts has to be short.
WORDED_SQL = """
WITH pairs AS (
    SELECT string_agg(format('(%%s & %%s)', one, other), ' | ')::tsquery AS query
        FROM unnest(%(first)s::text[], %(second)s::text[]) AS pair (first, second),
            plainto_tsquery(%(language)s::regconfig, pair.first) AS one,
            plainto_tsquery(%(language)s::regconfig, pair.second) AS other
        WHERE numnode(one) > 0 AND numnode(other) > 0
), worded AS (
    (SELECT 'memory' AS kind, id::text AS id, {distance} AS distance FROM memories
        WHERE {of_agents_or_teams} AND {here} AND {slot} IS NOT NULL AND id <> %(item)s
            AND superseded_by_id IS NULL AND retired_because = '' AND search @@ (SELECT query FROM pairs)
            AND (%(is_short)s OR length(text) <= %(most)s)
        ORDER BY {distance} LIMIT %(worded)s)
    UNION ALL
    (SELECT 'passage', id::text, {distance} FROM file_passages
        WHERE {of_owners} AND {here} AND {slot} IS NOT NULL AND file_id <> %(item)s AND file_kind = ANY(%(files)s)
            AND search @@ (SELECT query FROM pairs) AND %(is_short)s
        ORDER BY {distance} LIMIT %(worded)s)
    UNION ALL
    (SELECT 'chunk', id::text, {chunk} <=> %(vector)s::vector AS distance FROM chunks
        WHERE {of_agents} AND {here} AND {chunk} IS NOT NULL AND document_id <> %(item)s
            AND search @@ (SELECT query FROM pairs) AND %(is_short)s
        ORDER BY distance LIMIT %(worded)s)
)
SELECT kind, id, 1 - distance FROM worded ORDER BY distance, kind, id
"""
EVERYBODY = {"of_agents_or_teams": "true", "of_owners": "true", "of_agents": "true"}
OF_OWNERS = {
    "of_agents_or_teams": "(agent_id = ANY(%(agents)s) OR team_id = ANY(%(teams)s))",
    "of_owners": "owner = ANY(%(owners)s)",
    "of_agents": "agent_id = ANY(%(agents)s)",
}


def nearest_texts(text: ComparedText) -> list[ComparedText]:
    """Return the texts near to this one that a context may include together with it, the nearest in meaning first.

    Those are the texts of its owner, of the teams of an agent or the agents of a team, and of the organisation. At most
    NEAREST are returned, and at most WORDED more that share its words: a name or number changes the vector of a short
    text much, and the vector of a passage says little about one line of it. None is returned for a text without a
    vector.
    """
    if text.vector is None:
        return []
    space = read_active_model()
    agents, teams = _owners_near(text)
    conditions = OF_OWNERS if text.agent_id or text.team_id else EVERYBODY
    slot, dimensions = space.slot, space.dimensions
    parts = conditions | {
        "slot": slot,
        "here": space.here,
        "distance": f"{slot} <=> %(vector)s::vector",
        "chunk": vector_sql(slot),
        "indexed": f"{slot}::halfvec({dimensions}) <=> %(vector)s::vector::halfvec({dimensions})",
    }
    pairs = searched_pairs(text.text) if text.language else []
    parameters = {
        "vector": text.vector,
        "model": space.model,
        "item": text.item,
        "agents": agents,
        "teams": teams,
        "owners": [*agents, *teams, ORGANISATION],
        "files": list(COMPARED_FILES),
        "nearest": NEAREST,
        "farthest": 1 - LEAST_SIMILARITY,
        "first": [one for one, _ in pairs],
        "second": [other for _, other in pairs],
        "language": text.language,
        "is_short": is_short(text.text),
        "most": MAX_SHORT,
        "worded": MAX_WORDED_RATIO * WORDED,
    }
    with transaction.atomic():
        execute_sql(SETTINGS_SQL)
        rows = fetch_rows(NEAREST_SQL.format(**parts), parameters)
        found = {(kind, id_) for kind, id_, _ in rows}
        worded = fetch_rows(WORDED_SQL.format(**parts), parameters) if pairs else []
    worded = [row for row in worded if tuple(row[:2]) not in found]
    return _near(text, _load_found(rows)) + _near(text, _load_found(worded))[:WORDED]


def _near(text: ComparedText, others: Iterable[ComparedText]) -> list[ComparedText]:
    """Return those of the texts that are near to this one, the nearest first."""
    measured = [(nearness(text.text, other.text, other.similarity), other) for other in others]
    return [other for near, other in sorted(measured, key=lambda one: -one[0]) if near > 0]


def _owners_near(text: ComparedText) -> tuple[list[UUID], list[UUID]]:
    """Return the agents and teams of whose texts contexts include some together with this one."""
    if text.agent_id:
        teams = AgentTeam.objects.filter(agent_id=text.agent_id).values_list("team_id", flat=True)
        return [text.agent_id], list(teams)
    if text.team_id:
        agents = AgentTeam.objects.filter(team_id=text.team_id).values_list("agent_id", flat=True)
        return list(agents), [text.team_id]
    return [], []


def _load_found(rows: Sequence[tuple[str, str, float]]) -> list[ComparedText]:
    """Return the texts of the rows of NEAREST_SQL, in order, by at most a query per kind."""
    ids: dict[str, list[str]] = {}
    for kind, id_, _ in rows:
        ids.setdefault(kind, []).append(id_)
    loaded = {(kind, str(key)): text for kind, some in ids.items() for key, text in _load(kind, some)}
    return [_with_similarity(loaded[kind, id_], similarity) for kind, id_, similarity in rows if (kind, id_) in loaded]


def _with_similarity(text: ComparedText, similarity: float) -> ComparedText:
    return replace(text, vector=None, similarity=min(1.0, max(0.0, similarity)))


def _load(kind: str, ids: Sequence[str]) -> Iterator[tuple[Any, ComparedText]]:
    if kind == "memory":
        for memory in Memory.objects.filter(id__in=ids):
            yield from ((memory.id, text) for text in _of_memory(memory, _NO_VECTORS))
    elif kind == "entity":
        for entity in Entity.objects.filter(id__in=ids):
            yield from ((entity.id, text) for text in _of_entity(entity, _NO_VECTORS))
    elif kind == "chunk":
        for chunk in Chunk.objects.filter(id__in=ids).select_related("document"):
            document = chunk.document
            if not is_code(path=document.path, language=document.language):
                yield chunk.id, ComparedText(chunk.ref, document.id, chunk.text, document.agent_id, None)
    else:
        yield from _load_passages(ids)


def _load_passages(ids: Sequence[str]) -> Iterator[tuple[Any, ComparedText]]:
    passages = list(FilePassage.objects.filter(id__in=ids))
    for file_kind in {one.file_kind for one in passages}:
        rows = FILE_MODELS[file_kind]._default_manager  # noqa: SLF001 - as above
        files = rows.in_bulk({one.file_id for one in passages if one.file_kind == file_kind})
        for one in passages:
            file = files.get(one.file_id)
            if file is not None and file.version == one.file_version:
                yield one.id, ComparedText(one.ref, one.file_id, one.text, one.agent_id, one.team_id)


_NO_VECTORS = EmbeddingModel("", 0, "embedding")
"""An embedding model of which no row has a vector."""
