"""Each team chooses what happens to texts in which keys or passwords are found; until it does, they are refused."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("teams", "0030_lifecycle_activities")]

    operations = [
        migrations.AddField(
            "team",
            "secret_handling",
            models.CharField(
                choices=[
                    ("refuse", "Refuse the text"),
                    ("mask", "Replace them and store the rest"),
                    ("keep", "Store the text as it is"),
                ],
                db_default="refuse",
                default="refuse",
                max_length=10,
            ),
        ),
    ]
