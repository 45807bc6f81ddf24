"""The model of the embeddings is data: one row names it, and each table has room for the vectors of a second one.

The tables are written anew and indexed: one to three minutes for 100,000 memories, in which none can be read or written.
"""

import pgvector.django.vector
from django.db import migrations, models

from config.db.migration_helpers import ORGANISATION, counts_changes

MODELS = {"memory": "memories", "chunk": "chunks", "entity": "entities", "tool": "tools"}
LONGEST_NAME = 200

# Rows with two vectors would exceed what PostgreSQL keeps together by default, and each search would fetch the vectors
# from elsewhere.
FORWARDS = """
ALTER TABLE {table} SET (toast_tuple_target = 8160);
ALTER TABLE {table}
    ALTER embedding TYPE vector,
    ALTER embedding_model TYPE varchar(200) USING
        CASE embedding_model WHEN 'wordllama:l2_supercat_256' THEN 'wordllama:256' ELSE embedding_model END,
    ALTER embedding_model SET DEFAULT '',
    ADD second_embedding vector,
    ADD second_embedding_model varchar(200) NOT NULL DEFAULT '';
"""
# What is of another model lacks its embedding then.
BACKWARDS = """
ALTER TABLE {table}
    ALTER embedding_model DROP DEFAULT,
    ALTER embedding TYPE vector(256) USING
        CASE 'wordllama:256' WHEN embedding_model THEN embedding WHEN second_embedding_model THEN second_embedding END,
    ALTER embedding_model TYPE varchar(80) USING
        CASE WHEN 'wordllama:256' IN (embedding_model, second_embedding_model)
            THEN 'wordllama:l2_supercat_256' ELSE '' END;
ALTER TABLE {table} DROP second_embedding, DROP second_embedding_model;
ALTER TABLE {table} RESET (toast_tuple_target);
"""

DROP_INDEXES = "DROP INDEX IF EXISTS memory_embedding_meaning, memory_second_embedding_meaning"
# Until its graph is larger than this, building it takes a fraction of the time. Workers would share the graph in
# /dev/shm, which containers keep small.
ROOM_FOR_INDEXING = "SET LOCAL maintenance_work_mem = '256MB'; SET LOCAL max_parallel_maintenance_workers = 0;"
CREATE_INDEX = """
CREATE INDEX memory_embedding_meaning ON memories
    USING hnsw ((embedding::halfvec(256)) halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)
    WHERE embedding_model = 'wordllama:256';
COMMENT ON INDEX memory_embedding_meaning IS 'wordllama:256';
"""
CREATE_FORMER_INDEX = """
CREATE INDEX memory_meaning ON memories
    USING hnsw ((embedding::halfvec(256)) halfvec_cosine_ops) WITH (m = 16, ef_construction = 64);
"""


def second_slot(model: str) -> migrations.SeparateDatabaseAndState:
    """A second vector with the name of its model, and no fixed number of dimensions."""
    name = models.CharField(blank=True, db_default="", default="", max_length=LONGEST_NAME)
    return migrations.SeparateDatabaseAndState(
        [migrations.RunSQL(FORWARDS.format(table=MODELS[model]), BACKWARDS.format(table=MODELS[model]))],
        [
            migrations.AlterField(model, "embedding", pgvector.django.vector.VectorField(null=True)),
            migrations.AlterField(model, "embedding_model", name),
            migrations.AddField(model, "second_embedding", pgvector.django.vector.VectorField(null=True)),
            migrations.AddField(model, "second_embedding_model", name),
        ],
    )


class Migration(migrations.Migration):
    dependencies = [("memories", "0006_memory_retrieval"), ("assembly", "0005_change_counters")]

    operations = [
        migrations.CreateModel(
            name="EmbeddingSpace",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ("model", models.CharField(max_length=LONGEST_NAME)),
                ("dimensions", models.PositiveIntegerField()),
                ("slot", models.CharField(max_length=20)),
                ("next_model", models.CharField(blank=True, default="", max_length=LONGEST_NAME)),
                ("next_dimensions", models.PositiveIntegerField(null=True)),
            ],
            options={
                "db_table": "embedding_space",
                "constraints": [
                    models.CheckConstraint(condition=models.Q(id=1), name="embedding_space_is_one"),
                    models.CheckConstraint(
                        condition=models.Q(slot__in=["embedding", "second_embedding"]),
                        name="embedding_space_slot_known",
                    ),
                ],
            },
        ),
        migrations.RunSQL(
            "INSERT INTO embedding_space (id, model, dimensions, slot, next_model)"
            " VALUES (1, 'wordllama:256', 256, 'embedding', '')",
            migrations.RunSQL.noop,
        ),
        counts_changes("embedding_space", f"'{ORGANISATION}'::uuid"),
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL("DROP INDEX memory_meaning", f"{ROOM_FOR_INDEXING} {CREATE_FORMER_INDEX}")],
            [migrations.RemoveIndex("memory", "memory_meaning")],
        ),
        *(second_slot(model) for model in MODELS),
        migrations.RunSQL(f"{ROOM_FOR_INDEXING} {CREATE_INDEX}", DROP_INDEXES),
    ]
