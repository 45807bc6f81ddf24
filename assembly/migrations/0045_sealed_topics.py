"""Topics of contexts, and texts of proposals and recall tests, are sealed above internal.

What is stored in plain stays as it is: `manage.py seal_texts` seals it. Turned back, this refuses to run while there
are sealed texts, because the former version cannot read them.
"""

from importlib import import_module
from typing import Any

from django.db import migrations, models

from config.db.sealed_columns import MARK_SQL, sealed_sql, seals_columns

RAISED_LEVELS = import_module("assembly.migrations.0040_raised_levels")
COLUMNS = {
    "assemblies": {"topic": "text"},
    "proposals": {"wishes": "jsonb", "note": "text"},
    "recall_tests": {"topic": "text", "expectations": "jsonb"},
    "recall_results": {"outcomes": "jsonb"},
}

# As the statements of assembly/contexts/search write it: an index is found by its very words.
WORDS = f"""
DROP INDEX assembly_heading_words;
CREATE INDEX assembly_heading_words ON assemblies
    USING gin (to_tsvector('english', CASE WHEN starts_with(topic, {MARK_SQL}) THEN '' ELSE topic END
        || ' ' || agent_name || ' ' || team_name))
    WITH (gin_pending_list_limit = 512);
"""
FORMER_WORDS = """
DROP INDEX assembly_heading_words;
CREATE INDEX assembly_heading_words ON assemblies
    USING gin (to_tsvector('english', topic || ' ' || agent_name || ' ' || team_name))
    WITH (gin_pending_list_limit = 512);
"""
# Contexts are raised in two steps, between which their topics are sealed: see `assembly.records.raised_levels`.
RAISING = f"""
DROP FUNCTION raise_recorded_levels(uuid, smallint, integer);
CREATE FUNCTION contexts_below(item uuid, new_level smallint, most integer) RETURNS SETOF uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    names text[] := ARRAY[{RAISED_LEVELS.NAMES}];
    found_pieces bigint[];
    more bigint[];
    of_file text;
    lists bigint[];
    listed_since timestamptz;
BEGIN
    -- The statements are composed anew for each item, because indexes answer LIKE for constant patterns alone; the
    -- conditions are those of the indexes `piece_chunk` and `piece_file_passage`.
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
        RETURN;
    END IF;
    RETURN QUERY SELECT id FROM assemblies WHERE sensitivity < new_level AND (
        told && found_pieces OR omitted && found_pieces
        OR (told && lists OR omitted && lists) AND created >= listed_since
    ) ORDER BY id LIMIT most FOR UPDATE;
END $$;
REVOKE ALL ON FUNCTION contexts_below(uuid, smallint, integer) FROM PUBLIC;
CREATE FUNCTION raise_contexts(new_level smallint, ids uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE assemblies SET sensitivity = new_level WHERE id = ANY(ids) AND sensitivity < new_level;
    UPDATE alerts SET sensitivity = new_level WHERE context = ANY(ids) AND sensitivity < new_level;
    UPDATE proposals SET sensitivity = new_level WHERE assembly_id = ANY(ids) AND sensitivity < new_level;
END $$;
REVOKE ALL ON FUNCTION raise_contexts(smallint, uuid[]) FROM PUBLIC;
"""  # noqa: S608 - only constants are put in
FORMER_RAISING = f"""
DROP FUNCTION raise_contexts(smallint, uuid[]);
DROP FUNCTION contexts_below(uuid, smallint, integer);
{RAISED_LEVELS.CREATE_RAISING}
"""
# The role of the app changes no record. It may seal one, whose hash is of the text as it was written.
SEALING = f"""
CREATE FUNCTION seal_records(place text, ids uuid[], texts text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    changed integer;
BEGIN
    IF EXISTS (SELECT FROM unnest(texts) AS given WHERE NOT starts_with(
        CASE WHEN place = 'recall_results' THEN given::jsonb #>> '{{}}' ELSE given END, {MARK_SQL})) THEN
        RAISE EXCEPTION 'only sealed texts can replace those of records';
    END IF;
    PERFORM set_config('dossier.erasing', 'spellings', true);
    CASE place
        WHEN 'assemblies' THEN
            UPDATE assemblies AS record SET topic = given.text FROM unnest(ids, texts) AS given (id, text)
                WHERE record.id = given.id AND NOT {sealed_sql("record.topic", "text")};
        WHEN 'recall_results' THEN
            UPDATE recall_results AS record SET outcomes = given.text::jsonb FROM unnest(ids, texts) AS given (id, text)
                WHERE record.id = given.id AND NOT {sealed_sql("record.outcomes", "jsonb")};
    END CASE;
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN changed;
END $$;
REVOKE ALL ON FUNCTION seal_records(text, uuid[], text[]) FROM PUBLIC;
"""  # noqa: S608 - only constants are put in


def refuse_while_sealed(_apps: Any, editor: Any) -> None:
    """Refuse to go back while a text is sealed."""
    with editor.connection.cursor() as cursor:
        for table, columns in COLUMNS.items():
            for column, type_ in columns.items():
                cursor.execute(f"SELECT EXISTS (SELECT FROM {table} WHERE {sealed_sql(column, type_)})")  # noqa: S608
                if cursor.fetchone()[0]:
                    raise RuntimeError(f"{table} has sealed texts, which the former version cannot read.")


class Migration(migrations.Migration):
    dependencies = [
        ("assembly", "0044_model_failing"),
        ("memories", "0026_sealed_texts"),
        ("privacy", "0002_erasures"),
    ]

    operations = [
        migrations.AlterField("proposal", "note", models.TextField(blank=True, default="")),
        migrations.AlterField("recalltest", "topic", models.TextField(blank=True, default="")),
        migrations.RunSQL(WORDS, FORMER_WORDS),
        migrations.RunSQL(RAISING, FORMER_RAISING),
        migrations.RunSQL(SEALING, "DROP FUNCTION seal_records(text, uuid[], text[])"),
        *(seals_columns(table, columns) for table, columns in COLUMNS.items()),
        migrations.RunPython(migrations.RunPython.noop, refuse_while_sealed),
    ]
