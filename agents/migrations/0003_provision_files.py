"""Agents that were there before their files get them; legacy instructions move. Running it again adds nothing."""

from django.db import migrations

PROVISION = """
WITH added AS (
    INSERT INTO agent_md_files (id, agent_id, file_key, content, version, updated_by, editor_ref, editor_name, updated_at)
    SELECT gen_random_uuid(), agents.id, keys.file_key,
        CASE keys.file_key WHEN 'INSTRUCTIONS' THEN agents.instructions ELSE '' END, 1, 'system', '', '', now()
    FROM agents CROSS JOIN (VALUES ('IDENTITY'), ('INSTRUCTIONS'), ('KNOWLEDGE')) AS keys (file_key)
    ON CONFLICT (agent_id, file_key) DO NOTHING
    RETURNING id, content
)
INSERT INTO agent_md_file_versions
    (id, file_id, version, content, sha256, updated_by, editor_ref, editor_name, created)
SELECT gen_random_uuid(), id, 1, content, encode(sha256(convert_to(content, 'UTF8')), 'hex'), 'system', '', '', now()
FROM added
"""


class Migration(migrations.Migration):
    dependencies = [("agents", "0002_history")]

    operations = [migrations.RunSQL(PROVISION, migrations.RunSQL.noop)]
