"""Directions: what texts are about, as vectors of the active space. Questions have one, and what they find has one."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from django.db.models import Case, Expression, FloatField, Value, When
from django.db.models.expressions import RawSQL
from pgvector.django import CosineDistance

from memories.embeddings.active_model import ACTIVE, Space, SpaceLeft, active_space, known_space, space_kept, told_of
from memories.embeddings.base import EmbedderFailed, Vector
from memories.embeddings.registry import embedder_named
from memories.models.embedding import Directed

logger = logging.getLogger(__name__)

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """What a text asks for: a unit vector, and the space that it is of."""

    text: str
    space: Space
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
        if (space := told_of(told)) != self.space:
            raise SpaceLeft(space)


def active_space_told() -> Expression:
    """For the ORM: the space that is active in the statement's snapshot, for `confirm`."""
    return RawSQL(ACTIVE, ())  # noqa: S611 - a constant


def direction_of(text: str) -> Direction | None:
    """What the text asks for; None where it is empty, or the embedder knows nothing in it. Raises EmbedderFailed."""
    if not text.strip():
        return None
    space = known_space()
    try:
        if found := _direction(text, space):
            return found
        failed = None
    except EmbedderFailed as error:
        failed = error
    # It may be that this process knows of an embedder that is in use no longer.
    if (active := active_space()) != space:
        return _direction(text, active)
    if failed:
        raise failed
    return None


def in_active_space(direction: Direction | None, read: Callable[[Direction | None], Found]) -> Found:
    """What `read` finds for the direction; where that raises SpaceLeft, for the same text in the space of now."""
    while True:
        try:
            return read(direction)
        except SpaceLeft as left:
            assert direction is not None  # noqa: S101 - nothing was compared without one
            direction = _direction_if_any(direction.text, left.space)


def _direction_if_any(text: str, space: Space) -> Direction | None:
    try:
        return _direction(text, space)
    except EmbedderFailed as error:
        logger.warning("searched without meaning: %s", error)
        return None


def _direction(text: str, space: Space) -> Direction | None:
    [vector] = embedded(space, [text])
    return None if vector is None else Direction(text, space, vector)


def embedded(space: Space, texts: Sequence[str]) -> list[Vector | None]:
    """The vectors of the texts in the space. Raises EmbedderFailed."""
    vectors = embedder_named(space.model).embed(texts)
    for vector in vectors:
        if vector is not None and len(vector) != space.dimensions:
            raise EmbedderFailed(
                f"{space.model} gives {len(vector)} dimensions now and gave {space.dimensions} before."
                " Give it its former model again, or change to another embedder with `manage.py reembed`."
            )
    return vectors


def give_directions(rows: Sequence[Directed]) -> None:
    """Embed rows that are about to be saved, in the space that is active until the transaction ends.

    Where the embedder fails they are saved all the same, without vectors; `manage.py reindex` makes them up.
    """
    if not rows:
        return
    space = space_kept()
    try:
        direct(rows, space, embedded(space, [row.said for row in rows]))
    except EmbedderFailed as error:
        logger.warning("%d rows are saved without vectors: %s", len(rows), error)
        for row in rows:
            row.embedding = row.second_embedding = None
            row.embedding_model = row.second_embedding_model = ""


def direct(rows: Sequence[Directed], space: Space, vectors: Sequence[Vector | None]) -> None:
    """Set the rows' vectors of the space. What the other slot held was made of another text."""
    for row, vector in zip(rows, vectors, strict=True):
        setattr(row, space.slot, vector)
        setattr(row, space.model_column, space.model)
        setattr(row, space.other_slot, None)
        setattr(row, f"{space.other_slot}_model", "")
