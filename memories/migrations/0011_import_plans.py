import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0010_pins_and_retirement"),
    ]

    operations = [
        migrations.CreateModel(
            name="ImportPlan",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("requested_by", models.CharField(max_length=80)),
                ("file_name", models.CharField(max_length=200)),
                ("archive", models.BinaryField()),
                ("steps", models.JSONField(default=list)),
                ("aside", models.JSONField(default=list)),
                ("same", models.PositiveIntegerField(default=0)),
                (
                    "status",
                    models.CharField(
                        choices=[("shown", "Not imported yet"), ("running", "Being imported"), ("done", "Imported")],
                        default="shown",
                        max_length=10,
                    ),
                ),
                ("chosen", models.JSONField(default=list)),
                ("outcome", models.JSONField(default=dict)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="memories.job"
                    ),
                ),
            ],
            options={
                "db_table": "import_plans",
                "indexes": [models.Index(fields=["created"], name="import_plan_oldest")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["shown", "running", "done"])),
                        name="import_plan_status_known",
                    )
                ],
            },
        ),
    ]
