"""An erasure says when the keys of what it deleted are destroyed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("privacy", "0008_held_records")]

    operations = [migrations.AddField("subjecterasure", "keys_due", models.DateTimeField(null=True))]
