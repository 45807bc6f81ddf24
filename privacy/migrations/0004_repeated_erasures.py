"""An erasure says which one it repeats in a database that was restored."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("privacy", "0003_corrections"),
    ]

    operations = [
        migrations.AddField(
            model_name="subjecterasure",
            name="repeats",
            field=models.JSONField(null=True),
        ),
    ]
