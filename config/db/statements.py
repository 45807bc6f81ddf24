"""This module runs SQL that the ORM cannot express.

- `run_statement` runs a frequent statement, which is prepared once per connection: psycopg's own cursors bind
parameters on the server, Django's default cursors do not.

- `find_rows` reads rows of a model by such a statement.

- `run_together` joins several such statements into one: one round trip, one plan, one snapshot.

- `fetch_rows` and `execute_sql` run everything else: rare statements, and statements that need a new plan for their
values.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from time import perf_counter
from types import MappingProxyType
from typing import Any, TypeVar

import orjson
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from msgspec import Struct
from psycopg import Connection, Cursor
from psycopg._preparing import Key, Prepare, PrepareManager
from psycopg.pq.abc import PGresult
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import set_json_loads

Rows = Sequence[Sequence[Any]]
Loader = Callable[[str], Any]
Binding = Cursor[tuple[Any, ...]]

Model = TypeVar("Model", bound=models.Model)

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


ONE_SNAPSHOT_SQL = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
"""The first statement of a transaction that reads everything as of one moment."""


def fetch_rows(
    sql: str, parameters: Mapping[str, Any] | Sequence[Any] | None = None, *, using: str = DEFAULT_DB_ALIAS
) -> list[tuple[Any, ...]]:
    """Return the rows of the statement. Raises Django's errors."""
    with connections[using].cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def execute_sql(
    sql: str, parameters: Mapping[str, Any] | Sequence[Any] | None = None, *, using: str = DEFAULT_DB_ALIAS
) -> int:
    """Execute the statement, and return how many rows it changed. Raises Django's errors."""
    with connections[using].cursor() as cursor:
        cursor.execute(sql, parameters)
        return int(cursor.rowcount)


def lock_until_commit(number: int, *, shared: bool = False) -> None:
    """Wait for the advisory lock with this number, which the transaction holds until its end."""
    execute_sql(LOCK_SHARED_SQL if shared else LOCK_SQL, [number])


LOCK_SQL = "SELECT pg_advisory_xact_lock(%s)"
LOCK_SHARED_SQL = "SELECT pg_advisory_xact_lock_shared(%s)"


class Statement(Struct, frozen=True):
    """SQL with named placeholders and their values. The columns of its result have different names."""

    sql: str
    parameters: Mapping[str, Any]
    loaders: Mapping[str, Loader] = MappingProxyType({})
    """Functions that convert a column from its JSON text, for types that JSON lacks, such as dates.
    Ids remain texts.
    """


def run_together(statements: Sequence[Statement], before: Sequence[Statement] = ()) -> list[Rows]:
    """Return the rows of each statement, all from one snapshot.

    The statements `before` are sent first, in the same round trip; their results are ignored. Without a transaction,
    their settings apply to these statements only. Raises Django's errors.

    Where tables are distributed, each statement has a snapshot of its own, in the order given: no snapshot comprises
    several servers, and each statement may be about another owner.
    """
    if settings.DATABASE_DISTRIBUTED:
        each = _rows_of_each(statements, before)
        return [_load_rows(rows, one.loaders) for rows, one in zip(each, statements, strict=True)]
    found = _row_of(Statement(_join_statements(tuple(one.sql for one in statements)), _parameters(statements)), before)
    return [_load_rows(rows, one.loaders) for rows, one in zip(found, statements, strict=True)]


def _row_of(joined: Statement, before: Sequence[Statement]) -> Sequence[Any]:
    """Return the only row of the statement."""
    begun, database = perf_counter(), connections[DEFAULT_DB_ALIAS]
    with _borrow_cursors(database, 1 + len(before)) as (cursor, *others):
        _execute_after(zip(others, before, strict=True), cursor, joined.sql, joined.parameters)
        (found,) = cursor.fetchall()
    _log(database, joined, begun)
    return found


def _rows_of_each(statements: Sequence[Statement], before: Sequence[Statement]) -> list[Any]:
    """Return the rows of each statement as `_row_of` returns those of all, in one round trip as well."""
    begun, database = perf_counter(), connections[DEFAULT_DB_ALIAS]
    alone = [Statement(_join_statements((one.sql,)), _parameters([one])) for one in statements]
    with _borrow_cursors(database, len(before) + len(alone)) as cursors:
        *others, last = [*before, *alone]
        _execute_after(zip(cursors[:-1], others, strict=True), cursors[-1], last.sql, last.parameters)
        found = [cursor.fetchall()[0][0] for cursor in cursors[len(before) :]]
    for one in alone:
        _log(database, one, begun)
    return found


@lru_cache(maxsize=256)
def _join_statements(texts: tuple[str, ...]) -> str:
    """Return one statement with a column per given statement: its rows as a JSON array of objects."""
    return "SELECT " + ", ".join(f"({_as_json(text)})" for text in _rename_parameters(texts))


def _rename_parameters(texts: tuple[str, ...]) -> Iterator[str]:
    """Yield the statements with parameter names that differ between statements."""
    return (_PLACEHOLDER.sub(rf"%({place}.\1)s", text) for place, text in enumerate(texts))


def _as_json(text: str) -> str:
    return f"SELECT json_agg(row) FROM ({text}) AS row"  # noqa: S608 - statements of the program itself


def _parameters(statements: Sequence[Statement]) -> dict[str, Any]:
    return {f"{place}.{name}": value for place, one in enumerate(statements) for name, value in one.parameters.items()}


