"""Erasures of subjects with the database functions that they use, and legal holds."""

import uuid_utils.compat
from django.db import migrations, models

from privacy.erasure.database_functions import CREATE_FUNCTIONS, DROP_FUNCTIONS


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0042_record_erasures"),
        ("privacy", "0001_subjects"),
    ]

    operations = [
        migrations.CreateModel(
            name="LegalHold",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("subject", "Subject"), ("team", "Team"), ("agent", "Agent")], max_length=10
                    ),
                ),
                ("target", models.UUIDField()),
                ("reason", models.CharField(max_length=1000)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("set_by", models.CharField(max_length=80)),
                ("setter_name", models.CharField(blank=True, default="", max_length=200)),
                ("lifted_at", models.DateTimeField(null=True)),
                ("lifted_by", models.CharField(blank=True, default="", max_length=80)),
                ("lifter_name", models.CharField(blank=True, default="", max_length=200)),
            ],
            options={
                "db_table": "legal_holds",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["subject", "team", "agent"])), name="legal_hold_kind_known"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("lifted_at", None)),
                        fields=("kind", "target"),
                        name="legal_hold_once_at_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SubjectErasure",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.PositiveIntegerField(unique=True)),
                ("subject_id", models.UUIDField(db_index=True)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("requested_by", models.CharField(max_length=80)),
                ("requester_name", models.CharField(blank=True, default="", max_length=200)),
                ("reason", models.CharField(max_length=1000)),
                (
                    "state",
                    models.CharField(
                        choices=[("running", "Running"), ("blocked", "Blocked"), ("finished", "Finished")],
                        default="running",
                        max_length=10,
                    ),
                ),
                ("blocked_because", models.CharField(blank=True, default="", max_length=500)),
                ("job_id", models.UUIDField(null=True)),
                ("whole", models.JSONField(default=list)),
                ("spared", models.JSONField(default=list)),
                ("sealed_spellings", models.TextField(blank=True, default="")),
                ("steps", models.JSONField(default=dict)),
                ("vectors", models.JSONField(default=list)),
                ("report", models.JSONField(null=True)),
                ("sha256", models.BinaryField(max_length=32, null=True)),
                ("completed_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "subject_erasures",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["running", "blocked", "finished"])),
                        name="subject_erasure_state_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "finished"), _negated=True),
                        fields=("subject_id",),
                        name="subject_erasure_one_at_a_time",
                    ),
                ],
            },
        ),
        migrations.RunSQL(CREATE_FUNCTIONS, DROP_FUNCTIONS),
    ]
