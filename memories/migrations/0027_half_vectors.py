"""Vectors of chunks whose document is packed are stored in half precision, in columns of their own.

No table is written anew: the new columns are NULL. Chunks that are hidden already are changed a few at a time, each
time in a transaction of its own, so an interrupted migration can be run again; rows that others have locked stay, and
are read as they are.
"""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import memories.lifecycle.half_vectors

BATCH = 200
ADD_COLUMNS = """
ALTER TABLE chunks ADD COLUMN IF NOT EXISTS embedding_half halfvec,
    ADD COLUMN IF NOT EXISTS second_embedding_half halfvec
"""
DROP_COLUMNS = "ALTER TABLE chunks DROP COLUMN embedding_half, DROP COLUMN second_embedding_half"
# The vector of another embedder replaces the former one, also where the new embedder knows nothing in the text.
KEEP_VECTORS = """
CREATE OR REPLACE FUNCTION keep_vectors_of_chunks() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.embedding_model <> OLD.embedding_model THEN
        NEW.embedding_half := NULL;
    END IF;
    IF NEW.second_embedding_model <> OLD.second_embedding_model THEN
        NEW.second_embedding_half := NULL;
    END IF;
    IF NEW.text IS NULL THEN
        NEW.embedding_half := coalesce(NEW.embedding::halfvec, NEW.embedding_half);
        NEW.second_embedding_half := coalesce(NEW.second_embedding::halfvec, NEW.second_embedding_half);
        NEW.embedding := NULL;
        NEW.second_embedding := NULL;
    ELSE
        NEW.embedding := coalesce(NEW.embedding, NEW.embedding_half::vector);
        NEW.second_embedding := coalesce(NEW.second_embedding, NEW.second_embedding_half::vector);
        NEW.embedding_half := NULL;
        NEW.second_embedding_half := NULL;
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER chunks_keep_vectors
    BEFORE UPDATE OF text, embedding, embedding_model, second_embedding, second_embedding_model ON chunks
    FOR EACH ROW WHEN (NEW.text IS NULL OR OLD.text IS NULL) EXECUTE FUNCTION keep_vectors_of_chunks()
"""
DROP_KEEPER = "DROP TRIGGER chunks_keep_vectors ON chunks; DROP FUNCTION keep_vectors_of_chunks()"

HALVE = """
UPDATE chunks SET text = NULL WHERE id IN (
    SELECT id FROM chunks WHERE id > %s AND text IS NULL AND num_nonnulls(embedding, second_embedding) > 0
    ORDER BY id LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
) RETURNING id
"""
RESTORE = """
UPDATE chunks SET embedding = coalesce(embedding, embedding_half::vector), embedding_half = NULL,
    second_embedding = coalesce(second_embedding, second_embedding_half::vector), second_embedding_half = NULL
WHERE id IN (
    SELECT id FROM chunks WHERE id > %s AND num_nonnulls(embedding_half, second_embedding_half) > 0 ORDER BY id LIMIT %s
) RETURNING id
"""


def halve(_apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Store the vectors of hidden chunks in half precision."""
    _in_batches(HALVE, editor)


def restore(_apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Store all vectors in their slots again."""
    _in_batches(RESTORE, editor)


def _in_batches(statement: str, editor: BaseDatabaseSchemaEditor) -> None:
    last = 0
    with editor.connection.cursor() as cursor:
        while True:
            cursor.execute(statement, [last, BATCH])
            changed = [id_ for (id_,) in cursor.fetchall()]
            if not changed:
                return
            last = max(changed)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("memories", "0026_sealed_texts")]

    operations = [
        *(
            migrations.AlterField("chunk", slot, memories.lifecycle.half_vectors.TieredVector(null=True))
            for slot in ("embedding", "second_embedding")
        ),
        migrations.RunSQL(ADD_COLUMNS, DROP_COLUMNS),
        migrations.RunPython(migrations.RunPython.noop, restore),
        migrations.RunSQL(KEEP_VECTORS, DROP_KEEPER),
        migrations.RunPython(halve, migrations.RunPython.noop),
    ]
