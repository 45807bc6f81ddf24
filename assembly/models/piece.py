"""What records are made of, stored once however many of them share it."""

import hashlib

from django.db import models


class StoredText(models.Model):
    """A text that some assembly considered."""

    append_only = True

    sha256 = models.BinaryField(primary_key=True, max_length=32)
    text = models.TextField()

    class Meta:
        db_table = "stored_texts"


def text_hash(text: str) -> bytes:
    """The key under which a text is stored: 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


class Piece(models.Model):
    """Something that assemblies considered, as its source offered it: everything but what depends on the question.

    `id` is eight bytes of `sha256`, that of the whole piece, so that it is the same wherever the piece is stored.
    `named` is the ref without its version. `facts` is JSON, without the ref and the text.
    """

    append_only = True

    id = models.BigIntegerField(primary_key=True)
    sha256 = models.BinaryField(max_length=32)
    ref = models.CharField(max_length=160)
    named = models.CharField(max_length=160)
    text_sha256 = models.BinaryField(max_length=32)
    facts = models.JSONField()

    class Meta:
        db_table = "pieces"
        indexes = [
            models.Index(fields=["named"], name="piece_named"),
            models.Index(fields=["text_sha256"], name="piece_text"),
        ]
