"""Counts of contexts by day, alerts, and webhooks that are told of them."""

import django.contrib.postgres.fields
import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import cascade

# Two JSON objects of whole numbers added, name by name.
CREATE_SUM = """
CREATE FUNCTION counts_added(one jsonb, other jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_object_agg(name, total), '{}'::jsonb) FROM (
        SELECT name, sum(counted::bigint) AS total FROM (
            SELECT key AS name, value AS counted FROM jsonb_each_text(one)
            UNION ALL SELECT key, value FROM jsonb_each_text(other)
        ) AS each_name GROUP BY name
    ) AS added
$$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0014_seals"),
        ("teams", "0005_editor"),
    ]

    operations = [
        migrations.RunSQL(CREATE_SUM, "DROP FUNCTION counts_added(jsonb, jsonb)"),
        migrations.CreateModel(
            name="MemoryTelling",
            fields=[
                ("memory_id", models.UUIDField(primary_key=True, serialize=False)),
                ("told_on", models.DateField()),
            ],
            options={
                "db_table": "memory_tellings",
            },
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("agent_id", models.UUIDField()),
                ("agent_slug", models.CharField(max_length=60)),
                ("agent_name", models.CharField(max_length=120)),
                ("team_id", models.UUIDField(null=True)),
                ("team_slug", models.CharField(blank=True, max_length=60)),
                ("team_name", models.CharField(blank=True, max_length=120)),
                ("profile_name", models.CharField(max_length=60)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("file_cut", "cut"),
                            ("file_left_out", "left out"),
                            ("section_missing", "missing"),
                            ("budget_exceeded", "over the budget"),
                            ("rule_not_kept", "not kept"),
                        ],
                        max_length=20,
                    ),
                ),
                ("thing", models.CharField(max_length=160)),
                ("cause", models.CharField(max_length=160)),
                ("name", models.CharField(max_length=200)),
                ("detail", models.JSONField(default=dict)),
                ("context", models.UUIDField()),
                ("opened", models.DateTimeField()),
                ("times", models.PositiveIntegerField(default=1)),
                ("closed", models.DateTimeField(null=True)),
                ("closed_in", models.UUIDField(null=True)),
                ("seen", models.DateTimeField(null=True)),
                ("seen_by", models.CharField(blank=True, default="", max_length=200)),
                ("settled", models.DateTimeField(null=True)),
                ("settled_by", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "db_table": "alerts",
                "indexes": [
                    models.Index(fields=["-created", "-id"], name="alert_newest"),
                    models.Index(
                        condition=models.Q(("closed", None), ("settled", None)),
                        fields=["-created", "-id"],
                        name="alert_waiting",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("agent_id", "team_id", "profile_name", "kind", "thing", "cause"),
                        name="alert_once_per_change",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                ["file_cut", "file_left_out", "section_missing", "budget_exceeded", "rule_not_kept"],
                            )
                        ),
                        name="alert_kind_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DayCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("agent_id", models.UUIDField()),
                ("team_id", models.UUIDField(null=True)),
                ("contexts", models.BigIntegerField()),
                ("repeats", models.BigIntegerField()),
                ("tokens", models.BigIntegerField()),
                ("budget", models.BigIntegerField()),
                ("assembly_ms", models.BigIntegerField()),
                ("considered", models.BigIntegerField()),
                ("layers", models.JSONField()),
                ("cut", models.JSONField()),
                ("left_out", models.JSONField()),
                ("late", models.JSONField()),
                ("failed", models.JSONField()),
                ("warnings", models.JSONField()),
                ("durations", models.JSONField()),
            ],
            options={
                "db_table": "context_counts",
                "indexes": [
                    models.Index(fields=["agent_id", "day"], name="context_count_agent"),
                    models.Index(fields=["team_id", "day"], name="context_count_team"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("day", "agent_id", "team_id"), name="context_count_once", nulls_distinct=False
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("updated_by", models.CharField(default="system", max_length=10)),
                ("editor_ref", models.CharField(blank=True, default="", max_length=80)),
                ("editor_name", models.CharField(blank=True, default="", max_length=200)),
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("label", models.CharField(max_length=80)),
                ("url", models.CharField(max_length=2000)),
                (
                    "events",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("alert.opened", "An alert is opened"),
                                ("alert.closed", "An alert is closed"),
                                ("records.damaged", "Records of contexts are damaged"),
                            ],
                            max_length=30,
                        ),
                        size=None,
                    ),
                ),
                ("active", models.BooleanField(default=True)),
                ("sealed_secret", models.TextField()),
                ("sealed_before", models.TextField(blank=True, default="")),
                ("before_until", models.DateTimeField(null=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "team",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="teams.team",
                    ),
                ),
            ],
            options={
                "db_table": "webhooks",
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("event", models.CharField(max_length=30)),
                ("body", models.TextField()),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("attempted", models.DateTimeField(null=True)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("answer", models.CharField(blank=True, default="", max_length=500)),
                ("ms", models.PositiveIntegerField(null=True)),
                ("fault", models.CharField(blank=True, default="", max_length=300)),
                ("delivered", models.BooleanField(default=False)),
                (
                    "webhook",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="deliveries",
                        to="assembly.webhook",
                    ),
                ),
            ],
            options={
                "db_table": "webhook_deliveries",
            },
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.CheckConstraint(condition=models.Q(("version__gte", 1)), name="webhook_version_from_1"),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(fields=["webhook", "-created", "-id"], name="webhook_delivery_newest"),
        ),
        cascade("webhooks", "team_id", "teams"),
        cascade("webhook_deliveries", "webhook_id", "webhooks"),
    ]
