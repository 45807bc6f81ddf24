"""The pieces of documents nearest to the topic; without one, those of the documents that changed last."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db.models import F, FloatField, QuerySet, Value

from assembly.engine.formatting import format_chunk
from assembly.engine.formulas import chunk_boosts, keyword_matches, measures, recency_score
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered, Situation, offered
from assembly.sources.labels import path_labels
from memories.directions import Direction, active_space_told, in_active_space
from memories.models import Chunk

LIMIT = 20
"""Seed: querySemantic, "Top 20 results"."""


def semantic_content(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """Chunks by exact similarity: the agent's rows are sorted whole, as memories are."""
    limit = situation.raised(LIMIT)
    found = in_active_space(situation.vector, partial(_found, situation, limit))
    return offered(sections, found, limit, lambda section, row: _candidate(situation, section, row))


def _found(situation: Situation, limit: int, vector: Direction | None) -> list[tuple[Any, ...]]:
    chunks = _ordered(Chunk.objects.filter(agent=situation.agent), vector)
    rows = list(
        chunks.annotate(space=active_space_told()).values_list(
            "document_id",
            "document_version",
            "position",
            "line",
            "text",
            "document__path",
            "document__updated",
            "similarity",
            "space",
        )[:limit]
    )
    if vector is None or not rows:
        return rows
    vector.confirm(rows[0][-1])
    return [row for row in rows if row[-2] is not None]


def _ordered(chunks: QuerySet[Chunk], vector: Direction | None) -> QuerySet[Any]:
    if vector is None:
        unknown = Value(None, output_field=FloatField())
        return chunks.annotate(similarity=unknown).order_by("-document__updated", "document_id", "position")
    # Those without a vector come last, so that some row tells the space even where none has one.
    return chunks.annotate(similarity=vector.similarity).order_by(F("similarity").desc(nulls_last=True), "id")


def _candidate(situation: Situation, section: Section, row: tuple[Any, ...]) -> Candidate:
    """Scored by similarity, or recency where nothing was searched, times the seed's boosts."""
    document, version, position, line, text, path, updated, similarity, _ = row
    age = situation.age(updated)
    recency = recency_score(age)
    matches = keyword_matches(text, situation.signals.keywords)
    boosts = chunk_boosts(matches, age)
    score = boosts * (recency if similarity is None else similarity)
    return Candidate(
        ref=Chunk(document_id=document, document_version=version, position=position).ref,
        section=section.key,
        text=format_chunk(path=path, line=line, text=text),
        kind="chunk",
        occurred_at=updated,
        similarity=similarity,
        score=score,
        measures=measures(
            recency=recency,
            relevance=0.0 if similarity is None else score,
            keyword_matches=matches,
            boosts=boosts,
        ),
        labels=path_labels(path),
    )
