"""Contexts say what they were requested for. Older ones have no purpose: who requested them tells."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assembly", "0020_list_visibility")]

    operations = [
        migrations.AddField(
            "assembly", "purpose", models.CharField(blank=True, db_default="", default="", max_length=10)
        )
    ]
