"""The history of rules is append-only, rules go with their owner, and their changes are counted."""

from django.db import migrations

from config.db.migration_helpers import CREATE_ERASE, ORGANISATION, append_only, cascade, counts_changes


class Migration(migrations.Migration):
    dependencies = [("assembly", "0007_rules"), ("agents", "0002_history"), ("teams", "0002_history")]

    operations = [
        append_only("rule_versions"),
        cascade("rule_versions", "file_id", "rules"),
        cascade("rules", "agent_id", "agents"),
        cascade("rules", "team_id", "teams"),
        counts_changes("rules", f"coalesce(agent_id, team_id, '{ORGANISATION}'::uuid)"),
        migrations.RunSQL(CREATE_ERASE, migrations.RunSQL.noop),
    ]
