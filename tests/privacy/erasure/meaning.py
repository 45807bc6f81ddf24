"""Every column with vectors, as the catalogue has them, and what a search by meaning finds in them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connections, transaction

from memories.embeddings.backfill import EMBEDDED_MODELS
from memories.embeddings.vectors import embed_query
from tests.privacy.subject_factories import NAME

VECTOR_COLUMNS = """
SELECT relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
JOIN pg_type ON pg_type.oid = atttypid
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'm') AND NOT relispartition AND attnum > 0
AND NOT attisdropped AND typname IN ('vector', 'halfvec', 'sparsevec', 'bit') ORDER BY 1, 2
"""
EMBEDDED = {model._meta.db_table: model for model in EMBEDDED_MODELS}
NEIGHBOURS = 40


@dataclass
class Meaning:
    """All columns with vectors; by table, the vectors of rows that name the person; the texts nearest to a text."""

    columns: list[tuple[str, str]]
    vectors: dict[str, list[list[float]]]
    nearest: list[str]


def meaning(said: str) -> Meaning:
    """What there is now; `said` is a text to whose meaning neighbours are looked for in each column."""
    columns = _rows(VECTOR_COLUMNS)
    vectors: dict[str, list[list[float]]] = {}
    for table, column in columns:
        if column.endswith("_half") or table not in EMBEDDED:
            continue
        named = [row for row in EMBEDDED[table]._default_manager.all() if NAME.casefold() in row.said.casefold()]
        found = [getattr(row, column) for row in named if getattr(row, column) is not None]
        vectors.setdefault(table, []).extend([[float(one) for one in vector] for vector in found])
    return Meaning(columns, {table: found for table, found in vectors.items() if found}, _nearest(said, columns))


def vectors_in(table: str, column: str) -> list[list[float]]:
    """All vectors of a column, as numbers."""
    rows = _rows(f"SELECT {column}::text FROM {table} WHERE {column} IS NOT NULL")  # noqa: S608 - of the catalogue
    return [[float(one) for one in text.strip("[]").split(",")] for (text,) in rows]


def alike(left: list[float], right: list[float]) -> bool:
    """Whether two vectors are the same in half precision, in which some columns have them."""
    return len(left) == len(right) and bool(np.allclose(left, right, atol=2e-3))


def _nearest(said: str, columns: list[tuple[str, str]]) -> list[str]:
    """The texts of the rows next to the text in each column, by its index where it has one."""
    query = embed_query(said)
    assert query
    told: list[str] = []
    for table, column in columns:
        kind, at = f"halfvec({len(query.vector)})", f"[{','.join(map(str, query.vector))}]"  # as indexes have it
        select = f"SELECT id FROM {table} WHERE {column} IS NOT NULL"  # noqa: S608 - names of the catalogue
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute(f"{select} ORDER BY ({column}::{kind}) <=> %s::{kind} LIMIT {NEIGHBOURS}", [at])
            ids = [id_ for (id_,) in cursor.fetchall()]
        told += [row.said for row in EMBEDDED[table]._default_manager.filter(pk__in=ids)]
    return told


def _rows(statement: str) -> list[Any]:
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())
