"""Contexts that truncated or excluded a file are stored with the number of missing tokens, and counted by day.

Days that were counted before get the largest number of any one file, which is a lower bound; `count_contexts --again`
replaces it, and adds the rows of contexts that still exist.
"""

import uuid_utils.compat
from django.db import migrations, models

from config.db.migration_helpers import cascade

LOWER_BOUND = """
UPDATE context_counts SET contexts_with_file_loss = (SELECT COALESCE(max(value::bigint), 0) FROM jsonb_each_text(cut))
WHERE cut <> '{}'::jsonb
"""


class Migration(migrations.Migration):
    dependencies = [("assembly", "0022_labels")]

    operations = [
        migrations.AddField("daycount", "contexts_with_file_loss", models.BigIntegerField(default=0)),
        migrations.RunSQL(LOWER_BOUND, migrations.RunSQL.noop),
        migrations.CreateModel(
            name="FileLoss",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("assembly_id", models.UUIDField()),
                ("created", models.DateTimeField()),
                ("agent_id", models.UUIDField()),
                ("team_id", models.UUIDField(null=True)),
                ("ref", models.CharField(max_length=160)),
                ("version", models.PositiveIntegerField()),
                ("is_excluded", models.BooleanField()),
                ("tokens_lost", models.PositiveIntegerField()),
            ],
            options={
                "db_table": "file_losses",
                "indexes": [
                    models.Index(fields=["ref", "-created"], name="file_loss_of_file"),
                    models.Index(fields=["-created"], name="file_loss_newest"),
                ],
                "constraints": [models.UniqueConstraint(fields=("assembly_id", "ref"), name="file_loss_once")],
            },
        ),
        cascade("file_losses", "assembly_id", "assemblies"),
    ]
