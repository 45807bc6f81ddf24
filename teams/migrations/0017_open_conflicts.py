from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("teams", "0016_conflict_activities"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="open_conflicts",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
