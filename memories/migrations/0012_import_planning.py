"""Large archives are read in the background, may be refused there, and say how much text they hold."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0011_import_plans")]

    operations = [
        migrations.RemoveConstraint("importplan", "import_plan_status_known"),
        migrations.AlterField(
            "importplan",
            "status",
            models.CharField(
                choices=[
                    ("planning", "Being read"),
                    ("shown", "Not imported yet"),
                    ("running", "Being imported"),
                    ("done", "Imported"),
                    ("refused", "Not possible"),
                ],
                default="shown",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            "importplan",
            models.CheckConstraint(
                condition=models.Q(("status__in", ["planning", "shown", "running", "done", "refused"])),
                name="import_plan_status_known",
            ),
        ),
        migrations.AddField("importplan", "unpacked_bytes", models.BigIntegerField(default=0)),
        migrations.AddField("importplan", "refusal", models.TextField(blank=True, default="")),
        # Going back, these are forgotten a little earlier than after their day.
        migrations.RunSQL(migrations.RunSQL.noop, "DELETE FROM import_plans WHERE status IN ('planning', 'refused')"),
    ]
