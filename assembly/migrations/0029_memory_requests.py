"""Ids of requests of the memory contract are stored for a day, and deleted with the record that answered them."""

from django.db import migrations, models

from config.db.migration_helpers import cascade


class Migration(migrations.Migration):
    dependencies = [("assembly", "0028_text_levels")]

    operations = [
        migrations.CreateModel(
            name="MemoryRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("principal", models.CharField(max_length=80)),
                ("request_id", models.CharField(max_length=200)),
                ("body_sha256", models.BinaryField(max_length=32)),
                ("assembly", models.UUIDField(db_index=True)),
                ("created", models.DateTimeField()),
            ],
            options={
                "db_table": "memory_requests",
                "indexes": [models.Index(fields=["created"], name="memory_request_created")],
                "constraints": [
                    models.UniqueConstraint(fields=("principal", "request_id"), name="memory_request_once")
                ],
            },
        ),
        cascade("memory_requests", "assembly", "assemblies"),
    ]
