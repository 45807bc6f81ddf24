"""Positions in the write-ahead log after callers' last writes, for read replicas."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("http", "0002_reach")]

    operations = [
        migrations.CreateModel(
            name="LastWrite",
            fields=[
                ("caller", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("position", models.BigIntegerField()),
                ("written_at", models.DateTimeField()),
            ],
            options={"db_table": "last_writes"},
        ),
    ]
