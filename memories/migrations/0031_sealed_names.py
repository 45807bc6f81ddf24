"""Names above internal are sealed: of entities, documents, patterns, tools and relations, and ids of sessions elsewhere.

What is stored in plain stays as it is: `manage.py seal_texts` seals it. Turned back, this refuses to run while there
are sealed names, because the former version cannot read them.
"""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

from config.db.sealed_columns import replaced, sealed_sql, seals_columns

NAMES = {
    "documents": {"path": "text"},
    "entities": {"name": "text", "aliases": "text[]", "names": "text[]"},
    "patterns": {"name": "text"},
    "relations": {"type": "text"},
    "sessions": {"external_id": "text"},
    "tools": {"name": "text"},
}
TEXTS = {
    "entities": {"properties": "jsonb"},
    "patterns": {"guidance": "text"},
    "sessions": {"title": "text"},
    "tools": {"description": "text", "schema": "jsonb"},
}
CONTENT = {"content": "text"}
INDEXED = ("document", "entity", "pattern", "relation", "session", "tool")


def refuse_while_sealed(_apps: Any, editor: Any) -> None:
    """Refuse to go back while a name is sealed."""
    with editor.connection.cursor() as cursor:
        for table, columns in NAMES.items():
            for column, type_ in columns.items():
                cursor.execute(f"SELECT EXISTS (SELECT FROM {table} WHERE {sealed_sql(column, type_)})")  # noqa: S608
                if cursor.fetchone()[0]:
                    raise RuntimeError(f"{table} has sealed names, which the former version cannot read.")


class Migration(migrations.Migration):
    dependencies = [("memories", "0030_owners_of_versions")]

    operations = [
        migrations.AlterField("document", "path", models.TextField(max_length=500)),
        migrations.AlterField("entity", "name", models.TextField(max_length=200)),
        migrations.AlterField(
            "entity",
            "aliases",
            ArrayField(base_field=models.TextField(max_length=200), blank=True, default=list, size=None),
        ),
        migrations.AlterField("pattern", "name", models.TextField(max_length=200)),
        migrations.AlterField("relation", "type", models.TextField(max_length=60)),
        migrations.AlterField("session", "external_id", models.TextField(blank=True, default="", max_length=200)),
        migrations.AlterField("tool", "name", models.TextField(max_length=120)),
        *(
            migrations.AddIndex(
                model,
                models.Index(fields=["agent"], condition=models.Q(sensitivity__gt=1), name=f"{model}_agent_sealed"),
            )
            for model in INDEXED
        ),
        *replaced(
            seals_columns("documents", CONTENT, in_tiers=True),
            seals_columns("documents", CONTENT, in_tiers=True, names=NAMES["documents"]),
        ),
        *(
            operation
            for table, texts in TEXTS.items()
            for operation in replaced(seals_columns(table, texts), seals_columns(table, {**texts, **NAMES[table]}))
        ),
        seals_columns("relations", NAMES["relations"]),
        migrations.RunPython(migrations.RunPython.noop, refuse_while_sealed),
    ]
