"""The record of assemblies can be added to, and not changed."""

from django.db import migrations

from config.db.migration_helpers import append_only


class Migration(migrations.Migration):
    dependencies = [("assembly", "0001_initial"), ("teams", "0002_history")]

    operations = [append_only("stored_texts"), append_only("assemblies"), append_only("decisions")]
