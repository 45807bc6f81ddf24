"""Teams that were there before their files get them: empty, as version 1. Running it again adds nothing."""

from django.db import migrations

PROVISION = """
WITH added AS (
    INSERT INTO team_md_files (id, team_id, file_key, content, version, updated_by, editor_ref, editor_name, updated_at)
    SELECT gen_random_uuid(), teams.id, keys.file_key, '', 1, 'system', '', '', now()
    FROM teams CROSS JOIN (VALUES ('GOALS'), ('CONTEXT'), ('RULES')) AS keys (file_key)
    ON CONFLICT (team_id, file_key) DO NOTHING
    RETURNING id
)
INSERT INTO team_md_file_versions
    (id, file_id, version, content, sha256, updated_by, editor_ref, editor_name, created)
SELECT gen_random_uuid(), id, 1, '', encode(sha256(''), 'hex'), 'system', '', '', now() FROM added
"""


class Migration(migrations.Migration):
    dependencies = [("teams", "0002_history")]

    operations = [migrations.RunSQL(PROVISION, migrations.RunSQL.noop)]
