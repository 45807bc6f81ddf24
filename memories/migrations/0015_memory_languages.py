"""Each memory has a language, by whose text search configuration its words are found.

The texts are read and, where their stop words tell another language than English, marked so: some seconds for 100,000.
Then the table is written anew and indexed, a minute or two for 100,000, in which no memory can be read or written.
"""

from collections import Counter
from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models.expressions import CombinedExpression

from memories.search.languages import DEFAULT, detected_language

LANGUAGES = (
    "german", "spanish", "french", "italian", "portuguese", "dutch", "swedish", "danish", "norwegian", "finnish",
    "hungarian", "russian", "turkish",
)  # fmt: skip
LABEL = models.Func(
    models.F("text"),
    models.Value(r"^([^:\n]{1,60}):\s"),
    function="substring",
    output_field=models.TextField(),
)
BATCH_ROWS = 2_000
OWNERS = ("agent_id", "team_id")


def words_in(language: str) -> CombinedExpression:
    return SearchVector(LABEL, config=language, weight="A") + SearchVector("text", config=language, weight="D")


def words_by(expression: Any) -> models.GeneratedField:
    return models.GeneratedField(db_persist=True, expression=expression, output_field=SearchVectorField())


def find_languages(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Mark what is not English; a text that tells no language has the one that prevails among its owner's."""
    memories = apps.get_model("memories", "Memory").objects.using(editor.connection.alias)
    for column in OWNERS:
        owners = memories.exclude(**{column: None}).order_by().values_list(column, flat=True).distinct()
        for owner in list(owners):
            find_languages_of(memories.filter(**{column: owner}).order_by())


def find_languages_of(rows: Any) -> None:
    found = Counter(language for _, language in languages_found(rows) if language)
    prevailing = max(found, key=found.__getitem__, default=DEFAULT)
    if not found.keys() - {DEFAULT}:
        return
    batch: dict[str, list[Any]] = {}
    for number, (id_, language) in enumerate(languages_found(rows), 1):
        batch.setdefault(language or prevailing, []).append(id_)
        if number % BATCH_ROWS == 0:
            mark(rows, batch)
            batch = {}
    mark(rows, batch)


def languages_found(rows: Any) -> Any:
    """Yield the id of each row and the language that its text tells, or None."""
    texts = rows.values_list("id", "text").iterator(BATCH_ROWS)
    return ((id_, detected_language(text)) for id_, text in texts)


def mark(rows: Any, batch: dict[str, list[Any]]) -> None:
    for language, ids in batch.items():
        if language != DEFAULT:
            rows.filter(id__in=ids).update(language=language)


class Migration(migrations.Migration):
    dependencies = [("memories", "0014_remove_import_bytes")]

    operations = [
        migrations.AddField(
            "memory",
            "language",
            models.CharField(
                choices=[(name, name) for name in (DEFAULT, *LANGUAGES)],
                db_default=DEFAULT,
                default=DEFAULT,
                max_length=20,
            ),
        ),
        migrations.AddField(
            "memoryversion", "language", models.CharField(blank=True, db_default="", default="", max_length=20)
        ),
        migrations.RunPython(find_languages, migrations.RunPython.noop, elidable=True),
        # The index on meaning is built anew with the table: see 0006.
        migrations.RunSQL(
            "SET LOCAL maintenance_work_mem = '256MB'; SET LOCAL max_parallel_maintenance_workers = 0",
            "SET LOCAL maintenance_work_mem = '256MB'; SET LOCAL max_parallel_maintenance_workers = 0",
        ),
        migrations.RemoveIndex("memory", "memory_search"),
        migrations.RemoveField("memory", "search"),
        migrations.AddField(
            "memory",
            "search",
            words_by(
                models.Case(
                    *(models.When(language=name, then=words_in(name)) for name in LANGUAGES),
                    default=words_in(DEFAULT),
                )
            ),
        ),
        migrations.AddIndex("memory", GinIndex(fields=["search"], name="memory_search")),
        *(
            migrations.AddIndex(
                "memory",
                models.Index(
                    fields=[owner, "language"],
                    name=f"memory_{owner}_languages",
                    condition=~models.Q(language=DEFAULT),
                ),
            )
            for owner in ("agent", "team")
        ),
    ]
