"""Summaries that a model made: added to only, and gone with either of their texts."""

from django.db import migrations, models

from config.db.migration_helpers import append_only, cascade


class Migration(migrations.Migration):
    dependencies = [("assembly", "0008_rule_history")]

    operations = [
        migrations.CreateModel(
            name="StoredSummary",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text_sha256", models.BinaryField(max_length=32)),
                ("model", models.CharField(max_length=120)),
                ("summary_sha256", models.BinaryField(db_index=True, max_length=32)),
            ],
            options={
                "db_table": "summaries",
                "constraints": [
                    models.UniqueConstraint(fields=("text_sha256", "model"), name="summary_once_per_model")
                ],
            },
        ),
        append_only("summaries"),
        cascade("summaries", "text_sha256", "stored_texts", key="sha256"),
        cascade("summaries", "summary_sha256", "stored_texts", key="sha256"),
    ]
