"""Feedback stores which memories it moved: only those are not moved again by later feedback on the same context."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assembly", "0054_recall_tests_of_people")]

    operations = [
        migrations.AddField(
            "assemblyfeedback",
            "moved_memories",
            django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), null=True, size=None),
        ),
    ]
