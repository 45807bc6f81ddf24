"""Directions: what texts are about, as vectors of the active space. Questions have one, and what they find has one."""

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
from memories.models.embedding import Embedded

logger = logging.getLogger(__name__)

ResultType = TypeVar("ResultType")


@dataclass(frozen=True, slots=True, eq=False)
class QueryVector:
    """What a text asks for: a unit vector, and the space that it is of."""

    text: str
    space: EmbeddingModel
    vector: Vector

    @property
    def parameters(self) -> dict[str, Any]:
        """`vector` and `model`, for SQL that compares rows with it."""
        written = orjson.dumps(self.vector, option=orjson.OPT_SERIALIZE_NUMPY).decode()
        return {"vector": written, "model": self.space.model}

    @property
    def similarity(self) -> Case:
        """The cosine of a row, for the ORM; NULL for a row that has no vector of this space."""
        cosine = Value(1.0) - CosineDistance(self.space.slot, self.vector)
        return Case(When(**{self.space.model_column: self.space.model}, then=cosine), output_field=FloatField())

    def confirm(self, told: Sequence[str]) -> None:
        """Raises SpaceLeft where a statement was told that another space is active."""
        if (space := remember_model(told)) != self.space:
            raise EmbeddingModelChanged(space)


def active_model_expression() -> Expression:
    """For the ORM: the space that is active in the statement's snapshot, for `confirm`."""
    return RawSQL(ACTIVE_MODEL_SQL, ())  # noqa: S611 - a constant


def embed_query(text: str) -> QueryVector | None:
    """What the text asks for; None where it is empty, or the embedder knows nothing in it. Raises EmbedderFailed."""
    if not text.strip():
        return None
    space = last_known_model()
    try:
        if found := _embed_query(text, space):
            return found
        failed = None
    except EmbedderFailed as error:
        failed = error
    # It may be that this process knows of an embedder that is in use no longer.
    if (active := read_active_model()) != space:
        return _embed_query(text, active)
    if failed:
        raise failed
    return None


def with_active_model(direction: QueryVector | None, read: Callable[[QueryVector | None], ResultType]) -> ResultType:
    """What `read` finds for the direction; where that raises SpaceLeft, for the same text in the space of now."""
    while True:
        try:
            return read(direction)
        except EmbeddingModelChanged as left:
            assert direction is not None  # noqa: S101 - nothing was compared without one
            direction = _embed_query_or_log(direction.text, left.space)


def _embed_query_or_log(text: str, space: EmbeddingModel) -> QueryVector | None:
    try:
        return _embed_query(text, space)
    except EmbedderFailed as error:
        logger.warning("searched without meaning: %s", error)
        return None


def _embed_query(text: str, space: EmbeddingModel) -> QueryVector | None:
    [vector] = embed_texts(space, [text])
    return None if vector is None else QueryVector(text, space, vector)


def embed_texts(space: EmbeddingModel, texts: Sequence[str]) -> list[Vector | None]:
    """The vectors of the texts in the space. Raises EmbedderFailed."""
    vectors = find_embedder(space.model).embed(texts)
    for vector in vectors:
        if vector is not None and len(vector) != space.dimensions:
            raise EmbedderFailed(
                f"{space.model} gives {len(vector)} dimensions now and gave {space.dimensions} before."
                " Give it its former model again, or change to another embedder with `manage.py reembed`."
            )
    return vectors


def embed_rows(rows: Sequence[Embedded]) -> None:
    """Embed rows that are about to be saved, in the space that is active until the transaction ends.

    Where the embedder fails they are saved all the same, without vectors; `manage.py reindex` makes them up.
    """
    if not rows:
        return
    space = lock_active_model()
    try:
        set_vectors(rows, space, embed_texts(space, [row.said for row in rows]))
    except EmbedderFailed as error:
        logger.warning("%d rows are saved without vectors: %s", len(rows), error)
        for row in rows:
            row.embedding = row.second_embedding = None
            row.embedding_model = row.second_embedding_model = ""


def set_vectors(rows: Sequence[Embedded], space: EmbeddingModel, vectors: Sequence[Vector | None]) -> None:
    """Set the rows' vectors of the space. What the other slot held was made of another text."""
    for row, vector in zip(rows, vectors, strict=True):
        setattr(row, space.slot, vector)
        setattr(row, space.model_column, space.model)
        setattr(row, space.free_slot, None)
        setattr(row, f"{space.free_slot}_model", "")
