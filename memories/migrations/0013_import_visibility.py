"""Import plans say what their requester could see when they were made."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0012_import_planning")]

    operations = [migrations.AddField("importplan", "visibility", models.JSONField(default=dict))]
