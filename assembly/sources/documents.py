"""These sources return passages of documents that are similar to the topic, and the files that the agent has open.

(no topic), the passages are those of the documents that changed last. A section may name the ranker of its
passages, which uses the same features as for memories, or `seed`: the seed's formula, similarity times boosts.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db.models import F, FloatField, QuerySet, Sum, Value, Window
from msgspec import structs

from assembly.engine.item_formats import format_chunk, format_open_file
from assembly.engine.linear_ranker import Ranker, block_shares, relevance_of, score_of
from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures, chunk_boost, keyword_matches, keyword_share, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import MAX_BYTES, GatherContext, SourceResult, candidates_for, origin_of, path_labels
from assembly.sources.memories import search_weights
from memories.embeddings.vectors import QueryVector, active_model_expression, with_active_model
from memories.lifecycle.tiered_text import TieredOctets
from memories.models import Chunk, Document, chunk_ref
from memories.search.document_search import FoundPassage, search_passages

PASSAGE_LIMIT = 20
"""The number of passages per section (seed: querySemantic, "Top 20 results")."""


def semantic_content(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the best passages for each section by its ranker; one search serves all sections with the same ranker."""
    limit = gather_context.row_limit(PASSAGE_LIMIT, sections)
    rankers = dict.fromkeys(section.ranker for section in sections)
    found = {ranker: _find_passages(gather_context, ranker, limit) for ranker in rankers}
    candidates = [structs.replace(one, section=section.key) for section in sections for one in found[section.ranker]]
    return SourceResult(candidates, limit * len(sections))


def _find_passages(gather_context: GatherContext, ranker: Ranker | None, limit: int) -> list[Candidate]:
    if ranker is None or not gather_context.topic.strip():
        found = with_active_model(gather_context.vector, partial(_nearest_passages, gather_context, limit))
        return [_scored_by_formula(gather_context, passage) for passage in found]
    weights = search_weights(ranker)
    found = search_passages(
        agent=gather_context.agent,
        topic=gather_context.topic,
        vector=gather_context.vector,
        weights=weights,
        limit=limit,
    )
    return [_scored_by_ranker(gather_context, ranker, passage) for passage in found]


def _nearest_passages(gather_context: GatherContext, limit: int, vector: QueryVector | None) -> list[FoundPassage]:
    """Return the nearest passages exactly: all of the agent's rows are sorted."""
    chunks = _ordered_chunks(Chunk.objects.filter(agent=gather_context.agent), vector)
    rows = list(
        chunks.annotate(space=active_model_expression()).values_list(
            "document_id",
            "document_version",
            "position",
            "line",
            "text",
            "document__path",
            "document__updated",
            "document__origin",
            "sensitivity",
            "similarity",
            "space",
        )[:limit]
    )
    if vector is not None and rows:
        vector.confirm(rows[0][-1])
        rows = [row for row in rows if row[-2] is not None]
    return [FoundPassage(*row[:-1]) for row in rows]


def _ordered_chunks(chunks: QuerySet[Chunk], vector: QueryVector | None) -> QuerySet[Any]:
    if vector is None:
        unknown = Value(None, output_field=FloatField())
        return chunks.annotate(similarity=unknown).order_by("-document__updated", "document_id", "position")
    # Those without a vector come last, so that some row tells the space even where none has one.
    return chunks.annotate(similarity=vector.similarity).order_by(F("similarity").desc(nulls_last=True), "id")


def _scored_by_formula(gather_context: GatherContext, passage: FoundPassage) -> Candidate:
    """Return the passage scored by similarity, or by recency without a topic, times the seed's boosts."""
    age, similarity = gather_context.age(passage.updated), passage.similarity
    recency = recency_score(age)
    matches = keyword_matches(passage.text, gather_context.signals.keywords)
    boosts = chunk_boost(matches, age)
    score = boosts * (recency if similarity is None else similarity)
    relevance = 0.0 if similarity is None else score
    measured = candidate_measures(recency=recency, relevance=relevance, keyword_matches=matches, boosts=boosts)
    return structs.replace(_passage_candidate(passage), score=score, measures=measured)


def _scored_by_ranker(gather_context: GatherContext, ranker: Ranker, passage: FoundPassage) -> Candidate:
    """Return the passage with all its features; its relevance is the ranker's score, mapped to 0 to 1."""
    candidate = _passage_candidate(passage)
    relevance = relevance_of(score_of(block_shares(ranker, candidate)))
    recency = recency_score(gather_context.age(passage.updated))
    measured = candidate_measures(recency=recency, relevance=relevance, **passage.measures)
    return structs.replace(candidate, score=relevance, measures=measured)


def _passage_candidate(passage: FoundPassage) -> Candidate:
    """Return the passage as a candidate that belongs to no section yet."""
    return Candidate(
        ref=chunk_ref(passage.document, passage.version, passage.position),
        section="",
        text=format_chunk(path=passage.path, line=passage.line, text=passage.text),
        kind="chunk",
        occurred_at=passage.updated,
        similarity=passage.similarity,
        measures=passage.measures,
        labels=path_labels(passage.path),
        origin=origin_of(passage),
        sensitivity=passage.sensitivity,
    )


OPEN_FILE_LIMIT = 10


def open_files(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the open documents, the last changed first, while the total size of the previous ones is
    below MAX_BYTES.
    """
    limit = gather_context.raised(OPEN_FILE_LIMIT)
    order = ("-updated", "id")
    size = TieredOctets("content")
    documents = (
        Document.objects.filter(agent=gather_context.agent, is_open=True)
        .annotate(newer=Window(Sum(size), order_by=order) - size)
        .filter(newer__lt=MAX_BYTES)
        .order_by(*order)[:limit]
    )
    columns = documents.only("id", "version", "path", "language", "content", "updated", "origin", "sensitivity")
    return candidates_for(
        sections, columns, limit, lambda section, document: _open_file_candidate(gather_context, section, document)
    )


def _open_file_candidate(gather_context: GatherContext, section: Section, document: Document) -> Candidate:
    text = format_open_file(path=document.path, language=document.language, text=document.content)
    recency = recency_score(gather_context.age(document.updated))
    return Candidate(
        ref=document.ref,
        section=section.key,
        text=text,
        kind="open_file",
        occurred_at=document.updated,
        score=recency,
        measures=candidate_measures(recency=recency, relevance=keyword_share(text, gather_context.signals.keywords)),
        labels=path_labels(document.path),
        origin=origin_of(document),
        sensitivity=document.sensitivity,
    )
