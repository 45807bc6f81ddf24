"""The database deletes what an agent keeps along with the agent, and what hangs on a thing along with the thing."""

from django.db import migrations

from config.db.migration_helpers import cascade

OF_AGENTS = (
    "sessions",
    "events",
    "entities",
    "relations",
    "patterns",
    "documents",
    "chunks",
    "threads",
    "tools",
    "task_frames",
    "jobs",
)


class Migration(migrations.Migration):
    dependencies = [("memories", "0003_librarian"), ("agents", "0002_history")]

    operations = [
        *(cascade(table, "agent_id", "agents") for table in OF_AGENTS),
        cascade("events", "session_id", "sessions"),
        cascade("task_frames", "session_id", "sessions"),
        cascade("task_frames", "parent_id", "task_frames"),
        cascade("relations", "source_id", "entities"),
        cascade("relations", "target_id", "entities"),
        cascade("chunks", "document_id", "documents"),
        migrations.RunSQL(
            "ALTER TABLE events ADD CONSTRAINT events_task_id FOREIGN KEY (task_id)"
            " REFERENCES task_frames (id) ON DELETE SET NULL",
            "ALTER TABLE events DROP CONSTRAINT events_task_id",
        ),
    ]
