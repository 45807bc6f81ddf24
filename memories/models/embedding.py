"""The space that embeddings are in: the model that makes them, and the slot that each table has for its vectors.

What is found by its meaning: rows with a vector, and room for a second one while the embedder is changed.
"""

from typing import Any

from django.db import models
from pgvector.django import VectorField

from memories.embeddings.active_model import SLOTS

MAX_NAME_CHARACTERS = 200


class EmbeddingSpace(models.Model):
    """The one row that says which embedder is in use, and which slot its vectors are in.

    While the embedder is being changed, `next_model` names the one whose vectors the other slot is filled with.
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
    """Two slots, each with a vector and the name of the embedder that made it, "" where there is none.

    A vector is NULL beside a name where the embedder finds nothing that it knows in the text. Which slot is in use,
    the row of EmbeddingSpace says.
    """

    embedding = VectorField(null=True)
    embedding_model = models.CharField(max_length=MAX_NAME_CHARACTERS, blank=True, default="", db_default="")
    second_embedding = VectorField(null=True)
    second_embedding_model = models.CharField(max_length=MAX_NAME_CHARACTERS, blank=True, default="", db_default="")

    text: Any  # of those that say no more than their text

    class Meta:
        abstract = True

    @property
    def said(self) -> str:
        """What it is embedded by."""
        said: str = self.text
        return said
