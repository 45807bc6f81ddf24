"""Changes that store a text in another way, and change no answer, are not counted."""

from django.db import migrations

from config.db.migration_helpers import COUNT_CHANGES


class Migration(migrations.Migration):
    dependencies = [("assembly", "0036_sensitivity")]

    operations = [migrations.RunSQL(COUNT_CHANGES, migrations.RunSQL.noop)]
