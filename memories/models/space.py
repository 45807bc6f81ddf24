"""The space that embeddings are in: the model that makes them, and the slot that each table has for its vectors."""

from django.db import models

from memories.spaces import SLOTS

LONGEST_NAME = 200


class EmbeddingSpace(models.Model):
    """The one row that says which embedder is in use, and which slot its vectors are in.

    While the embedder is being changed, `next_model` names the one whose vectors the other slot is filled with.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    model = models.CharField(max_length=LONGEST_NAME)
    dimensions = models.PositiveIntegerField()
    slot = models.CharField(max_length=20)
    next_model = models.CharField(max_length=LONGEST_NAME, blank=True, default="")
    next_dimensions = models.PositiveIntegerField(null=True)

    class Meta:
        db_table = "embedding_space"
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="embedding_space_is_one"),
            models.CheckConstraint(condition=models.Q(slot__in=SLOTS), name="embedding_space_slot_known"),
        ]
