"""The notes of versions may be sealed, which makes them longer. The type changes in the catalogue alone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0011_access_changes")]

    operations = [
        migrations.AlterField(
            "agentfileversion", "note", models.TextField(blank=True, db_default="", default="", max_length=200)
        ),
        migrations.AlterField(
            "dailylogversion", "note", models.TextField(blank=True, db_default="", default="", max_length=200)
        ),
    ]
