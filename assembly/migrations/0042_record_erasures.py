"""What erasures removed from records, which seals hold as they hold prunings."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import append_only


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0041_encrypted_texts"),
    ]

    operations = [
        migrations.AddField("seal", "erasure", models.UUIDField(null=True, unique=True)),
        migrations.AddField("seal", "erasure_sha256", models.BinaryField(max_length=32, null=True)),
        migrations.CreateModel(
            name="RecordErasure",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField()),
                ("erasure", models.UUIDField(db_index=True)),
                ("number", models.PositiveIntegerField()),
                ("by_ref", models.CharField(max_length=80)),
                (
                    "pieces",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("piece_hashes", models.BinaryField(default=b"")),
                (
                    "refs",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=160), default=list, size=None
                    ),
                ),
                (
                    "assemblies",
                    django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None),
                ),
                (
                    "columns",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=100), default=list, size=None
                    ),
                ),
                ("hashes", models.BinaryField(default=b"")),
                ("report", models.TextField(blank=True, default="")),
            ],
            options={
                "db_table": "record_erasures",
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(fields=["pieces"], name="record_erasure_pieces"),
                    django.contrib.postgres.indexes.GinIndex(fields=["assemblies"], name="record_erasure_assemblies"),
                ],
            },
        ),
        append_only("record_erasures"),
    ]
