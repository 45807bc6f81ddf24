"""Contexts, conflicts and external sources have a sensitivity.

The defaults are constant, so no table is rewritten.
"""

from django.db import migrations, models

from config.db.migration_helpers import as_sensitive_as, raises_parts


CONFLICTS = {"conflicts": ("left_item", "right_item")}
PASSAGES = {"file_passages": ("file_id",)}
PARTS: dict[str, tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]] = {
    "memories": ({}, CONFLICTS),
    "documents": ({}, {"chunks": ("document_id",), **CONFLICTS}),
    "entities": ({"relations": ("source_id", "target_id")}, CONFLICTS),
    "agent_md_files": ({}, PASSAGES | CONFLICTS),
    "team_md_files": ({}, PASSAGES | CONFLICTS),
    "organisation_files": ({}, PASSAGES | CONFLICTS),
    "daily_logs": ({}, PASSAGES),
    "sessions": ({"task_frames": ("session_id",), "events": ("session_id",)}, {}),
    "task_frames": ({"task_frames": ("parent_id",), "events": ("task_id",)}, {}),
}
"""By table, which rows are raised with a row, and which always have its level, by the columns that name it."""


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0010_sensitivity"),
        ("assembly", "0035_memory_pressure"),
        ("memories", "0023_sensitivity"),
        ("teams", "0032_sensitivity"),
    ]

    operations = [
        migrations.AddField(
            model_name="assembly",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="conflict",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="externalsource",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="alert",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="proposal",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="recallresult",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="recalltest",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        as_sensitive_as("conflicts", {"left_item": "", "right_item": ""}),
        *(raises_parts(table, parts, derived) for table, (parts, derived) in PARTS.items()),
    ]
