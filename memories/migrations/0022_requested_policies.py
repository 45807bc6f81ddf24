"""Requests may narrow the policies of what they included; counts of uses have how often a thing was woken."""

import django.db.models.deletion
from django.db import migrations, models

from config.db.migration_helpers import cascade


class Migration(migrations.Migration):
    dependencies = [("agents", "0009_origin"), ("memories", "0021_storage_tiers")]

    operations = [
        migrations.AddField("thinguse", "woken", models.PositiveIntegerField(db_default=0, default=0)),
        migrations.CreateModel(
            name="RequestedPolicy",
            fields=[
                ("thing", models.UUIDField(primary_key=True, serialize=False)),
                (
                    "agent",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="agents.agent",
                    ),
                ),
                ("policy", models.JSONField()),
                ("created", models.DateTimeField(auto_now=True)),
            ],
            options={"db_table": "requested_policies"},
        ),
        cascade("requested_policies", "agent_id", "agents"),
        migrations.RemoveIndex("lifecyclereport", "lifecycle_report_run"),
        migrations.AddIndex(
            "lifecyclereport", models.Index(fields=["step", "-created", "-id"], name="lifecycle_report_of_step")
        ),
    ]
