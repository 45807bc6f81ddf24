"""Titles of organisation files may be sealed, and the activity log says which file an entry has the title of.

Types change in the catalogue alone. Entries about files that are there get their refs, so that they are sealed with
them; those about files that were deleted have none.
"""

from django.db import migrations, models

# The log is append-only for everybody else. What it says stays the same.
NAME_FILES = """
DO $$ BEGIN
    PERFORM set_config('dossier.erasing', 'spellings', true);
    UPDATE activities SET about = 'organisation_file:' || file.id FROM organisation_files AS file
        WHERE action LIKE 'organisation_file.%' AND detail ->> 'key' = file.file_key;
    UPDATE activities SET about = 'organisation_file:' || file.file_id FROM organisation_file_versions AS file
        WHERE about = '' AND team_ids = '{}' AND target = file.title
            AND (action LIKE 'publication_guard.%' OR action = 'organisation_file.renamed');
    PERFORM set_config('dossier.erasing', 'off', true);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("privacy", "0002_erasures"), ("teams", "0038_longer_notes")]

    operations = [
        migrations.AlterField("organisationfile", "title", models.TextField(max_length=120)),
        migrations.AlterField("organisationfileversion", "title", models.TextField(max_length=120)),
        migrations.AlterField("activity", "target", models.TextField(blank=True, max_length=200)),
        migrations.AddField(
            "activity", "about", models.CharField(blank=True, db_default="", default="", max_length=80)
        ),
        migrations.AddIndex(
            "activity",
            models.Index(condition=models.Q(("about", ""), _negated=True), fields=["about"], name="activities_about"),
        ),
        migrations.RunSQL(NAME_FILES, migrations.RunSQL.noop),
    ]
