"""Prepared lists of contexts say what their requester could see when their rows were read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assembly", "0019_moments")]

    operations = [migrations.AddField("contextfile", "visibility", models.JSONField(default=dict))]
