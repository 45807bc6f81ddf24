"""Each passage of prose has a language, by whose text search configuration its words are found; code stays English.

The texts are read and, where their stop words tell another language than English, marked so. Then the table is written
anew and indexed: about half a minute for 100,000 passages, in which none can be read or written.
"""

from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from memories.search.languages import DEFAULT, detected_language
from memories.embeddings.splitting import is_code

LANGUAGES = (
    "german", "spanish", "french", "italian", "portuguese", "dutch", "swedish", "danish", "norwegian", "finnish",
    "hungarian", "russian", "turkish",
)  # fmt: skip
BATCH_ROWS = 2_000


def find_languages(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Mark what is not English; a passage that tells no language has that of its document's beginning."""
    alias = editor.connection.alias
    chunks = apps.get_model("memories", "Chunk").objects.using(alias)
    documents = apps.get_model("memories", "Document").objects.using(alias)
    for id_, path, language, content in documents.values_list("id", "path", "language", "content").iterator(100):
        if not is_code(path=path, language=language):
            mark(chunks.filter(document_id=id_), detected_language(content) or DEFAULT)


def mark(chunks: Any, prevailing: str) -> None:
    found: dict[str, list[int]] = {}
    for id_, text in chunks.values_list("id", "text").iterator(BATCH_ROWS):
        found.setdefault(detected_language(text) or prevailing, []).append(id_)
    for language, ids in found.items():
        if language != DEFAULT:
            chunks.filter(id__in=ids).update(language=language)


class Migration(migrations.Migration):
    dependencies = [("memories", "0016_passages")]

    operations = [
        migrations.AddField(
            "chunk",
            "language",
            models.CharField(
                choices=[(name, name) for name in (DEFAULT, *LANGUAGES)],
                db_default=DEFAULT,
                default=DEFAULT,
                max_length=20,
            ),
        ),
        migrations.RunPython(find_languages, migrations.RunPython.noop, elidable=True),
        migrations.RemoveIndex("chunk", "chunk_search"),
        migrations.RemoveField("chunk", "search"),
        migrations.AddField(
            "chunk",
            "search",
            models.GeneratedField(
                db_persist=True,
                expression=models.Case(
                    *(models.When(language=name, then=SearchVector("text", config=name)) for name in LANGUAGES),
                    default=SearchVector("text", config=DEFAULT),
                ),
                output_field=SearchVectorField(),
            ),
        ),
        migrations.AddIndex("chunk", GinIndex(fields=["search"], name="chunk_search")),
        migrations.AddIndex(
            "chunk",
            models.Index(
                fields=["agent", "language"], name="chunk_agent_languages", condition=~models.Q(language=DEFAULT)
            ),
        ),
    ]
