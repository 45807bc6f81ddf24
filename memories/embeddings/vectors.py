"""This module embeds queries and rows with the active embedding model, and compares them.

A text that is more sensitive than the embedder may be given has no vector, like one without known words.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from django.db.models import Case, Expression, FloatField, Value, When
from django.db.models.expressions import RawSQL
from pgvector.django import CosineDistance

from memories.embeddings.active_model import (
    ACTIVE_MODEL_SQL,
    EmbeddingModel,
    EmbeddingModelChanged,
    last_known_model,
    lock_active_model,
    read_active_model,
    remember_model,
)
from memories.embeddings.base import EmbedderFailed, Vector
from memories.embeddings.registry import find_embedder
from memories.embeddings.sent_levels import highest_level
from memories.embeddings.topic_vectors import find_topic_vector, store_topic_vector
from memories.models.embedding import Embedded
from teams.sensitivity import DEFAULT_LEVEL

logger = logging.getLogger(__name__)

ResultType = TypeVar("ResultType")


@dataclass(frozen=True, slots=True, eq=False)
class QueryVector:
    """The unit vector of a query text, and the embedding model that made it. `level` is the sensitivity of the text."""

    text: str
    space: EmbeddingModel
    vector: Vector
    level: int = DEFAULT_LEVEL

    @property
    def parameters(self) -> dict[str, Any]:
        """The SQL parameters `vector` and `model`, for statements that compare rows with this vector."""
        written = orjson.dumps(self.vector, option=orjson.OPT_SERIALIZE_NUMPY).decode()
        return {"vector": written, "model": self.space.model}

    @property
    def similarity(self) -> Case:
        """The ORM expression of a row's cosine similarity to this vector; NULL for a row without a vector of this
        model.
        """
        cosine = Value(1.0) - CosineDistance(self.space.slot, self.vector)
        return Case(When(**{self.space.model_column: self.space.model}, then=cosine), output_field=FloatField())

    def similarity_sql(self, stored: str) -> str:
        """Return the SQL expression of the same, for a statement with `parameters`; `stored` is that of the row's
        vector.
        """
        return f"CASE WHEN {self.space.here} THEN 1 - ({stored} <=> %(vector)s::vector) END"

    def confirm(self, told: Sequence[str]) -> None:
        """Compare the active model that a statement returned. Raises EmbeddingModelChanged where it is another."""
        if (space := remember_model(told)) != self.space:
            raise EmbeddingModelChanged(space)


def active_model_expression() -> Expression:
    """Return the ORM expression of the embedding model that is active in the statement's snapshot, for `confirm`."""
    return RawSQL(ACTIVE_MODEL_SQL, ())  # noqa: S611 - a constant


def embed_query(text: str, level: int = DEFAULT_LEVEL) -> QueryVector | None:
    """Return the vector of a query of this sensitivity; None where the text is blank, has no word that the embedder
    knows, or is more sensitive than it may be given. Raises EmbedderFailed.
    """
    if not text.strip():
        return None
    space = last_known_model()
    try:
        if found := _embed_query(text, space, level):
            return found
        failed = None
    except EmbedderFailed as error:
        failed = error
    # The model that this process has cached may no longer be in use.
    if (active := read_active_model()) != space:
        return _embed_query(text, active, level)
    if failed:
        raise failed
    return None


def with_active_model(direction: QueryVector | None, read: Callable[[QueryVector | None], ResultType]) -> ResultType:
    """Return the result of `read` for the query vector, repeated with a new vector where the embedding model changed.

    `read` raises EmbeddingModelChanged for that. Where the new embedder fails, `read` gets None: a search without
    meaning.
    """
    while True:
        try:
            return read(direction)
        except EmbeddingModelChanged as left:
            assert direction is not None  # noqa: S101 - without a vector nothing was compared
            direction = _embed_query_or_log(direction, left.space)


def _embed_query_or_log(direction: QueryVector, space: EmbeddingModel) -> QueryVector | None:
    try:
        return _embed_query(direction.text, space, direction.level)
    except EmbedderFailed as error:
        logger.warning("searched without meaning: %s", error)
        return None


def _embed_query(text: str, space: EmbeddingModel, level: int = DEFAULT_LEVEL) -> QueryVector | None:
    is_stored = level <= DEFAULT_LEVEL  # the vector of a more sensitive text tells roughly what it is about
    vector = find_topic_vector(space, text) if is_stored else None
    if vector is None:
        [vector] = embed_texts(space, [text], [level])
        if vector is not None and is_stored:
            store_topic_vector(space, text, vector)
    return None if vector is None else QueryVector(text, space, vector, level)


def embed_texts(space: EmbeddingModel, texts: Sequence[str], levels: Sequence[int]) -> list[Vector | None]:
    """Return the vectors of the texts, of these sensitivities, by the embedding model `space`.

    A text without known words has None, and so has one that is more sensitive than the embedder may be given.

    Raises EmbedderFailed, also where the embedder's dimensions changed.
    """
    highest = highest_level(space.model)
    given = [text for text, level in zip(texts, levels, strict=True) if level <= highest]
    made = iter(_embed(space, given) if given else [])
    return [next(made) if level <= highest else None for level in levels]


def _embed(space: EmbeddingModel, texts: Sequence[str]) -> list[Vector | None]:
    vectors = find_embedder(space.model).embed(texts)
    for vector in vectors:
        if vector is not None and len(vector) != space.dimensions:
            raise EmbedderFailed(
                f"{space.model} gives {len(vector)} dimensions now and gave {space.dimensions} before."
                " Give it its former model again, or change to another embedder with `manage.py reembed`."
            )
    return vectors


def embed_rows(rows: Sequence[Embedded]) -> None:
    """Embed rows that are about to be saved, with the active model, which is locked until the transaction ends.

    Where the embedder fails, the rows get no vectors and are saved all the same; `manage.py reindex` embeds them later.
    """
    if not rows:
        return
    space = lock_active_model()
    try:
        vectors = embed_texts(space, [row.said for row in rows], [row.sensitivity for row in rows])
        set_vectors(rows, space, vectors)
    except EmbedderFailed as error:
        logger.warning("%d rows are saved without vectors: %s", len(rows), error)
        for row in rows:
            row.embedding = row.second_embedding = None
            row.embedding_model = row.second_embedding_model = ""


def set_vectors(rows: Sequence[Embedded], space: EmbeddingModel, vectors: Sequence[Vector | None]) -> None:
    """Set the rows' vectors of the model `space`, and clear the other slot, whose vectors are of an earlier text."""
    for row, vector in zip(rows, vectors, strict=True):
        setattr(row, space.slot, vector)
        setattr(row, space.model_column, space.model)
        setattr(row, space.free_slot, None)
        setattr(row, f"{space.free_slot}_model", "")
