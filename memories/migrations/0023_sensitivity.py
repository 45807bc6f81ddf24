"""Memories and all other items have a sensitivity, which what belongs to an item shares.

The defaults are constant, so no table is rewritten.
"""

from django.db import migrations, models

from config.db.migration_helpers import as_sensitive_as, counts_sensitive_rows


SENSITIVE_TABLES = {
    **dict.fromkeys(
        (
            *("events", "sessions", "task_frames", "entities", "relations", "patterns", "threads", "tools"),
            *("documents", "chunks", "agent_md_files", "daily_logs"),
        ),
        "agent_id",
    ),
    "memories": "agent_id, team_id",
    "team_md_files": "team_id",
    "organisation_files": "id",
}
PARTS = {
    "chunks": {"document_id": "documents"},
    "file_passages": {"file_id": ""},
    "relations": {"source_id": "entities", "target_id": "entities"},
    "task_frames": {"session_id": "sessions", "parent_id": "task_frames"},
    "events": {"session_id": "sessions", "task_id": "task_frames"},
}
"""The tables of rows that are at least as sensitive as those that they belong to, by the columns that name
these, with their table; without one, any table is searched.
"""

# An id names one row in all tables.
WHOLES = (
    *("memories", "documents", "entities", "sessions", "task_frames"),
    *("events", "relations", "patterns", "threads", "tools"),
    *("agent_md_files", "team_md_files", "organisation_files", "daily_logs"),
)
CREATE_SENSITIVITY_OF = f"""
CREATE FUNCTION sensitivity_of(item uuid) RETURNS smallint
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT max(sensitivity) FROM (
        {" UNION ALL ".join(f"SELECT sensitivity FROM {table} WHERE id = item" for table in WHOLES)}
    ) AS found
$$;
"""  # noqa: S608 - only the names above are put in


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0010_sensitivity"),
        ("memories", "0022_requested_policies"),
        ("teams", "0032_sensitivity"),
    ]

    operations = [
        migrations.AddField(
            model_name="chunk",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="document",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="entity",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="event",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="filepassage",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="memoryversion",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="pattern",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="relation",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="taskframe",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="thread",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="tool",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        *(counts_sensitive_rows(table, owners) for table, owners in SENSITIVE_TABLES.items()),
        migrations.RunSQL(CREATE_SENSITIVITY_OF, "DROP FUNCTION sensitivity_of(uuid)"),
        *(as_sensitive_as(table, columns) for table, columns in PARTS.items()),
    ]
