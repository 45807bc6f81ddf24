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


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with named placeholders, and what they stand for."""

    sql: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """A statement under way."""

    cursor: "Cursor[tuple[Any, ...]]"
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
    connection.ensure_connection()
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield [
            Sent(Cursor(connection.connection).execute(one.sql, one.parameters, prepare=True), one)
            for one in statements
        ]


def rows_of(statement: Statement) -> Rows:
    """What the statement returned, sent alone."""
    connection.ensure_connection()
    begun = perf_counter()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        found = cursor.execute(statement.sql, statement.parameters, prepare=True).fetchall()
    _log(statement, perf_counter() - begun)
    return found


def execute(statement: Statement) -> int:
    """Send a statement that returns no rows. How many it changed."""
    connection.ensure_connection()
    begun = perf_counter()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        changed = cursor.execute(statement.sql, statement.parameters, prepare=True).rowcount
    _log(statement, perf_counter() - begun)
    return changed


def _log(statement: Statement, seconds: float) -> None:
    """So that Django's log of queries, and whoever counts them, knows of it."""
    if connection.queries_logged:
        connection.queries_log.append({"sql": statement.sql, "time": f"{seconds:.3f}"})
