"""The notes of versions may be sealed, which makes them longer. The type changes in the catalogue alone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assembly", "0045_sealed_topics")]

    operations = [
        migrations.AlterField(
            "storedprofileversion", "note", models.TextField(blank=True, db_default="", default="", max_length=200)
        ),
        migrations.AlterField(
            "storedruleversion", "note", models.TextField(blank=True, db_default="", default="", max_length=200)
        ),
    ]
