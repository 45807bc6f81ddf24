"""Titles of sessions and threads, and notes of versions, are sealed above internal.

What is stored in plain stays as it is: `manage.py seal_texts` seals it. Turned back, this refuses to run while there
are sealed titles or notes, because the former version cannot read them.
"""

from importlib import import_module
from typing import Any

from django.db import migrations, models

from config.db.sealed_columns import MARK_SQL, replaced, seals_columns, seals_versions

SEALED_TEXTS = import_module("memories.migrations.0026_sealed_texts")
CONTENT, WITH_NOTE = {"content": "text"}, {"content": "text", "note": "text"}
SUMMARY, WITH_TITLE = {"summary": "text"}, {"title": "text", "summary": "text"}

# The role of the app changes no version. It may seal one, whose hash still tells what was sealed.
SEAL_VERSIONS = f"""
DROP FUNCTION seal_versions(text, uuid[], text[]);
CREATE FUNCTION seal_versions(place text, name text, ids uuid[], texts text[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    changed integer;
BEGIN
    IF place NOT IN ('memory_versions', 'agent_md_file_versions', 'team_md_file_versions',
        'organisation_file_versions', 'daily_log_versions') OR name NOT IN ('content', 'note') THEN
        RAISE EXCEPTION 'nothing of % can be sealed in %', place, name;
    END IF;
    IF EXISTS (SELECT FROM unnest(texts) AS given WHERE NOT starts_with(given, {MARK_SQL})) THEN
        RAISE EXCEPTION 'only sealed texts can replace those of versions';
    END IF;
    PERFORM set_config('dossier.erasing', 'spellings', true);
    EXECUTE format('UPDATE %1$I AS version SET %2$I = given.text FROM unnest($1, $2) AS given (id, text)'
        ' WHERE version.id = given.id AND NOT starts_with(version.%2$I, $3)', place, name)
        USING ids, texts, {MARK_SQL};
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM set_config('dossier.erasing', 'off', true);
    RETURN changed;
END $$;
REVOKE ALL ON FUNCTION seal_versions(text, text, uuid[], text[]) FROM PUBLIC;
"""  # noqa: S608 - only the constant above is put in
FORMER_SEAL_VERSIONS = f"DROP FUNCTION seal_versions(text, text, uuid[], text[]); {SEALED_TEXTS.SEAL_VERSIONS}"


def refuse_while_sealed(_apps: Any, editor: Any) -> None:
    """Refuse to go back while a title or note is sealed."""
    places = {"threads": "title", "sessions": "title", **dict.fromkeys(SEALED_TEXTS.VERSIONS.values(), "note")}
    with editor.connection.cursor() as cursor:
        for table, column in places.items():
            cursor.execute(f"SELECT EXISTS (SELECT FROM {table} WHERE starts_with({column}, {MARK_SQL}))")  # noqa: S608
            if cursor.fetchone()[0]:
                raise RuntimeError(f"{table} has sealed texts, which the former version cannot read.")


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0012_longer_notes"),
        ("assembly", "0044_model_failing"),
        ("memories", "0028_memory_owners"),
        ("teams", "0038_longer_notes"),
    ]

    operations = [
        migrations.AlterField(
            "memoryversion", "note", models.TextField(blank=True, db_default="", default="", max_length=200)
        ),
        migrations.AlterField("session", "title", models.TextField(blank=True, default="", max_length=200)),
        migrations.AlterField("thread", "title", models.TextField(max_length=200)),
        migrations.RunSQL(SEAL_VERSIONS, FORMER_SEAL_VERSIONS),
        seals_columns("sessions", {"title": "text"}),
        *replaced(seals_columns("threads", SUMMARY), seals_columns("threads", WITH_TITLE)),
        *(
            operation
            for versions in SEALED_TEXTS.VERSIONS.values()
            for operation in replaced(seals_columns(versions, CONTENT), seals_columns(versions, WITH_NOTE))
        ),
        *(
            operation
            for table, versions in SEALED_TEXTS.VERSIONS.items()
            for operation in replaced(seals_versions(table, versions), seals_versions(table, versions, [*WITH_NOTE]))
        ),
        migrations.RunPython(migrations.RunPython.noop, refuse_while_sealed),
    ]
