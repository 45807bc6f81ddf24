"""EmbeddingSpace says which embedding model is in use; Embedded is the base of rows that have vectors.

Each embedded table has two slots, so that new vectors can be computed while the old ones are still searched.
"""

from typing import Any

from django.db import models
from pgvector.django import VectorField

from memories.embeddings.active_model import SLOTS

MAX_NAME_CHARACTERS = 200


class EmbeddingSpace(models.Model):
    """The single row that says which embedder is in use and which slot (pair of columns) holds its vectors.

    While the embedder is being changed, `next_model` names the new one, whose vectors are written to the other slot.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    model = models.CharField(max_length=MAX_NAME_CHARACTERS)
    dimensions = models.PositiveIntegerField()
    slot = models.CharField(max_length=20)
    next_model = models.CharField(max_length=MAX_NAME_CHARACTERS, blank=True, default="")
    next_dimensions = models.PositiveIntegerField(null=True)

    class Meta:
        db_table = "embedding_space"
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="embedding_space_is_one"),
            models.CheckConstraint(condition=models.Q(slot__in=SLOTS), name="embedding_space_slot_known"),
        ]


class Embedded(models.Model):
    """The abstract base of rows with vectors, in two slots: each holds a vector and the name of its embedder, or "".

    A vector is NULL, although its embedder is named, where the embedder knows nothing in the text, or may not be given
    it because of its sensitivity. EmbeddingSpace says which of the two slots is in use.
    """

    embedding = VectorField(null=True)
    embedding_model = models.CharField(max_length=MAX_NAME_CHARACTERS, blank=True, default="", db_default="")
    second_embedding = VectorField(null=True)
    second_embedding_model = models.CharField(max_length=MAX_NAME_CHARACTERS, blank=True, default="", db_default="")

    text: Any  # subclasses without a `text` override `said`
    sensitivity: Any  # all embedded models have one

    class Meta:
        abstract = True

    @property
    def said(self) -> str:
        """Return the text that the row is embedded by."""
        said: str = self.text
        return said
