"""Keys reach the teams that they were granted, may expire, and say who made them.

Keys that are there already reach every team in which their agent works now.
"""

import django.db.models.deletion
from django.db import migrations, models

from config.db.migration_helpers import cascade

GRANT_ALL = """
INSERT INTO api_key_grants (key_id, link_id, granted_by, created)
SELECT api_keys.id, agent_teams.id, 'system', now() FROM api_keys JOIN agent_teams USING (agent_id)
"""


class Migration(migrations.Migration):
    dependencies = [("agents", "0005_log_words")]

    operations = [
        migrations.AddField(
            "apikey", "created_by", models.CharField(blank=True, db_default="", default="", max_length=80)
        ),
        migrations.AddField(
            "apikey", "creator_name", models.CharField(blank=True, db_default="", default="", max_length=200)
        ),
        migrations.AddField("apikey", "expires", models.DateTimeField(null=True)),
        migrations.CreateModel(
            name="KeyGrant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("granted_by", models.CharField(blank=True, default="", max_length=80)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "key",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="grants",
                        to="agents.apikey",
                    ),
                ),
                (
                    "link",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="key_grants",
                        to="agents.agentteam",
                    ),
                ),
            ],
            options={
                "db_table": "api_key_grants",
                "constraints": [models.UniqueConstraint(fields=("key", "link"), name="api_key_grant_once")],
            },
        ),
        cascade("api_key_grants", "key_id", "api_keys"),
        cascade("api_key_grants", "link_id", "agent_teams"),
        migrations.RunSQL(GRANT_ALL, migrations.RunSQL.noop),
    ]
