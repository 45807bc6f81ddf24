"""Token counts of stored texts: added to only, and gone with their text."""

from django.db import migrations, models

from config.db.migration_helpers import append_only, cascade


class Migration(migrations.Migration):
    dependencies = [("assembly", "0017_proposals")]

    operations = [
        migrations.CreateModel(
            name="TokenCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text_sha256", models.BinaryField(max_length=32)),
                ("tokenizer", models.CharField(max_length=60)),
                ("tokens", models.PositiveIntegerField()),
            ],
            options={
                "db_table": "token_counts",
                "constraints": [models.UniqueConstraint(fields=("text_sha256", "tokenizer"), name="token_count_once")],
            },
        ),
        append_only("token_counts"),
        cascade("token_counts", "text_sha256", "stored_texts", key="sha256"),
    ]
