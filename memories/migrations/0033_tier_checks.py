"""The hourly run reads the hot things that are due, and those that are new, instead of all."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0032_sealed_reasons")]

    operations = [
        migrations.CreateModel(
            name="TierCheck",
            fields=[
                ("thing", models.UUIDField(primary_key=True, serialize=False)),
                ("of_table", models.CharField(max_length=20)),
                ("due", models.DateTimeField()),
            ],
            options={
                "db_table": "tier_checks",
                "indexes": [models.Index(fields=["of_table", "due", "thing"], name="tier_check_due")],
            },
        ),
    ]
