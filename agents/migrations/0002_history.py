"""The database keeps history: append-only version tables, and cascades of its own."""

from django.db import migrations

from config.db.migration_helpers import append_only, cascade


class Migration(migrations.Migration):
    dependencies = [("agents", "0001_initial"), ("teams", "0002_history")]

    operations = [
        append_only("agent_md_file_versions"),
        append_only("daily_log_versions"),
        cascade("agent_teams", "agent_id", "agents"),
        cascade("agent_teams", "team_id", "teams"),
        cascade("agent_md_files", "agent_id", "agents"),
        cascade("agent_md_file_versions", "file_id", "agent_md_files"),
        cascade("daily_logs", "agent_id", "agents"),
        cascade("daily_log_versions", "file_id", "daily_logs"),
        cascade("api_keys", "agent_id", "agents"),
    ]
