"""The pieces of documents nearest to the topic; without one, those of the documents that changed last."""

from collections.abc import Sequence
from typing import Any

from django.db.models import FloatField, QuerySet, Value
from pgvector.django import CosineDistance

from assembly.engine.formatting import format_chunk
from assembly.engine.formulas import chunk_boosts, keyword_matches, measures, recency_score
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered, Situation, offered
from assembly.sources.labels import path_labels
from memories.models import Chunk

LIMIT = 20
"""Seed: querySemantic, "Top 20 results"."""


def semantic_content(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """Chunks by exact similarity: the agent's rows are sorted whole, as memories are."""
    limit = situation.raised(LIMIT)
    chunks = _found(situation).values_list(
        "document_id",
        "document_version",
        "position",
        "line",
        "text",
        "document__path",
        "document__updated",
        "similarity",
    )
    return offered(sections, chunks[:limit], limit, lambda section, row: _candidate(situation, section, row))


def _found(situation: Situation) -> QuerySet[Any]:
    chunks = Chunk.objects.filter(agent=situation.agent)
    if situation.vector is None:
        unknown = Value(None, output_field=FloatField())
        return chunks.annotate(similarity=unknown).order_by("-document__updated", "document_id", "position")
    similarity = 1 - CosineDistance("embedding", situation.vector)
    return chunks.exclude(embedding=None).annotate(similarity=similarity).order_by("-similarity", "id")


def _candidate(situation: Situation, section: Section, row: tuple[Any, ...]) -> Candidate:
    """Scored by similarity, or recency where nothing was searched, times the seed's boosts."""
    document, version, position, line, text, path, updated, similarity = row
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
