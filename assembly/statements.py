"""Statements that are known beforehand: sent to the database together, so that one journey serves them all.

Each is prepared once per connection: psycopg's own cursors bind on the server, which Django's default ones do not.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.db import connection
from psycopg import Cursor

Rows = list[tuple[Any, ...]]
Binding = Cursor[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with named placeholders, and what they stand for."""

    sql: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """A statement under way."""

    cursor: Binding
    statement: Statement

    def rows(self) -> Rows:
        """What it returned. Waits for it, and for those that were sent before. Raises Django's database errors."""
        begun = perf_counter()
        with connection.wrap_database_errors:
            found = self.cursor.fetchall()
        _log(self.statement, perf_counter() - begun)
        return found


@contextmanager
def sent_together(statements: Sequence[Statement]) -> Iterator[list[Sent]]:
    """The statements, sent in this order; ask each in this order for its rows. After one that failed, none is done."""
    with _cursors(len(statements)) as cursors, connection.connection.pipeline():
        yield [Sent(_executed(cursor, one), one) for cursor, one in zip(cursors, statements, strict=True)]


def rows_of(statement: Statement) -> Rows:
    """What the statement returned, sent alone."""
    begun = perf_counter()
    with _cursors(1) as (cursor,):
        found = _executed(cursor, statement).fetchall()
    _log(statement, perf_counter() - begun)
    return found


def _executed(cursor: Binding, statement: Statement) -> Binding:
    return cursor.execute(statement.sql, statement.parameters or None, prepare=True)


@contextmanager
def _cursors(count: int) -> Iterator[list[Binding]]:
    """Cursors of this thread's connection. Where nothing failed, they are kept with it for the next ones: what a cursor
    has learnt of types, a new one would have to learn again, which takes as long as the statement itself."""
    connection.ensure_connection()
    raw = connection.connection
    free: list[Binding] = raw.__dict__.setdefault("free_cursors", [])
    with connection.wrap_database_errors:
        taken = [free.pop() if free else Cursor(raw) for _ in range(count)]
        yield taken
        free += taken


def _log(statement: Statement, seconds: float) -> None:
    """So that Django's log of queries, and whoever counts them, knows of it."""
    if connection.queries_logged:
        connection.queries_log.append({"sql": statement.sql, "time": f"{seconds:.3f}"})
