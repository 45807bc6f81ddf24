"""Labels of the kinds of alerts were reworded; the table is not changed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0021_purposes"),
    ]

    operations = [
        migrations.AlterField(
            model_name="alert",
            name="kind",
            field=models.CharField(
                choices=[
                    ("file_cut", "truncated"),
                    ("file_left_out", "excluded"),
                    ("section_missing", "missing"),
                    ("budget_exceeded", "over the budget"),
                    ("rule_not_kept", "not satisfied"),
                ],
                max_length=20,
            ),
        ),
    ]
