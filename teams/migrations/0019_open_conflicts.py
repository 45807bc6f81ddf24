from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("teams", "0018_recall_test_activity"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="open_conflicts",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
