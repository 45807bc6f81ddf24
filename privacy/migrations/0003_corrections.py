"""Corrections of values of subjects, with what became of each thing; deleted with their subject."""

import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import cascade


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0025_cheap_moves"),
        ("privacy", "0002_erasures"),
    ]

    operations = [
        migrations.CreateModel(
            name="SubjectCorrection",
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
                        choices=[
                            ("name", "Name"),
                            ("email", "E-mail"),
                            ("phone", "Phone"),
                            ("iban", "IBAN"),
                            ("national_id", "National identity number"),
                            ("customer_number", "Customer number"),
                            ("username", "User name"),
                            ("other", "Other"),
                        ],
                        max_length=20,
                    ),
                ),
                ("wrong", models.CharField(max_length=200)),
                ("right", models.CharField(max_length=200)),
                ("reason", models.CharField(max_length=500)),
                ("was_identifier", models.BooleanField(default=False)),
                ("chosen", models.JSONField(default=list)),
                ("told", models.JSONField(null=True)),
                ("requested_by", models.CharField(max_length=80)),
                ("requester_name", models.CharField(blank=True, default="", max_length=200)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="memories.job"
                    ),
                ),
                (
                    "subject",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="corrections",
                        to="privacy.subject",
                    ),
                ),
            ],
            options={
                "db_table": "subject_corrections",
            },
        ),
        migrations.CreateModel(
            name="CorrectionResult",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("ref_kind", models.CharField(max_length=20)),
                ("thing", models.UUIDField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("corrected", "Corrected"),
                            ("changed", "Changed meanwhile"),
                            ("missing", "Deleted meanwhile"),
                            ("unchanged", "Had nothing to correct"),
                            ("refused", "Refused"),
                            ("undone", "Undone"),
                        ],
                        max_length=10,
                    ),
                ),
                ("version_before", models.PositiveIntegerField()),
                ("version", models.PositiveIntegerField(null=True)),
                ("places", models.PositiveIntegerField(default=0)),
                ("detail", models.CharField(blank=True, default="", max_length=500)),
                ("sealed_before", models.TextField(blank=True, default="")),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "correction",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="results",
                        to="privacy.subjectcorrection",
                    ),
                ),
            ],
            options={
                "db_table": "subject_correction_results",
                "ordering": ["ref_kind", "id"],
            },
        ),
        migrations.AddIndex(
            model_name="subjectcorrection",
            index=models.Index(fields=["subject", "-created", "-id"], name="subject_correction_newest"),
        ),
        migrations.AddConstraint(
            model_name="subjectcorrection",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        ["name", "email", "phone", "iban", "national_id", "customer_number", "username", "other"],
                    )
                ),
                name="subject_correction_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="correctionresult",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("status__in", ["corrected", "changed", "missing", "unchanged", "refused", "undone"])
                ),
                name="subject_correction_result_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="correctionresult",
            constraint=models.UniqueConstraint(fields=("correction", "thing"), name="subject_correction_result_once"),
        ),
        cascade("subject_corrections", "subject_id", "subjects"),
        cascade("subject_correction_results", "correction_id", "subject_corrections"),
    ]
