"""Filling the table of memories with very many rows: by COPY, and indexed afterwards, as one does with so many."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

COPY = """
COPY memories (id, agent_id, kind, text, embedding, embedding_model, salience, credibility, occurred_at, external_id,
    version, created, updated_by, editor_ref, editor_name) FROM STDIN
"""


@contextmanager
def indexed_afterwards() -> Iterator[None]:
    """Without the indexes on words and on meaning for as long as the block runs; then with them, and analysed."""
    from django.db import connections

    from memories.embeddings.active_model import last_known_model
    from memories.embeddings.reembedding import build_index, drop_index
    from memories.models import Memory

    [words] = [index for index in Memory._meta.indexes if index.name == "memory_search"]
    drop_index(last_known_model().slot)
    with connections["owner"].schema_editor() as editor:
        editor.remove_index(Memory, words)
    yield
    with connections["owner"].schema_editor() as editor:
        editor.add_index(Memory, words)
    build_index(last_known_model())
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE memories")


def copied(rows: Iterable[tuple[Any, ...]]) -> None:
    """Put the rows into the table; their values are in the order of COPY."""
    from django.db import connections

    with connections["default"].cursor() as cursor, cursor.copy(COPY) as copy:
        for row in rows:
            copy.write_row(row)
