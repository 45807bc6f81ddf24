"""The decisions of an assembly are found by the index of the constraint on their positions: the other only costs time."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assembly", "0010_external_sources")]

    operations = [
        migrations.AlterField(
            model_name="decision",
            name="assembly",
            field=models.ForeignKey(
                "assembly.assembly", models.DO_NOTHING, db_index=False, related_name="own_decisions"
            ),
        )
    ]