def _load_rows(found: list[dict[str, Any]] | None, loaders: Mapping[str, Loader]) -> Rows:
    rows = found or []
    for name, load in loaders.items():
        for row in rows:
            if row[name] is not None:
                row[name] = load(row[name])
    return [[*row.values()] for row in rows]


def run_statement(statement: Statement, *, binary: bool = False, before: Sequence[Statement] = ()) -> Rows:
    """Return the rows of the statement as values of Python's types. The statements `before` are sent first, as in
    `run_together`.

    Wrappers of Django's execution wrap this one, too. `binary` is faster for large values of bytes.
    """
    begun, database = perf_counter(), connections[DEFAULT_DB_ALIAS]
    with _borrow_cursors(database, 1 + len(before)) as (cursor, *others):
        execute = partial(_execute_default, cursor, binary, [*zip(others, before, strict=True)])
        for wrapper in reversed(database.execute_wrappers):
            execute = partial(wrapper, execute)
        execute(statement.sql, statement.parameters, False, {"connection": database, "cursor": cursor})
        found = cursor.fetchall()
    _log(database, statement, begun)
    return found


def find_rows(model: type[Model], clauses: str, parameters: Mapping[str, Any]) -> list[Model]:
    """Return the rows of the model that the clauses of a SELECT (WHERE, ORDER BY …) select. For frequent queries:
    Django takes longer to compose a query than PostgreSQL to answer it. Columns of tiered texts are not converted.
    Of rows with a sensitivity, the clauses must have the clearance among their conditions.
    """
    names, sql, sealed = _select_all(model)
    rows = run_statement(Statement(f"{sql} {clauses}", parameters))
    if sealed:
        rows = [
            [sealed[at].from_db_value(one, None, None) if at in sealed else one for at, one in enumerate(row)]
            for row in rows
        ]
    return [model.from_db(DEFAULT_DB_ALIAS, names, row) for row in rows]


@cache
def _select_all(model: type[models.Model]) -> tuple[list[str], str, Mapping[int, Any]]:
    """Return the names of the fields, a SELECT of their columns in the same order, and the sealed fields by place."""
    meta = model._meta  # noqa: SLF001 - Django's documented introspection
    columns = ", ".join(f'"{field.column}"' for field in meta.concrete_fields)
    sql = f'SELECT {columns} FROM "{meta.db_table}"'  # noqa: S608 - names of tables and columns
    fields = meta.concrete_fields
    sealed = {at: field for at, field in enumerate(fields) if getattr(field, "is_sealed_above_internal", False)}
    return [field.attname for field in fields], sql, sealed


def _execute_default(
    cursor: Binding,
    binary: bool,
    before: Sequence[tuple[Binding, Statement]],
    sql: str,
    parameters: Mapping[str, Any],
    _many: bool,
    _context: dict[str, Any],
) -> Binding:
    if before:
        return _execute_after(before, cursor, sql, parameters, binary=binary)
    return cursor.execute(sql, parameters or None, prepare=True, binary=binary)


def _execute_after(
    before: Iterable[tuple[Binding, Statement]],
    cursor: Binding,
    sql: str,
    parameters: Mapping[str, Any],
    *,
    binary: bool = False,
) -> Binding:
    """Execute the statements in one round trip.

    The result has to be fetched after the pipeline: within it, that would be another round trip.
    """
    with cursor.connection.pipeline():
        for other, one in before:
            other.execute(one.sql, one.parameters or None, prepare=True)
        cursor.execute(sql, parameters or None, prepare=True, binary=binary)
    return cursor


@contextmanager
def _borrow_cursors(database: BaseDatabaseWrapper, count: int) -> Iterator[list[Binding]]:
    """Yield cursors of this thread's connection.

    If nothing failed, the cursors are stored with the connection and reused: a new cursor would have to look up types
    again, which takes as long as the statement itself.
    """
    database.ensure_connection()
    free: list[Binding] = database.connection.__dict__.setdefault("free_cursors", [])
    with database.wrap_database_errors:
        taken = [free.pop() if free else _new_cursor(database.connection) for _ in range(count)]
        yield taken
        free += taken


def _new_cursor(connection: "Connection[tuple[Any, ...]]") -> Binding:
    """Return a cursor that returns times in UTC, as Django's cursors do, and JSON as text."""
    cursor = Cursor(connection)
    set_json_loads(orjson.loads, cursor)
    cursor.adapters.register_loader("timestamptz", TimestamptzLoader)
    return cursor


def _log(database: BaseDatabaseWrapper, statement: Statement, begun: float) -> None:
    """Add the statement to Django's log of queries."""
    if database.queries_logged:
        database.queries_log.append({"sql": statement.sql, "time": f"{perf_counter() - begun:.3f}"})


class StatementNames(PrepareManager):
    """This manager knows the statements that a connection has prepared, and no others.

    psycopg counts all statements, to prepare those that are repeated, and so keeps the newest ones. Django's have their
    values in them, which may become confidential later. They are never prepared, and `run_statement` prepares its own
    at once, so nothing has to be counted.
    """

    def validate(self, key: Key, prep: Prepare, name: bytes, results: Sequence[PGresult]) -> None:
        super().validate(key, prep, name, results)
        self._counts.clear()

    @classmethod
    def of(cls, connection: Any, most: int) -> "StatementNames":
        """Return the names for a connection of psycopg that has prepared nothing yet, at most so many."""
        names = cls()
        names.prepare_threshold, names.prepared_max = connection.prepare_threshold, most
        return names
