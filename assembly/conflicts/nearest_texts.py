"""The texts with which a saved text is compared for conflicts are searched for: those near in meaning, or by a line."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction

from agents.models import AgentTeam
from assembly.conflicts.compared_texts import COMPARED_FILES, ComparedText, entity_texts, memory_texts
from assembly.conflicts.detection.nearness import (
    FURTHER_RATIO,
    LEAST_SIMILARITY,
    MAX_SHORT,
    is_short,
    nearness,
    searched_pairs,
)
from config.db.migration_helpers import ORGANISATION
from config.db.statements import execute_sql, fetch_rows
from memories.embeddings.active_model import EmbeddingModel, read_active_model
from memories.embeddings.splitting import is_code
from memories.lifecycle.half_vectors import vector_sql
from memories.models import Chunk, Entity, FilePassage, Memory
from memories.models.file_passage import FILE_MODELS

NEAREST = 20
"""The number of texts, of all kinds together, with which a text is compared."""
FURTHER = 10
"""The most further texts with which a text is compared, because of common words or of a line."""
_NO_VECTORS = EmbeddingModel("", 0, "embedding")
"""An embedding model of which no row has a vector."""

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
SELECT kind, id, 1 - distance FROM near WHERE distance <= %(farthest)s ORDER BY distance, kind, id
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
            AND (%(is_short)s OR coalesce(length(text), text_characters) <= %(most)s)
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
    NEAREST are returned, and at most FURTHER others with a line near to it: a name or number changes the vector of a
    short text much, and the vector of a passage says little about one line of it. They are among the nearest of each
    kind, and among those that have two of its heavy words. None is returned for a text without a vector.
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
        "worded": FURTHER_RATIO * FURTHER,
    }
    with transaction.atomic():
        execute_sql(SETTINGS_SQL)
        rows = fetch_rows(NEAREST_SQL.format(**parts), parameters)
        found = {(kind, id_) for kind, id_, _ in rows}
        worded = fetch_rows(WORDED_SQL.format(**parts), parameters) if pairs else []
    further = [*rows[NEAREST:], *[row for row in worded if tuple(row[:2]) not in found]]
    return _near(text, _load_found(rows[:NEAREST])) + _near(text, _load_found(further))[:FURTHER]


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
            yield from ((memory.id, text) for text in memory_texts(memory, _NO_VECTORS))
    elif kind == "entity":
        for entity in Entity.objects.filter(id__in=ids):
            yield from ((entity.id, text) for text in entity_texts(entity, _NO_VECTORS))
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
