"""Retention policies limit how long records are stored; flags exempt some; prunings and erasures list what is gone."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils import timezone
from uuid_utils.compat import uuid7

from teams.models import Team
from teams.versioned_text.versioned_file import Signed

MAX_DAYS = 36_500
MAX_FLAG_NOTE_CHARACTERS = 200


class RetentionPolicy(Signed):
    """For how many days the records of a team are stored; without a team, those of all teams without their own policy.

    `days` None: without a limit. `keep_flagged`: flagged records are never deleted.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team = models.ForeignKey(
        Team, models.DO_NOTHING, db_constraint=False, db_index=False, null=True, related_name="retention_policies"
    )
    days = models.PositiveIntegerField(null=True)
    keep_flagged = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "retention_policies"
        constraints = [
            models.UniqueConstraint(fields=["team"], name="retention_policy_once", nulls_distinct=False),
            models.CheckConstraint(condition=models.Q(days__range=(1, MAX_DAYS)), name="retention_policy_days"),
        ]


class AssemblyFlag(models.Model):
    """A person's flag that exempts a record from deletion. The database refuses flags for deleted records."""

    assembly = models.OneToOneField(
        "assembly.Assembly", models.DO_NOTHING, primary_key=True, db_column="assembly", db_constraint=False,
        related_name="flag",
    )  # fmt: skip
    created = models.DateTimeField(auto_now_add=True)
    by_ref = models.CharField(max_length=80)
    by_name = models.CharField(max_length=200, blank=True)
    note = models.CharField(max_length=MAX_FLAG_NOTE_CHARACTERS, blank=True, default="")

    class Meta:
        db_table = "assembly_flags"


class Pruning(models.Model):
    """A deletion of records whose retention period was over: the ids, with the hashes that the seals hold.

    Only the database function `prune_assemblies` writes prunings. `hashes` has 32 bytes for each of `assemblies`.
    """

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField()
    team_id = models.UUIDField(null=True)
    days = models.PositiveIntegerField()
    keep_flagged = models.BooleanField()
    by_ref = models.CharField(max_length=80)
    assemblies = ArrayField(models.UUIDField())
    hashes = models.BinaryField()

    class Meta:
        db_table = "prunings"
        indexes = [GinIndex(fields=["assemblies"], name="pruning_assemblies")]


class RecordErasure(models.Model):
    """A part of the erasure of a person's data: pieces that were deleted, and records with columns that were emptied.

    `erasure` and `number` are those of the whole erasure. For each of `pieces`, `piece_hashes` has its 32 bytes, and
    `refs` its ref without a version, empty where the ref itself names the person. For each of `assemblies`, `columns`
    are the names of the emptied columns, separated by spaces, and `hashes` has the 32 bytes with which the record is
    hashed since then. The last row of an erasure has its report as JSON text; other rows have none.
    """

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField()
    erasure = models.UUIDField(db_index=True)
    number = models.PositiveIntegerField()
    by_ref = models.CharField(max_length=80)
    pieces = ArrayField(models.BigIntegerField(), default=list)
    piece_hashes = models.BinaryField(default=b"")
    refs = ArrayField(models.CharField(max_length=160), default=list)
    assemblies = ArrayField(models.UUIDField(), default=list)
    columns = ArrayField(models.CharField(max_length=100), default=list)
    hashes = models.BinaryField(default=b"")
    report = models.TextField(blank=True, default="")

    class Meta:
        db_table = "record_erasures"
        indexes = [
            GinIndex(fields=["pieces"], name="record_erasure_pieces"),
            GinIndex(fields=["assemblies"], name="record_erasure_assemblies"),
        ]


class UnusedPiece(models.Model):
    """A piece of a deleted record that possibly no other record uses. See `assembly.records.pruning`."""

    piece = models.BigIntegerField(primary_key=True)

    class Meta:
        db_table = "unused_pieces"


class UnusedKey(models.Model):
    """The id of a key whose text, record or owner was deleted. Triggers of the database list them, and
    `assembly.records.unused_keys` destroys the keys. Those of an `erasure` are destroyed by it.
    """

    key = models.BinaryField(primary_key=True, max_length=32)
    noted_at = models.DateTimeField(default=timezone.now)
    retired_at = models.DateTimeField(null=True)
    erasure = models.UUIDField(null=True)

    class Meta:
        db_table = "unused_keys"
