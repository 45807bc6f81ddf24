"""Passages of documents are found by their words, too.

The table is written anew and indexed: about half a minute for 100,000 passages, in which none can be read or written.
"""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0015_memory_languages")]

    operations = [
        migrations.AddField(
            "chunk",
            "search",
            models.GeneratedField(
                db_persist=True,
                expression=SearchVector("text", config="english"),
                output_field=SearchVectorField(),
            ),
        ),
        migrations.AddIndex("chunk", GinIndex(fields=["search"], name="chunk_search")),
    ]
