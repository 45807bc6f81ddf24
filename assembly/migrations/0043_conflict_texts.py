"""The texts of conflicts may be sealed, which makes them longer. PostgreSQL changes the types without rewriting rows."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assembly", "0042_record_erasures")]

    operations = [
        migrations.AlterField("conflict", "cue", models.TextField(max_length=500)),
        migrations.AlterField("conflict", "left_statement", models.TextField(max_length=2_000)),
        migrations.AlterField("conflict", "reason", models.TextField(blank=True, default="", max_length=1_000)),
        migrations.AlterField("conflict", "reasoning", models.TextField(max_length=500)),
        migrations.AlterField("conflict", "right_statement", models.TextField(max_length=2_000)),
    ]
