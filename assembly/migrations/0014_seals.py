"""Seals, the keeping of records, and the functions by which they go. The records that exist are queued to be sealed."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from assembly.records.pruning_sql import CREATE_PRUNING, DROP_PRUNING
from config.db.migration_helpers import append_only, cascade

# Checked at once, not at the end of the transaction: who flags learns whether the record is still there.
FLAG_WHAT_IS_THERE = """
ALTER TABLE assembly_flags ADD CONSTRAINT assembly_flags_of_records FOREIGN KEY (assembly) REFERENCES assemblies (id)
"""
QUEUE_ALL = "INSERT INTO new_assemblies (assembly) SELECT id FROM assemblies ON CONFLICT DO NOTHING"


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0013_pieces"),
        ("teams", "0005_editor"),
    ]

    operations = [
        migrations.CreateModel(
            name="AssemblyFlag",
            fields=[
                (
                    "assembly",
                    models.OneToOneField(
                        db_column="assembly",
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="flag",
                        serialize=False,
                        to="assembly.assembly",
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("by_ref", models.CharField(max_length=80)),
                ("by_name", models.CharField(blank=True, max_length=200)),
                ("note", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "db_table": "assembly_flags",
            },
        ),
        migrations.CreateModel(
            name="FollowFailure",
            fields=[
                ("assembly", models.UUIDField(primary_key=True, serialize=False)),
                ("attempts", models.PositiveSmallIntegerField(default=1)),
                ("error", models.TextField()),
                ("at", models.DateTimeField()),
                ("parked", models.BooleanField(default=False)),
            ],
            options={
                "db_table": "follow_failures",
            },
        ),
        migrations.CreateModel(
            name="Pruning",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField()),
                ("team_id", models.UUIDField(null=True)),
                ("days", models.PositiveIntegerField()),
                ("keep_flagged", models.BooleanField()),
                ("by_ref", models.CharField(max_length=80)),
                ("assemblies", django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)),
                ("hashes", models.BinaryField()),
            ],
            options={
                "db_table": "prunings",
                "indexes": [django.contrib.postgres.indexes.GinIndex(fields=["assemblies"], name="pruning_assemblies")],
            },
        ),
        migrations.CreateModel(
            name="Seal",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("created", models.DateTimeField()),
                ("previous", models.BinaryField(max_length=32)),
                ("assemblies", django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)),
                ("hashes", models.BinaryField()),
                ("pruning", models.UUIDField(null=True, unique=True)),
                ("pruning_sha256", models.BinaryField(max_length=32, null=True)),
                ("sha256", models.BinaryField(max_length=32)),
            ],
            options={
                "db_table": "seals",
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(fields=["assemblies"], name="seal_assemblies"),
                    models.Index(fields=["created"], name="seal_created"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RetentionPolicy",
            fields=[
                ("updated_by", models.CharField(default="system", max_length=10)),
                ("editor_ref", models.CharField(blank=True, default="", max_length=80)),
                ("editor_name", models.CharField(blank=True, default="", max_length=200)),
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("days", models.PositiveIntegerField(null=True)),
                ("keep_flagged", models.BooleanField(default=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "team",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="retention_policies",
                        to="teams.team",
                    ),
                ),
            ],
            options={
                "db_table": "retention_policies",
                "constraints": [
                    models.UniqueConstraint(fields=("team",), name="retention_policy_once", nulls_distinct=False),
                    models.CheckConstraint(
                        condition=models.Q(("days__range", (1, 36500))), name="retention_policy_days"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="UnusedPiece",
            fields=[("piece", models.BigIntegerField(primary_key=True, serialize=False))],
            options={"db_table": "unused_pieces"},
        ),
        append_only("seals"),
        append_only("prunings"),
        cascade("retention_policies", "team_id", "teams"),
        migrations.RunSQL(FLAG_WHAT_IS_THERE, migrations.RunSQL.noop),
        migrations.RunSQL(CREATE_PRUNING, DROP_PRUNING),
        migrations.RunSQL(QUEUE_ALL, migrations.RunSQL.noop),
    ]
