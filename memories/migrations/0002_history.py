"""The database keeps history: append-only versions, and cascades of its own."""

from django.db import migrations

from config.db.migration_helpers import append_only, cascade


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_initial"), ("agents", "0002_history")]

    operations = [
        append_only("memory_versions"),
        cascade("memories", "agent_id", "agents"),
        cascade("memories", "team_id", "teams"),
        cascade("memory_versions", "file_id", "memories"),
        migrations.RunSQL(
            "ALTER TABLE memories ADD CONSTRAINT memories_superseded_by FOREIGN KEY (superseded_by_id)"
            " REFERENCES memories (id) ON DELETE SET NULL",
            "ALTER TABLE memories DROP CONSTRAINT memories_superseded_by",
        ),
    ]
