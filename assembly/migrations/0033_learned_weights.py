"""Learned weights of profiles and the reports of their shadow runs, both append-only."""

import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import ORGANISATION, append_only, counts_changes


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0032_recall_tests"),
    ]

    operations = [
        migrations.CreateModel(
            name="LearnedWeights",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("profile", models.CharField(max_length=60)),
                ("profile_version", models.PositiveIntegerField()),
                ("version", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(choices=[("proposed", "Proposed"), ("on", "On"), ("off", "Off")], max_length=10),
                ),
                ("own_weights", models.JSONField()),
                ("weights", models.JSONField()),
                ("contexts", models.PositiveIntegerField()),
                ("held_out", models.PositiveIntegerField()),
                ("recall_before", models.FloatField(null=True)),
                ("recall_after", models.FloatField(null=True)),
                ("by_ref", models.CharField(max_length=80)),
                ("by_name", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "db_table": "learned_weights",
                "indexes": [models.Index(fields=["profile", "-created", "-id"], name="learned_weights_newest")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "proposed")),
                        fields=("profile", "version"),
                        name="learned_weights_version_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["proposed", "on", "off"])), name="learned_weights_state_known"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ShadowReport",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("profile", models.CharField(max_length=60)),
                ("version", models.PositiveIntegerField()),
                ("contexts", models.PositiveIntegerField()),
                ("measured", models.PositiveIntegerField()),
                ("recall_before", models.FloatField(null=True)),
                ("recall_after", models.FloatField(null=True)),
                ("detail", models.JSONField()),
            ],
            options={
                "db_table": "learned_weight_reports",
                "indexes": [models.Index(fields=["profile", "version", "-created"], name="shadow_report_newest")],
            },
        ),
        append_only("learned_weights"),
        append_only("learned_weight_reports"),
        # A switch changes the contexts of everybody who uses the profile.
        counts_changes("learned_weights", f"'{ORGANISATION}'::uuid"),
    ]
