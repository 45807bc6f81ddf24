"""The history of profiles is append-only; a profile can be erased with it by the audited function."""

from django.db import migrations

from config.db.migration_helpers import CREATE_ERASE, append_only, cascade


class Migration(migrations.Migration):
    dependencies = [("assembly", "0003_librarian"), ("teams", "0002_history")]

    operations = [
        append_only("profile_versions"),
        cascade("profile_versions", "file_id", "profiles"),
        migrations.RunSQL(CREATE_ERASE, migrations.RunSQL.noop),
    ]
