"""Feedback on contexts, their measured quality, and the tunings of profiles; sums of quality by day."""

import django.contrib.postgres.fields
import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import ORGANISATION, append_only, cascade, counts_changes


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0030_conflicts"),
    ]

    operations = [
        migrations.CreateModel(
            name="TuningWindow",
            fields=[
                ("profile_name", models.CharField(max_length=60, primary_key=True, serialize=False)),
                ("assembly", models.UUIDField()),
            ],
            options={
                "db_table": "tuning_windows",
            },
        ),
        migrations.AddField(
            model_name="daycount",
            name="quality_counts",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="daycount",
            name="quality_sums",
            field=models.JSONField(default=dict),
        ),
        migrations.CreateModel(
            name="AssemblyFeedback",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("assembly", models.UUIDField()),
                ("given_by", models.CharField(max_length=80)),
                ("giver_name", models.CharField(blank=True, max_length=200)),
                ("coherence", models.FloatField(null=True)),
                ("completeness", models.FloatField(null=True)),
                ("contradiction_rate", models.FloatField(null=True)),
                ("satisfaction", models.FloatField(null=True)),
                (
                    "used",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=160), default=list, size=None
                    ),
                ),
                (
                    "useless",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=160), default=list, size=None
                    ),
                ),
                ("note", models.CharField(blank=True, default="", max_length=1000)),
            ],
            options={
                "db_table": "assembly_feedback",
                "indexes": [models.Index(fields=["assembly", "created"], name="feedback_of_assembly")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("coherence__range", (0, 1)),
                            ("completeness__range", (0, 1)),
                            ("contradiction_rate__range", (0, 1)),
                            ("satisfaction__range", (0, 1)),
                        ),
                        name="feedback_unit_ranges",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AssemblyQuality",
            fields=[
                ("assembly", models.UUIDField(primary_key=True, serialize=False)),
                ("profile_name", models.CharField(max_length=60)),
                ("source_coverage", models.FloatField()),
                ("completeness", models.FloatField()),
                ("contradiction_rate", models.FloatField()),
                ("coherence_score", models.FloatField(null=True)),
                ("quality_achieved", models.FloatField(null=True)),
            ],
            options={
                "db_table": "assembly_quality",
                "indexes": [models.Index(fields=["profile_name", "-assembly"], name="quality_of_profile")],
            },
        ),
        migrations.CreateModel(
            name="ProfileTuning",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("profile_name", models.CharField(max_length=60)),
                ("version", models.PositiveIntegerField()),
                (
                    "change",
                    models.CharField(
                        choices=[
                            ("contradictions", "Too many contradictions"),
                            ("clean", "No more contradictions"),
                            ("completeness", "Named entities were missing"),
                            ("coherence", "Items did not fit together"),
                            ("reset", "Reset"),
                            ("off", "Switched off"),
                            ("on", "Switched on"),
                        ],
                        max_length=20,
                    ),
                ),
                ("is_on", models.BooleanField()),
                ("conflict_sensitivity", models.FloatField()),
                ("entity_share", models.FloatField()),
                ("coherence_weight", models.FloatField()),
                ("before", models.FloatField(null=True)),
                ("after", models.FloatField(null=True)),
                ("mean", models.FloatField(null=True)),
                (
                    "evidence",
                    django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None),
                ),
                ("changed_by", models.CharField(max_length=80)),
                ("changer_name", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "db_table": "profile_tunings",
                "constraints": [
                    models.UniqueConstraint(fields=("profile_name", "version"), name="tuning_version_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "change__in",
                                ["contradictions", "clean", "completeness", "coherence", "reset", "off", "on"],
                            )
                        ),
                        name="tuning_change_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("conflict_sensitivity__range", (1, 2)), ("entity_share__range", (1, 2))),
                        name="tuning_within_bounds",
                    ),
                ],
            },
        ),
        append_only("assembly_feedback"),
        append_only("profile_tunings"),
        cascade("assembly_feedback", "assembly", "assemblies"),
        cascade("assembly_quality", "assembly", "assemblies"),
        counts_changes("profile_tunings", f"'{ORGANISATION}'::uuid"),
    ]
