"""Indexes by which the list of contexts is walked and searched, and lists that are prepared as files."""

import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

# As the statements of assembly/finding write them: an index is found by its very words.
HEADING_WORDS = """
CREATE INDEX assembly_heading_words ON assemblies
    USING gin (to_tsvector('english', topic || ' ' || agent_name || ' ' || team_name))
    WITH (gin_pending_list_limit = 512)
"""
TEXT_WORDS = """
CREATE INDEX stored_text_words ON stored_texts
    USING gin (to_tsvector('english', left(text, 100000))) WITH (gin_pending_list_limit = 512)
"""
CHUNKS = "CREATE INDEX piece_chunk ON pieces (named varchar_pattern_ops) WHERE named LIKE 'chunk:%'"
WARNINGS = """
CREATE INDEX assembly_warnings ON assemblies USING gin (warnings jsonb_path_ops)
    WITH (gin_pending_list_limit = 512) WHERE warnings <> '[]'::jsonb
"""
CUT = """
CREATE INDEX assembly_cut ON assemblies (created DESC, id DESC) WHERE (truncated OR warnings <> '[]'::jsonb)
"""


def index(sql: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL(sql, f"DROP INDEX {name}")


class Migration(migrations.Migration):
    dependencies = [("assembly", "0015_trends_alerts_webhooks"), ("memories", "0011_import_plans")]

    operations = [
        migrations.AddIndex(
            "assembly", models.Index(fields=["requested_by", "-created", "-id"], name="assembly_requester_newest")
        ),
        migrations.AddIndex(
            "assembly", models.Index(fields=["profile_name", "-created", "-id"], name="assembly_profile_newest")
        ),
        index(HEADING_WORDS, "assembly_heading_words"),
        index(TEXT_WORDS, "stored_text_words"),
        index(CHUNKS, "piece_chunk"),
        index(WARNINGS, "assembly_warnings"),
        index(CUT, "assembly_cut"),
        migrations.CreateModel(
            name="ContextFile",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("requested_by", models.CharField(max_length=80)),
                ("parameters", models.JSONField()),
                (
                    "format",
                    models.CharField(
                        choices=[("csv", "CSV, for spreadsheets"), ("json", "JSON, for programs")], max_length=4
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "job",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="memories.job",
                    ),
                ),
            ],
            options={
                "db_table": "context_files",
                "indexes": [models.Index(fields=["created"], name="context_file_oldest")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("format__in", ["csv", "json"])), name="context_file_format_known"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ContextFilePart",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("number", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
                ("rows", models.PositiveIntegerField()),
                ("place", models.CharField(blank=True, max_length=200)),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="assembly.contextfile",
                    ),
                ),
            ],
            options={
                "db_table": "context_file_parts",
                "constraints": [models.UniqueConstraint(fields=("file", "number"), name="context_file_part_once")],
            },
        ),
    ]
