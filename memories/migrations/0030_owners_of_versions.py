"""Versions of memories name the owner, too: see `manage.py distribute`. The column is empty in rows that are there."""

from django.db import migrations

import memories.models.memory


class Migration(migrations.Migration):
    dependencies = [("memories", "0029_sealed_titles")]

    operations = [
        migrations.AddField(
            model_name="memoryversion",
            name="owner_id",
            field=memories.models.memory.OwnerOfFileField(editable=False, null=True),
        ),
    ]
