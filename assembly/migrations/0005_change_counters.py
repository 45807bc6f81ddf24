"""Every committed change of what contexts are made of is counted, for the cache of assemblies."""

from django.db import migrations, models

from config.db.migration_helpers import CREATE_COUNTING, DROP_COUNTING, ORGANISATION, counts_changes

OWNERS = {
    "agents": "id",
    "teams": "id",
    "agent_teams": "agent_id",
    "agent_md_files": "agent_id",
    "team_md_files": "team_id",
    "daily_logs": "agent_id",
    "memories": "coalesce(agent_id, team_id)",
    "sessions": "agent_id",
    "events": "agent_id",
    "entities": "agent_id",
    "relations": "agent_id",
    "patterns": "agent_id",
    "documents": "agent_id",
    "chunks": "agent_id",
    "threads": "agent_id",
    "tools": "agent_id",
    "task_frames": "agent_id",
    "profiles": f"'{ORGANISATION}'::uuid",
}


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0004_profile_history"),
        ("memories", "0004_librarian_cascades"),
        ("agents", "0002_history"),
        ("teams", "0002_history"),
    ]

    operations = [
        migrations.CreateModel(
            name="ChangeCounter",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "owner", "shard", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("owner", models.UUIDField()),
                ("shard", models.IntegerField()),
                ("value", models.BigIntegerField()),
            ],
            options={
                "db_table": "change_counters",
            },
        ),
        migrations.RunSQL(CREATE_COUNTING, DROP_COUNTING),
        *(counts_changes(table, owner) for table, owner in OWNERS.items()),
    ]
