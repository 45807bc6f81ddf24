"""Titles of organisation files and reasons of archiving are sealed above internal.

What is stored in plain stays as it is: `manage.py seal_texts` seals it. Turned back, this refuses to run while one is
sealed, because the former version cannot read them.
"""

from importlib import import_module
from typing import Any

from django.db import migrations, models

from config.db.sealed_columns import MARK_SQL, replaced, seals_columns, seals_versions

SEALED_TITLES = import_module("memories.migrations.0029_sealed_titles")
NAMES = "('content', 'note')"
ALL_NAMES = "('content', 'note', 'title', 'retired_because')"
DROP, CREATE = "DROP FUNCTION seal_versions(text, text, uuid[], text[]);", SEALED_TITLES.SEAL_VERSIONS.partition(";")[2]
SEAL_VERSIONS, FORMER_SEAL_VERSIONS = DROP + CREATE.replace(NAMES, ALL_NAMES), DROP + CREATE
WITH_NOTE = {"content": "text", "note": "text"}
FILES = {"content": "text"}
MEMORIES = {"text": "text"}
REASON, TITLE = {"retired_because": "text"}, {"title": "text"}
SEALED = {
    "memories": "retired_because",
    "memory_versions": "retired_because",
    "organisation_files": "title",
    "organisation_file_versions": "title",
}


def refuse_while_sealed(_apps: Any, editor: Any) -> None:
    """Refuse to go back while a title or reason is sealed."""
    with editor.connection.cursor() as cursor:
        for table, column in SEALED.items():
            cursor.execute(f"SELECT EXISTS (SELECT FROM {table} WHERE starts_with({column}, {MARK_SQL}))")  # noqa: S608
            if cursor.fetchone()[0]:
                raise RuntimeError(f"{table} has sealed texts, which the former version cannot read.")


def reason() -> Any:
    """Return the column of the reason why a memory was archived."""
    return models.TextField(blank=True, db_default="", default="", max_length=200)


class Migration(migrations.Migration):
    dependencies = [("memories", "0031_sealed_names"), ("teams", "0039_sealed_titles")]

    operations = [
        migrations.AlterField("memory", "retired_because", reason()),
        migrations.AlterField("memoryversion", "retired_because", reason()),
        migrations.RunSQL(SEAL_VERSIONS, FORMER_SEAL_VERSIONS),
        *replaced(
            seals_columns("memories", MEMORIES, in_tiers=True),
            seals_columns("memories", MEMORIES | REASON, in_tiers=True),
        ),
        *replaced(seals_columns("memory_versions", WITH_NOTE), seals_columns("memory_versions", WITH_NOTE | REASON)),
        *replaced(
            seals_versions("memories", "memory_versions", [*WITH_NOTE]),
            seals_versions("memories", "memory_versions", [*WITH_NOTE, *REASON]),
        ),
        *replaced(seals_columns("organisation_files", FILES), seals_columns("organisation_files", FILES | TITLE)),
        *replaced(
            seals_columns("organisation_file_versions", WITH_NOTE),
            seals_columns("organisation_file_versions", WITH_NOTE | TITLE),
        ),
        *replaced(
            seals_versions("organisation_files", "organisation_file_versions", [*WITH_NOTE]),
            seals_versions("organisation_files", "organisation_file_versions", [*WITH_NOTE, *TITLE]),
        ),
        migrations.RunPython(migrations.RunPython.noop, refuse_while_sealed),
    ]
