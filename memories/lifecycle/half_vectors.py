"""Vectors of hidden chunks are stored in half precision, in columns next to the slots.

A chunk is hidden where its text is read from its packed document. A trigger moves its vectors between the columns, so
that whoever writes a vector writes it to its slot, and whoever reads one reads `vector_sql`. Half precision changes a
cosine by less than .0005. Memories keep theirs: an index has them, so each move would write to all their indexes.
"""

from typing import Any

from pgvector.django import VectorField

HALF = "_half"
"""The end of the names of the columns of vectors in half precision."""


def vector_sql(slot: str, row: str = "chunks") -> str:
    """Return the SQL expression of a chunk's vector in the slot; `row` is the table or its alias."""
    return f"coalesce({row}.{slot}, {row}.{slot}{HALF}::vector)"


class TieredVector(VectorField):
    """A vector that may be stored in half precision; reading it gives all its numbers in single precision."""

    def select_format(self, compiler: Any, sql: str, params: Any) -> Any:
        """Return the expression that is selected instead of the column."""
        row, dot, column = sql.rpartition(".")
        return (vector_sql(column.strip('"'), row) if dot else sql), params
