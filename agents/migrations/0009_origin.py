"""Files of agents and daily logs say where they come from; so do the existing ones, and those of teams."""

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


class Migration(migrations.Migration):
    dependencies = [("agents", "0008_profile"), ("teams", "0015_origin")]

    operations = [
        migrations.AddField("agentfile", "origin", ORIGIN),
        migrations.AddField("agentfileversion", "origin", ORIGIN),
        migrations.AddField("dailylog", "origin", ORIGIN),
        migrations.AddField("dailylogversion", "origin", ORIGIN),
        *(derive_origin(table) for table in ("team_md_files", "agent_md_files", "daily_logs")),
        *(
            derive_origin(table, append_only=True)
            for table in ("team_md_file_versions", "agent_md_file_versions", "daily_log_versions")
        ),
    ]
