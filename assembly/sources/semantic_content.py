"""The source of passages of documents that bear on the topic; without one, those of the documents that changed last.

By default they rank by the formula of the seed: similarity times boosts. A section may name a ranker instead, which
weighs what is measured of memories, too.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.db.models import F, FloatField, QuerySet, Value

from assembly.engine.formatting import format_chunk
from assembly.engine.formulas import chunk_boosts, keyword_matches, measures, recency_score
from assembly.engine.profile import Section
from assembly.engine.ranking import Ranker, relevance_of, score_of, shares_of_block
from assembly.engine.types import Candidate
from assembly.sources.base import Gathered, Situation
from assembly.sources.labels import path_labels
from assembly.sources.memories import weights_of
from memories.directions import Direction, active_space_told, in_active_space
from memories.models import Chunk
from memories.retrieval import FoundPassage, passages_search

LIMIT = 20
"""Seed: querySemantic, "Top 20 results"."""


def semantic_content(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """Return the best chunks for each section, by its ranker; one search serves all sections of the same ranker."""
    limit = situation.raised(LIMIT)
    rankers = dict.fromkeys(section.ranker for section in sections)
    found = {ranker: _found(situation, ranker, limit) for ranker in rankers}
    candidates = [replace(one, section=section.key) for section in sections for one in found[section.ranker]]
    return Gathered(candidates, limit * len(sections))


def _found(situation: Situation, ranker: Ranker | None, limit: int) -> list[Candidate]:
    if ranker is None or not situation.topic.strip():
        found = in_active_space(situation.vector, partial(_by_formula, situation, limit))
        return [_scored_by_formula(situation, passage) for passage in found]
    weights = weights_of(ranker)
    found = passages_search(
        agent=situation.agent, topic=situation.topic, vector=situation.vector, weights=weights, limit=limit
    )
    return [_scored_by_ranker(situation, ranker, passage) for passage in found]


def _by_formula(situation: Situation, limit: int, vector: Direction | None) -> list[FoundPassage]:
    """Return the nearest chunks, exactly: the agent's rows are sorted whole."""
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
    if vector is not None and rows:
        vector.confirm(rows[0][-1])
        rows = [row for row in rows if row[-2] is not None]
    return [FoundPassage(*row[:-1]) for row in rows]


def _ordered(chunks: QuerySet[Chunk], vector: Direction | None) -> QuerySet[Any]:
    if vector is None:
        unknown = Value(None, output_field=FloatField())
        return chunks.annotate(similarity=unknown).order_by("-document__updated", "document_id", "position")
    # Those without a vector come last, so that some row tells the space even where none has one.
    return chunks.annotate(similarity=vector.similarity).order_by(F("similarity").desc(nulls_last=True), "id")


def _scored_by_formula(situation: Situation, passage: FoundPassage) -> Candidate:
    """Return the passage scored by similarity, or recency where nothing was searched, times the seed's boosts."""
    age, similarity = situation.age(passage.updated), passage.similarity
    recency = recency_score(age)
    matches = keyword_matches(passage.text, situation.signals.keywords)
    boosts = chunk_boosts(matches, age)
    score = boosts * (recency if similarity is None else similarity)
    relevance = 0.0 if similarity is None else score
    measured = measures(recency=recency, relevance=relevance, keyword_matches=matches, boosts=boosts)
    return replace(_candidate(passage), score=score, measures=measured)


def _scored_by_ranker(situation: Situation, ranker: Ranker, passage: FoundPassage) -> Candidate:
    """Return the passage with all that was measured of it; its relevance is the ranker's score, brought to 0 to 1."""
    candidate = _candidate(passage)
    relevance = relevance_of(score_of(shares_of_block(ranker, candidate)))
    recency = recency_score(situation.age(passage.updated))
    measured = measures(recency=recency, relevance=relevance, **passage.measures)
    return replace(candidate, score=relevance, measures=measured)


def _candidate(passage: FoundPassage) -> Candidate:
    """Return the passage as it stands in a context, for no section yet."""
    chunk = Chunk(document_id=passage.document, document_version=passage.version, position=passage.position)
    return Candidate(
        ref=chunk.ref,
        section="",
        text=format_chunk(path=passage.path, line=passage.line, text=passage.text),
        kind="chunk",
        occurred_at=passage.updated,
        similarity=passage.similarity,
        measures=passage.measures,
        labels=path_labels(passage.path),
    )
