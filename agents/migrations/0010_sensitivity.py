"""Files and daily logs have a sensitivity, agents a clearance.

The defaults are constant, so no table is rewritten.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0009_origin"),
    ]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="clearance",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="agentfile",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="agentfileversion",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="dailylog",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
        migrations.AddField(
            model_name="dailylogversion",
            name="sensitivity",
            field=models.SmallIntegerField(
                choices=[(0, "Public"), (1, "Internal"), (2, "Confidential"), (3, "Restricted")],
                db_default=1,
                default=1,
            ),
        ),
    ]
