"""External sources: what is asked over HTTP. Their changes are counted, so that no cached context outlives one."""

import django.core.validators
import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import ORGANISATION, counts_changes


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0009_summaries"),
    ]

    operations = [
        migrations.CreateModel(
            name="ExternalSource",
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
                (
                    "name",
                    models.CharField(
                        max_length=50,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[a-z][a-z0-9_]*\\Z",
                                "Use lower-case letters, digits and underscores, beginning with a letter, as in open_tickets.",
                            )
                        ],
                    ),
                ),
                ("label", models.CharField(max_length=80)),
                ("url", models.CharField(max_length=2000)),
                ("sealed_secret", models.TextField(blank=True, default="")),
                ("limit", models.PositiveSmallIntegerField(default=20)),
                ("timeout_ms", models.PositiveSmallIntegerField(default=1000)),
                ("enabled", models.BooleanField(default=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "db_table": "external_sources",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("limit__range", (1, 100))), name="external_source_limit"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("timeout_ms__range", (50, 10000))), name="external_source_timeout"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("version__gte", 1)), name="external_source_version_from_1"
                    ),
                ],
            },
        ),
        counts_changes("external_sources", f"'{ORGANISATION}'::uuid"),
    ]
