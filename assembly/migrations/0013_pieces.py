"""Records take a tenth of the room: what assemblies considered is stored once, and the rest of a record is packed.

Those that exist are packed likewise, and go back to rows of decisions where this is undone.
"""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
from django.db import migrations, models

from assembly.migrations._packing import pack_records, unpack_records
from config.db.migration_helpers import append_only

KEEP = "ALTER TABLE assemblies {} TRIGGER assemblies_keeps_rows;"
IDS = django.contrib.postgres.fields.ArrayField(models.BigIntegerField(), default=list)


class Migration(migrations.Migration):
    dependencies = [("assembly", "0012_notes")]

    operations = [
        migrations.CreateModel(
            name="Piece",
            fields=[
                ("id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("sha256", models.BinaryField(max_length=32)),
                ("ref", models.CharField(max_length=160)),
                ("named", models.CharField(max_length=160)),
                ("text_sha256", models.BinaryField(max_length=32)),
                ("facts", models.JSONField()),
            ],
            options={"db_table": "pieces"},
        ),
        migrations.CreateModel(
            name="NewAssembly",
            fields=[("assembly", models.UUIDField(primary_key=True, serialize=False))],
            options={"db_table": "new_assemblies"},
        ),
        migrations.AddField("assembly", "told", IDS),
        migrations.AddField("assembly", "omitted", IDS),
        migrations.AddField(
            "assembly",
            "codes",
            django.contrib.postgres.fields.ArrayField(models.CharField(max_length=30), default=list),
        ),
        migrations.AddField("assembly", "body", models.BinaryField(default=b"")),
        migrations.RunSQL(KEEP.format("DISABLE"), KEEP.format("ENABLE")),
        migrations.RunPython(pack_records, unpack_records),
        migrations.RunSQL(KEEP.format("ENABLE"), KEEP.format("DISABLE")),
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS ALL IMMEDIATE"),
        *(
            operation
            for name in ("request", "profile", "sections", "sources")
            for operation in (
                migrations.AlterField("assembly", name, models.JSONField(default=dict)),
                migrations.RemoveField("assembly", name),
            )
        ),
        migrations.RunSQL(migrations.RunSQL.noop, append_only("decisions").sql),
        migrations.DeleteModel("Decision"),
        append_only("pieces"),
        migrations.AddIndex("piece", models.Index(fields=["named"], name="piece_named")),
        migrations.AddIndex("piece", models.Index(fields=["text_sha256"], name="piece_text")),
        migrations.AddIndex(
            "assembly",
            django.contrib.postgres.indexes.GinIndex(fields=["told"], name="assembly_told", gin_pending_list_limit=512),
        ),
        migrations.AddIndex(
            "assembly",
            django.contrib.postgres.indexes.GinIndex(
                fields=["omitted"], name="assembly_omitted", gin_pending_list_limit=512
            ),
        ),
        migrations.AddIndex(
            "assembly",
            django.contrib.postgres.indexes.GinIndex(
                fields=["codes"], name="assembly_codes", gin_pending_list_limit=512
            ),
        ),
    ]
