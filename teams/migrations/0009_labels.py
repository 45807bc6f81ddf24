"""Labels of team files were reworded; the table is not changed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("teams", "0008_agents_may_change_texts"),
    ]

    operations = [
        migrations.AlterField(
            model_name="teamfile",
            name="file_key",
            field=models.CharField(
                choices=[("GOALS", "Goals"), ("CONTEXT", "Background"), ("RULES", "Guidelines")], max_length=20
            ),
        ),
    ]
