"""An alert tells that the language model of conflicts fails; the table is read once."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0043_conflict_texts"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="alert",
            name="alert_kind_known",
        ),
        migrations.AlterField(
            model_name="alert",
            name="kind",
            field=models.CharField(
                choices=[
                    ("file_cut", "truncated"),
                    ("file_left_out", "excluded"),
                    ("section_missing", "missing"),
                    ("budget_exceeded", "over the budget"),
                    ("rule_not_kept", "not satisfied"),
                    ("conflict_open", "disputed"),
                    ("recall_test_failed", "test failed"),
                    ("memory_pressure", "memory pressure"),
                    ("model_failing", "model fails"),
                ],
                max_length=20,
            ),
        ),
        migrations.AddConstraint(
            model_name="alert",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "file_cut",
                            "file_left_out",
                            "section_missing",
                            "budget_exceeded",
                            "rule_not_kept",
                            "conflict_open",
                            "recall_test_failed",
                            "memory_pressure",
                            "model_failing",
                        ],
                    )
                ),
                name="alert_kind_known",
            ),
        ),
    ]
