"""Statements that are known beforehand: sent to the database together, so that one journey serves them all.

Each is prepared once per connection: psycopg's own cursors bind on the server, which Django's default ones do not.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import Connection, Cursor
from psycopg.types.datetime import TimestamptzLoader

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
        with connections[DEFAULT_DB_ALIAS].wrap_database_errors:
            found = self.cursor.fetchall()
        _log(self.statement, perf_counter() - begun)
        return found


@contextmanager
def sent_together(statements: Sequence[Statement]) -> Iterator[list[Sent]]:
    """The statements, sent in this order; ask each in this order for its rows. After one that failed, none is done."""
    with _cursors(len(statements)) as cursors, cursors[0].connection.pipeline():
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
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    free: list[Binding] = database.connection.__dict__.setdefault("free_cursors", [])
    with database.wrap_database_errors:
        taken = [free.pop() if free else _cursor(database.connection) for _ in range(count)]
        yield taken
        free += taken


def _cursor(connection: "Connection[tuple[Any, ...]]") -> Binding:
    """One that reads moments in UTC, as Django's cursors do, but not in Python."""
    cursor = Cursor(connection)
    cursor.adapters.register_loader("timestamptz", TimestamptzLoader)
    return cursor


def _log(statement: Statement, seconds: float) -> None:
    """So that Django's log of queries, and whoever counts them, knows of it."""
    database = connections[DEFAULT_DB_ALIAS]
    if database.queries_logged:
        database.queries_log.append({"sql": statement.sql, "time": f"{seconds:.3f}"})
