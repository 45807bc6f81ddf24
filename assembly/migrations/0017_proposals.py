"""Proposals: a “what if” that is kept for those who may decide."""

import uuid_utils.compat
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0013_pieces"),
    ]

    operations = [
        migrations.CreateModel(
            name="Proposal",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("assembly_id", models.UUIDField(db_index=True)),
                ("agent_id", models.UUIDField()),
                ("agent_slug", models.CharField(max_length=60)),
                ("agent_name", models.CharField(max_length=120)),
                ("team_id", models.UUIDField(null=True)),
                ("team_slug", models.CharField(blank=True, max_length=60)),
                ("team_name", models.CharField(blank=True, max_length=120)),
                ("wishes", models.JSONField()),
                ("note", models.CharField(blank=True, default="", max_length=1000)),
                ("basis", models.CharField(max_length=10)),
                ("tokens_before", models.PositiveIntegerField()),
                ("tokens_after", models.PositiveIntegerField()),
                ("came_in", models.PositiveIntegerField()),
                ("went", models.PositiveIntegerField()),
                ("proposed_by", models.CharField(max_length=80)),
                ("proposer_name", models.CharField(blank=True, max_length=200)),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Open"), ("accepted", "Accepted"), ("dismissed", "Dismissed")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("decided_by", models.CharField(blank=True, default="", max_length=80)),
                ("decider_name", models.CharField(blank=True, default="", max_length=200)),
                ("decided", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "proposals",
                "indexes": [
                    models.Index(fields=["-created", "-id"], name="proposal_newest"),
                    models.Index(fields=["agent_id", "-created", "-id"], name="proposal_agent_newest"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["open", "accepted", "dismissed"])),
                        name="proposal_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided", None), ("status", "open")),
                            models.Q(models.Q(("status", "open"), _negated=True), ("decided__isnull", False)),
                            _connector="OR",
                        ),
                        name="proposal_decided_once",
                    ),
                ],
            },
        ),
    ]
