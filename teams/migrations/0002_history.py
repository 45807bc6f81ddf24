"""The database keeps history: guards, append-only tables, and cascades of its own."""

from django.db import migrations

from config.db.migration_helpers import CREATE_GUARDS, DROP_GUARDS, append_only, cascade


class Migration(migrations.Migration):
    dependencies = [("teams", "0001_initial")]

    operations = [
        migrations.RunSQL(CREATE_GUARDS, DROP_GUARDS),
        append_only("erasures"),
        append_only("team_md_file_versions"),
        cascade("memberships", "team_id", "teams"),
        cascade("team_md_files", "team_id", "teams"),
        cascade("team_md_file_versions", "file_id", "team_md_files"),
    ]
