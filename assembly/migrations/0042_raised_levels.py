"""Recorded contexts are raised together with the texts that they considered: see `assembly.records.raised_levels`."""

from django.db import migrations, models

TABLES = (
    *("memories", "documents", "entities", "relations", "sessions", "task_frames", "events"),
    *("patterns", "threads", "tools"),
    *("agent_md_files", "team_md_files", "organisation_files", "daily_logs"),
)
KINDS = (
    *("memory", "document", "entity", "relation", "session", "task", "event", "pattern", "thread", "tool"),
    *("agent_file", "team_file", "organisation_file", "daily_log"),
)
"""The kinds of refs by which pieces name the rows of these tables; an id names one row in all tables."""

CREATE_NOTING = """
CREATE FUNCTION note_raised() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO raised_texts (item, level, due, seen) VALUES (NEW.id, NEW.sensitivity, now(), false)
        ON CONFLICT (item) DO UPDATE
        SET level = greatest(raised_texts.level, excluded.level), due = excluded.due, seen = false;
    RETURN NULL;
END $$;
"""
WITHHELD = 4
"""The level of texts about a subject whose data is restricted for a time: contexts recorded before keep their level."""
NOTING = "\n".join(
    f"CREATE TRIGGER {table}_notes_raised AFTER UPDATE OF sensitivity ON {table} FOR EACH ROW"
    f" WHEN (NEW.sensitivity > OLD.sensitivity AND NEW.sensitivity < {WITHHELD}) EXECUTE FUNCTION note_raised();"
    for table in TABLES
)
DROP_NOTING = "\n".join(
    [*(f"DROP TRIGGER {table}_notes_raised ON {table};" for table in TABLES), "DROP FUNCTION note_raised();"]
)

NAMES = ", ".join(f"'{kind}:' || item" for kind in KINDS)
# The statements are composed anew for each item, because indexes answer LIKE for constant patterns alone; the
# conditions are those of the indexes `piece_chunk` and `piece_file_passage`.
CREATE_RAISING = f"""
CREATE FUNCTION raise_recorded_levels(item uuid, new_level smallint, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    names text[] := ARRAY[{NAMES}];
    found_pieces bigint[];
    more bigint[];
    raised uuid[];
    of_file text;
    lists bigint[];
    listed_since timestamptz;
BEGIN
    SELECT array_agg(id) INTO found_pieces FROM pieces WHERE named = ANY(names);
    EXECUTE format(
        'SELECT array_agg(id) FROM pieces WHERE named LIKE ''chunk:%%'' AND named LIKE %L', 'chunk:' || item || '@%'
    ) INTO more;
    found_pieces := found_pieces || more;
    FOREACH of_file IN ARRAY ARRAY['agent_file', 'team_file', 'organisation_file', 'daily_log'] LOOP
        EXECUTE format(
            'SELECT array_agg(id) FROM pieces WHERE named LIKE ''%%@%%#%%'' AND named NOT LIKE ''chunk:%%'''
            ' AND named LIKE %L', of_file || ':' || item || '@%'
        ) INTO more;
        found_pieces := found_pieces || more;
    END LOOP;
    -- Lists of paths are named by their agent.
    SELECT array_agg(pieces.id), min(documents.created) INTO lists, listed_since
        FROM documents JOIN pieces ON named = 'project_structure:' || agent_id WHERE documents.id = item;
    IF found_pieces IS NULL AND lists IS NULL THEN
        RETURN 0;
    END IF;
    WITH higher AS (
        UPDATE assemblies SET sensitivity = new_level WHERE id IN (
            SELECT id FROM assemblies WHERE sensitivity < new_level AND (
                told && found_pieces OR omitted && found_pieces
                OR (told && lists OR omitted && lists) AND created >= listed_since
            ) ORDER BY id LIMIT most FOR UPDATE
        ) RETURNING id
    )
    SELECT array_agg(id) INTO raised FROM higher;
    UPDATE alerts SET sensitivity = new_level WHERE context = ANY(raised) AND sensitivity < new_level;
    UPDATE proposals SET sensitivity = new_level WHERE assembly_id = ANY(raised) AND sensitivity < new_level;
    RETURN coalesce(cardinality(raised), 0);
END $$;
REVOKE ALL ON FUNCTION raise_recorded_levels(uuid, smallint, integer) FROM PUBLIC;
"""  # noqa: S608 - only the constants above are put in
DROP_RAISING = "DROP FUNCTION raise_recorded_levels(uuid, smallint, integer);"

COLUMNS = (
    *("id", "created", "agent_id", "agent_slug", "agent_name", "team_id", "team_slug", "team_name", "requested_by"),
    *("requester_name", "purpose", "parent", "decided_in", "topic", "profile_name", "profile_version", "tokenizer"),
    *("now", "budget", "tokens", "truncated", "left_out", "warnings", "codes", "told", "omitted", "sha256"),
    *("engine_version", "assembly_ms", "body"),
)
"""All columns of a record except for its level."""
# A record may get a higher level, and no other change. Its hash does not cover the level.
LET_LEVELS_RISE = f"""
DROP TRIGGER assemblies_keeps_rows ON assemblies;
CREATE TRIGGER assemblies_keeps_rows BEFORE UPDATE OF {", ".join(COLUMNS)} OR DELETE ON assemblies
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER assemblies_keep_level BEFORE UPDATE OF sensitivity ON assemblies
    FOR EACH ROW WHEN (NEW.sensitivity < OLD.sensitivity) EXECUTE FUNCTION refuse_change();
"""
KEEP_LEVELS = """
DROP TRIGGER assemblies_keep_level ON assemblies;
DROP TRIGGER assemblies_keeps_rows ON assemblies;
CREATE TRIGGER assemblies_keeps_rows BEFORE UPDATE OR DELETE ON assemblies
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0010_sensitivity"),
        ("assembly", "0039_conflicts_by_meaning"),
        ("memories", "0025_cheap_moves"),
        ("teams", "0033_readings"),
    ]

    operations = [
        migrations.CreateModel(
            name="RaisedText",
            fields=[
                ("item", models.UUIDField(primary_key=True, serialize=False)),
                ("level", models.SmallIntegerField()),
                ("due", models.DateTimeField(db_index=True)),
                ("seen", models.BooleanField(default=False)),
            ],
            options={"db_table": "raised_texts"},
        ),
        migrations.RunSQL(CREATE_NOTING + NOTING, DROP_NOTING),
        migrations.RunSQL(CREATE_RAISING, DROP_RAISING),
        migrations.RunSQL(LET_LEVELS_RISE, KEEP_LEVELS),
    ]
