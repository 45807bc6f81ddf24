"""Memories are found by the words of their labels, too, and, where an owner has very many, by an index on meaning.

The table is written anew and indexed: one to three minutes for 100,000 memories, in which none can be read or written.
"""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import migrations, models
from django.db.models.functions import Cast
from pgvector.django import HalfVectorField, HnswIndex

LABEL = models.Func(
    models.F("text"),
    models.Value(r"^([^:\n]{1,60}):\s"),
    function="substring",
    output_field=models.TextField(),
)


class Migration(migrations.Migration):
    dependencies = [("memories", "0005_queue")]

    operations = [
        migrations.RemoveIndex("memory", "memory_search"),
        migrations.RemoveField("memory", "search"),
        migrations.AddField(
            "memory",
            "search",
            models.GeneratedField(
                db_persist=True,
                expression=SearchVector(LABEL, config="english", weight="A")
                + SearchVector("text", config="english", weight="D"),
                output_field=SearchVectorField(),
            ),
        ),
        migrations.AddIndex("memory", GinIndex(fields=["search"], name="memory_search")),
        # Until its graph is larger than this, building it takes a fraction of the time. Workers would share the graph in
        # /dev/shm, which containers keep small.
        migrations.RunSQL(
            "SET LOCAL maintenance_work_mem = '256MB'; SET LOCAL max_parallel_maintenance_workers = 0",
            "SELECT 1",
        ),
        migrations.AddIndex(
            "memory",
            HnswIndex(
                OpClass(Cast("embedding", HalfVectorField(dimensions=256)), name="halfvec_cosine_ops"),
                name="memory_meaning",
                m=16,
                ef_construction=64,
            ),
        ),
    ]
