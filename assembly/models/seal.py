"""Seals are a hash chain over the records, in the order in which they became visible, which reveals any change."""

from collections.abc import Iterator
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

HASH_BYTES = 32


class Seal(models.Model):
    """The hashes of some records, or of one pruning or erasure, and of the previous seal.

    Seals are numbered from 1 without gaps.

    `hashes` has 32 bytes for each of `assemblies`, in the same order. `assembly.records.seal_hashing` defines `sha256`.
    """

    append_only = True

    number = models.BigIntegerField(primary_key=True)
    created = models.DateTimeField()
    previous = models.BinaryField(max_length=HASH_BYTES)
    assemblies = ArrayField(models.UUIDField())
    hashes = models.BinaryField()
    pruning = models.UUIDField(null=True, unique=True)
    pruning_sha256 = models.BinaryField(max_length=HASH_BYTES, null=True)
    erasure = models.UUIDField(null=True, unique=True)
    erasure_sha256 = models.BinaryField(max_length=HASH_BYTES, null=True)
    sha256 = models.BinaryField(max_length=HASH_BYTES)

    class Meta:
        db_table = "seals"
        indexes = [
            GinIndex(fields=["assemblies"], name="seal_assemblies"),
            models.Index(fields=["created"], name="seal_created"),
        ]

    @property
    def sealed(self) -> Iterator[tuple[UUID, bytes]]:
        """The id and hash of each record, in order; if a damaged seal has fewer hashes, the missing ones are empty."""
        hashes = bytes(self.hashes)
        for place, id_ in enumerate(self.assemblies):
            yield id_, hashes[place * HASH_BYTES : (place + 1) * HASH_BYTES]


class FollowFailure(models.Model):
    """A new assembly for which a follower (sealing or monitoring) failed, with the number of attempts and the error.

    `parked`: the follower failed for this assembly alone, too, which is skipped until somebody requests a new attempt.
    """

    assembly = models.UUIDField(primary_key=True)
    attempts = models.PositiveSmallIntegerField(default=1)
    error = models.TextField()
    at = models.DateTimeField()
    parked = models.BooleanField(default=False)

    class Meta:
        db_table = "follow_failures"
