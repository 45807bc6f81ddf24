"""Labels of the status of imports were reworded; the table is not changed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0017_passage_languages"),
    ]

    operations = [
        migrations.AlterField(
            model_name="importplan",
            name="status",
            field=models.CharField(
                choices=[
                    ("planning", "Reading"),
                    ("shown", "Pending review"),
                    ("running", "Importing"),
                    ("done", "Imported"),
                    ("refused", "Rejected"),
                ],
                default="shown",
                max_length=10,
            ),
        ),
    ]
