"""The keys of deleted agents and teams are listed, to be destroyed when nothing is sealed under them."""

from django.db import migrations

from config.db.sealed_columns import records_owner_sql

# Of an agent, also the key of what is recorded about it. The first characters are `config.keys.sealed_texts.LIVE`.
LIST_KEYS = f"""
CREATE FUNCTION list_unused_owner_keys() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO unused_keys (key, noted_at)
        SELECT 'live:'::bytea || uuid_send(id), now() FROM old_rows
        UNION SELECT 'live:'::bytea || uuid_send({records_owner_sql("id")}), now() FROM old_rows
            WHERE TG_TABLE_NAME = 'agents'
        ON CONFLICT (key) DO UPDATE SET noted_at = excluded.noted_at, retired_at = NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER agents_list_keys AFTER DELETE ON agents REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION list_unused_owner_keys();
CREATE TRIGGER teams_list_keys AFTER DELETE ON teams REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION list_unused_owner_keys();
"""  # noqa: S608 - only a constant is put in
UNLIST_KEYS = """
DROP TRIGGER agents_list_keys ON agents;
DROP TRIGGER teams_list_keys ON teams;
DROP FUNCTION list_unused_owner_keys();
"""


class Migration(migrations.Migration):
    dependencies = [("assembly", "0046_longer_notes"), ("agents", "0012_longer_notes"), ("teams", "0038_longer_notes")]

    operations = [migrations.RunSQL(LIST_KEYS, UNLIST_KEYS)]
