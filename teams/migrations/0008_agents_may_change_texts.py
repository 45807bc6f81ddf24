"""Each team decides whether agents' keys may change what people wrote in it; none may until it says so."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("teams", "0007_sign_in_secrets")]

    operations = [
        migrations.AddField("team", "agents_may_change_texts", models.BooleanField(db_default=False, default=False))
    ]
