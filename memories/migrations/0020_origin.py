"""Memories and items of agents say where they come from: from who wrote them or, of some events, from a tool."""

from django.db import migrations, models

from config.db.migration_helpers import derive_origin

ORIGIN = models.CharField(
    choices=[
        ("person", "a person"),
        ("agent", "an agent"),
        ("tool", "a tool"),
        ("external", "an external source"),
    ],
    db_default="person",
    default="person",
    max_length=10,
)
MODELS = {
    "memory": "memories",
    "session": "sessions",
    "taskframe": "task_frames",
    "event": "events",
    "entity": "entities",
    "relation": "relations",
    "pattern": "patterns",
    "thread": "threads",
    "tool": "tools",
    "document": "documents",
}
TOOL_EVENTS = """
UPDATE events SET origin = 'tool' WHERE type IN ('tool_result', 'shell_exec', 'file_read', 'file_write', 'error');
SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0019_file_passages"), ("agents", "0009_origin")]

    operations = [
        *(migrations.AddField(model, "origin", ORIGIN) for model in (*MODELS, "memoryversion")),
        *(derive_origin(table) for table in MODELS.values()),
        derive_origin("memory_versions", append_only=True),
        migrations.RunSQL(TOOL_EVENTS, migrations.RunSQL.noop),
    ]
