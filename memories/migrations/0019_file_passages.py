"""Passages of files and daily logs, by which these are found by meaning; a job makes those of the files that exist.

Nothing is computed here. Until the job has run, contexts split the texts as they need them.
"""

import uuid

import django.db.models.deletion
import pgvector.django.vector
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import migrations, models
from django.db.models.functions import Coalesce

from config.db.migration_helpers import ORGANISATION, cascade, counts_changes

DEFAULT = "english"
LANGUAGES = (
    "german", "spanish", "french", "italian", "portuguese", "dutch", "swedish", "danish", "norwegian", "finnish",
    "hungarian", "russian", "turkish",
)  # fmt: skip
FILE_TABLES = {
    "agent_file": "agent_md_files",
    "team_file": "team_md_files",
    "organisation_file": "organisation_files",
    "daily_log": "daily_logs",
}
LONGEST_NAME = 200

# The passages refer to rows of four tables, so no foreign key can delete them with their file.
CREATE_DELETION = """
CREATE FUNCTION delete_file_passages() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM file_passages WHERE file_id IN (SELECT id FROM old_rows);
    RETURN NULL;
END $$
"""
DELETE_WITH_FILE = """
CREATE TRIGGER {table}_delete_passages AFTER DELETE ON {table} REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION delete_file_passages()
"""
# Identity and instructions of agents are no memory, so contexts have them whole.
EXISTING_FILES = r"""
SELECT content FROM agent_md_files WHERE file_key = 'KNOWLEDGE'
UNION ALL SELECT content FROM team_md_files
UNION ALL SELECT content FROM organisation_files
UNION ALL SELECT content FROM daily_logs
"""
# A job without a lease is sent to a worker by the next sweep.
CREATE_JOB = rf"""
INSERT INTO jobs (id, kind, arguments, status, attempts, steps, steps_done, error, requested_by, created)
SELECT gen_random_uuid(), 'split_files', '{{}}', 'queued', 0, count(*), 0, '', 'system', now()
FROM ({EXISTING_FILES}) AS files WHERE content ~ '\S' HAVING count(*) > 0
"""  # noqa: S608 - only the constants above are put in


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0018_labels"),
        ("agents", "0008_profile"),
        ("teams", "0014_organisation_files"),
        ("assembly", "0005_change_counters"),
    ]

    operations = [
        migrations.CreateModel(
            name="FilePassage",
            fields=[
                ("embedding", pgvector.django.vector.VectorField(null=True)),
                (
                    "embedding_model",
                    models.CharField(blank=True, db_default="", default="", max_length=LONGEST_NAME),
                ),
                ("second_embedding", pgvector.django.vector.VectorField(null=True)),
                (
                    "second_embedding_model",
                    models.CharField(blank=True, db_default="", default="", max_length=LONGEST_NAME),
                ),
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("file_kind", models.CharField(choices=[(kind, kind) for kind in FILE_TABLES], max_length=20)),
                ("file_id", models.UUIDField()),
                ("file_version", models.PositiveIntegerField()),
                (
                    "agent",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="agents.agent",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="teams.team",
                    ),
                ),
                (
                    "owner",
                    models.GeneratedField(
                        db_persist=True,
                        expression=Coalesce("agent_id", "team_id", models.Value(uuid.UUID(int=0), models.UUIDField())),
                        output_field=models.UUIDField(),
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("line", models.PositiveIntegerField()),
                ("text", models.TextField()),
                (
                    "language",
                    models.CharField(
                        choices=[(name, name) for name in (DEFAULT, *LANGUAGES)],
                        db_default=DEFAULT,
                        default=DEFAULT,
                        max_length=20,
                    ),
                ),
                (
                    "search",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            *(models.When(language=name, then=SearchVector("text", config=name)) for name in LANGUAGES),
                            default=SearchVector("text", config=DEFAULT),
                        ),
                        output_field=SearchVectorField(),
                    ),
                ),
            ],
            options={
                "db_table": "file_passages",
                "constraints": [
                    models.UniqueConstraint(fields=("file_id", "position"), name="file_passage_once"),
                    models.CheckConstraint(
                        condition=models.Q(agent=None) | models.Q(team=None), name="file_passage_one_owner_at_most"
                    ),
                ],
                "indexes": [
                    GinIndex(fields=["search"], name="file_passage_search"),
                    models.Index(
                        condition=~models.Q(language=DEFAULT),
                        fields=["owner", "language"],
                        name="file_passage_languages",
                    ),
                ],
            },
        ),
        # As for the other tables with two vectors: rows with both would exceed what PostgreSQL keeps together.
        migrations.RunSQL("ALTER TABLE file_passages SET (toast_tuple_target = 8160)", migrations.RunSQL.noop),
        cascade("file_passages", "agent_id", "agents"),
        cascade("file_passages", "team_id", "teams"),
        counts_changes("file_passages", f"coalesce(agent_id, team_id, '{ORGANISATION}'::uuid)"),
        migrations.RunSQL(CREATE_DELETION, "DROP FUNCTION delete_file_passages()"),
        *(
            migrations.RunSQL(DELETE_WITH_FILE.format(table=table), f"DROP TRIGGER {table}_delete_passages ON {table}")
            for table in FILE_TABLES.values()
        ),
        migrations.RunSQL(CREATE_JOB, migrations.RunSQL.noop),
    ]
