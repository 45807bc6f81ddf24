"""Seals: what the record was, in the order in which it became visible, so that a change of it shows."""

from collections.abc import Iterator
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

HASH_BYTES = 32


class Seal(models.Model):
    """The hashes of some records, or of one pruning, and of the seal before. Numbered from 1 without a gap.

    `hashes` are 32 bytes for each of `assemblies`, in their order. What `sha256` is of says
    `assembly.records.seal_hashing`.
    """

    append_only = True

    number = models.BigIntegerField(primary_key=True)
    created = models.DateTimeField()
    previous = models.BinaryField(max_length=HASH_BYTES)
    assemblies = ArrayField(models.UUIDField())
    hashes = models.BinaryField()
    pruning = models.UUIDField(null=True, unique=True)
    pruning_sha256 = models.BinaryField(max_length=HASH_BYTES, null=True)
    sha256 = models.BinaryField(max_length=HASH_BYTES)

    class Meta:
        db_table = "seals"
        indexes = [
            GinIndex(fields=["assemblies"], name="seal_assemblies"),
            models.Index(fields=["created"], name="seal_created"),
        ]

    @property
    def sealed(self) -> Iterator[tuple[UUID, bytes]]:
        """Each record's id with its hash, in order. A damaged seal may have fewer hashes: an empty one then."""
        hashes = bytes(self.hashes)
        for place, id_ in enumerate(self.assemblies):
            yield id_, hashes[place * HASH_BYTES : (place + 1) * HASH_BYTES]


class FollowFailure(models.Model):
    """A new assembly on which something that follows assemblies failed: how often, and why.

    `parked`: it failed by itself, too, and is left alone until somebody asks for another try.
    """

    assembly = models.UUIDField(primary_key=True)
    attempts = models.PositiveSmallIntegerField(default=1)
    error = models.TextField()
    at = models.DateTimeField()
    parked = models.BooleanField(default=False)

    class Meta:
        db_table = "follow_failures"
