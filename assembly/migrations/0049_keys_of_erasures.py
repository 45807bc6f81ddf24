"""A listed key names the erasure that deleted its text or record, which destroys the key itself and reports it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assembly", "0048_sealed_names")]

    operations = [migrations.AddField("unusedkey", "erasure", models.UUIDField(null=True))]
