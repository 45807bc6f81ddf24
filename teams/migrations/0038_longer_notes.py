"""The notes of versions may be sealed, which makes them longer. The type changes in the catalogue alone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("teams", "0037_correction_activities")]

    operations = [
        migrations.AlterField(
            "teamfileversion", "note", models.TextField(blank=True, db_default="", default="", max_length=200)
        ),
        migrations.AlterField(
            "organisationfileversion", "note", models.TextField(blank=True, db_default="", default="", max_length=200)
        ),
    ]
