"""Texts above internal are sealed in their columns, and the database refuses them in plain.

What is stored in plain stays as it is, and everything but its text and its level can be changed: `manage.py seal_texts`
seals it while Dossier is in use. Turned back, this refuses to run while there are sealed texts, because the former
version cannot read them.
"""

from typing import Any

from django.db import migrations

from config.db.sealed_columns import MARK_SQL, REFUSE_PLAIN_TEXT, plain_sql, seals_columns, seals_versions

TIERED = {"memories": {"text": "text"}, "documents": {"content": "text"}, "events": {"content": "jsonb"}}
COLUMNS = {
    **{table: {"content": "text"} for table in ("agent_md_files", "team_md_files", "organisation_files", "daily_logs")},
    "file_passages": {"text": "text"},
    "chunks": {"text": "text"},
    "task_frames": {"goal": "text", "result": "text"},
    "entities": {"properties": "jsonb"},
    "patterns": {"guidance": "text"},
    "threads": {"summary": "text"},
    "tools": {"description": "text", "schema": "jsonb"},
    "conflicts": dict.fromkeys(("cue", "left_statement", "right_statement", "reasoning", "reason"), "text"),
}
VERSIONS = {
    "memories": "memory_versions",
    "agent_md_files": "agent_md_file_versions",
    "team_md_files": "team_md_file_versions",
    "organisation_files": "organisation_file_versions",
    "daily_logs": "daily_log_versions",
}

# The words of a sealed text are in no index.
WORDS = f"""
CREATE OR REPLACE FUNCTION memory_words(configuration regconfig, said text) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN starts_with(said, {MARK_SQL}) THEN ''::tsvector ELSE
        setweight(to_tsvector(configuration, coalesce(substring(said, '^([^:\\n]{{1,60}}):\\s'), '')), 'A')
        || setweight(to_tsvector(configuration, coalesce(said, '')), 'D') END
$$;
CREATE OR REPLACE FUNCTION keep_words_of_chunks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.text IS NOT NULL THEN
        NEW.text_bytes := NULL;
        NEW.search := CASE WHEN starts_with(NEW.text, {MARK_SQL}) THEN ''::tsvector
            ELSE to_tsvector(word_configuration(NEW.language), NEW.text) END;
    END IF;
    RETURN NEW;
END $$;
"""
FORMER_WORDS = """
CREATE OR REPLACE FUNCTION memory_words(configuration regconfig, said text) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
    SELECT setweight(to_tsvector(configuration, coalesce(substring(said, '^([^:\\n]{1,60}):\\s'), '')), 'A')
        || setweight(to_tsvector(configuration, coalesce(said, '')), 'D')
$$;
CREATE OR REPLACE FUNCTION keep_words_of_chunks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.text IS NOT NULL THEN
        NEW.text_bytes := NULL;
        NEW.search := to_tsvector(word_configuration(NEW.language), NEW.text);
    END IF;
    RETURN NEW;
END $$;
"""
# The role of the app changes no version. It may seal one, whose hash still tells what was sealed.
SEAL_VERSIONS = f"""
CREATE FUNCTION seal_versions(place text, ids uuid[], texts text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    changed integer;
BEGIN
    IF place NOT IN ('memory_versions', 'agent_md_file_versions', 'team_md_file_versions',
        'organisation_file_versions', 'daily_log_versions') THEN
        RAISE EXCEPTION 'nothing of % can be sealed', place;
    END IF;
    IF EXISTS (SELECT FROM unnest(texts) AS given WHERE NOT starts_with(given, {MARK_SQL})) THEN
        RAISE EXCEPTION 'only sealed texts can replace those of versions';
    END IF;
    PERFORM set_config('dossier.erasing', 'spellings', true);
    EXECUTE format('UPDATE %1$I AS version SET content = given.text FROM unnest($1, $2) AS given (id, text)'
        ' WHERE version.id = given.id AND NOT starts_with(version.content, $3)', place) USING ids, texts, {MARK_SQL};
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN changed;
END $$;
REVOKE ALL ON FUNCTION seal_versions(text, uuid[], text[]) FROM PUBLIC;
"""  # noqa: S608 - only the constant above is put in


# Levels of detail have no level of their own.
LEVELS = f"""
CREATE FUNCTION refuse_plain_level() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF sensitivity_of(NEW.item) > 1 THEN
        RAISE EXCEPTION 'a text of % is above internal and not sealed', TG_TABLE_NAME USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER text_levels_written_sealed BEFORE INSERT ON text_levels
    FOR EACH ROW WHEN ({plain_sql("text", "text", "NEW.")}) EXECUTE FUNCTION refuse_plain_level();
"""


def refuse_while_sealed(_apps: Any, editor: Any) -> None:
    """Refuse to go back while a text is sealed."""
    with editor.connection.cursor() as cursor:
        for table, columns in {**TIERED, **COLUMNS}.items():
            for column, type_ in columns.items():
                value = f"{column} #>> '{{}}'" if type_ == "jsonb" else column
                cursor.execute(f"SELECT EXISTS (SELECT FROM {table} WHERE starts_with({value}, {MARK_SQL}))")  # noqa: S608
                if cursor.fetchone()[0]:
                    raise RuntimeError(f"{table} has sealed texts, which the former version cannot read.")


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0011_access_changes"),
        ("assembly", "0043_conflict_texts"),
        ("memories", "0025_cheap_moves"),
        ("privacy", "0002_erasures"),
        ("teams", "0036_erasure_activities"),
    ]

    operations = [
        migrations.RunSQL(REFUSE_PLAIN_TEXT, "DROP FUNCTION refuse_plain_text()"),
        migrations.RunSQL(SEAL_VERSIONS, "DROP FUNCTION seal_versions(text, uuid[], text[])"),
        migrations.RunSQL(WORDS, FORMER_WORDS),
        *(seals_columns(table, columns, in_tiers=True) for table, columns in TIERED.items()),
        *(seals_columns(table, columns) for table, columns in COLUMNS.items()),
        *(seals_columns(versions, {"content": "text"}) for versions in VERSIONS.values()),
        *(seals_versions(table, versions) for table, versions in VERSIONS.items()),
        migrations.RunSQL(
            LEVELS, "DROP TRIGGER text_levels_written_sealed ON text_levels; DROP FUNCTION refuse_plain_level();"
        ),
        migrations.RunPython(migrations.RunPython.noop, refuse_while_sealed),
    ]
