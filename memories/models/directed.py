"""What is found by its meaning: rows with a vector, and room for a second one while the embedder is changed."""

from typing import Any

from django.db import models
from pgvector.django import VectorField

from memories.models.space import LONGEST_NAME


class Directed(models.Model):
    """Two slots, each with a vector and the name of the embedder that made it, "" where there is none.

    A vector is NULL beside a name where the embedder finds nothing that it knows in the text. Which slot is in use,
    the row of EmbeddingSpace says.
    """

    embedding = VectorField(null=True)
    embedding_model = models.CharField(max_length=LONGEST_NAME, blank=True, default="", db_default="")
    second_embedding = VectorField(null=True)
    second_embedding_model = models.CharField(max_length=LONGEST_NAME, blank=True, default="", db_default="")

    text: Any  # of those that say no more than their text

    class Meta:
        abstract = True

    @property
    def said(self) -> str:
        """What it is embedded by."""
        said: str = self.text
        return said
