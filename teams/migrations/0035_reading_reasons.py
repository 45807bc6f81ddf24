"""A team may demand a reason from those who read what is confidential or restricted.

The defaults are constant, so no table is rewritten.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("teams", "0033_readings")]

    operations = [
        migrations.AddField(
            "team",
            "reading_reasons",
            models.CharField(
                choices=[
                    ("never", "Nothing"),
                    ("restricted", "What is restricted"),
                    ("confidential", "What is confidential or restricted"),
                ],
                db_default="never",
                default="never",
                max_length=12,
            ),
        ),
        migrations.AddField(
            "reading", "reason", models.CharField(blank=True, db_default="", default="", max_length=200)
        ),
    ]
