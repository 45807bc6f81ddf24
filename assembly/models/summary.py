"""Summaries that a model made: each once for a text, whoever asks for it later."""

from django.db import models


class StoredSummary(models.Model):
    """That a model said one stored text as another one. Both are named by the SHA-256 of `StoredText`.

    Append-only: what stands here goes into later contexts, so whoever has the app's role must not be able to put other
    words in its place. It keeps no text alive: whoever deletes one of its two texts deletes it along, in the database.
    """

    append_only = True

    text_sha256 = models.BinaryField(max_length=32)
    model = models.CharField(max_length=120)
    summary_sha256 = models.BinaryField(max_length=32, db_index=True)

    class Meta:
        db_table = "summaries"
        constraints = [models.UniqueConstraint(fields=["text_sha256", "model"], name="summary_once_per_model")]
