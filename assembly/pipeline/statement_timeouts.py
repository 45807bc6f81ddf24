"""Statements under a deadline: PostgreSQL itself cancels what is late, so that nothing outlives its request."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from django.db import connection, transaction

from config.db.statements import Rows, Statement, run_together

ONE_SNAPSHOT_SQL = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
TIMEOUT_SLACK = 1.25
"""A limit that is this much too long stays: each change of it is a journey to the database."""
MIN_SECONDS = 0.05
"""Less could cancel what ends the transaction, too: on a busy machine, PostgreSQL waits for its turn as well."""

# What is read by prepared statements is always read the same way: to plan anew takes longer than reading.
LIMIT_SQL = """
SELECT set_config('statement_timeout', %(milliseconds)s, true),
    set_config('plan_cache_mode', 'force_generic_plan', true)
"""


class StatementDeadline:
    """Wraps the execution of each statement. A late one raises OperationalError, caused by psycopg's QueryCanceled."""

    def __init__(self) -> None:
        self._until = self._limit = 0.0
        self._begin: tuple[str, ...] = ()

    def allow(self, seconds: float) -> None:
        """From now on, statements may take so long together."""
        self._until = monotonic() + seconds

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        """Raises TimeoutError where no time is left: the database is not even asked."""
        left = self._until - monotonic()
        if left <= 0:
            raise TimeoutError
        if self._begin or not left <= self._limit <= left * TIMEOUT_SLACK:
            self._limit = left
            # Not by the statement's own cursor: it may be one of the server's, which knows nothing but queries.
            with connection.wrap_database_errors:
                connection.connection.execute("; ".join([*self._begin, _limit_statement(left)]))
            self._begin = ()
        return execute(sql, params, many, context)

    def together(self, statements: Sequence[Statement], seconds: float) -> list[Rows]:
        """The rows of each statement. All of them together may take so many seconds."""
        return run_together(statements, self._before(seconds))

    def _before(self, seconds: float) -> list[Statement]:
        before = [
            *(Statement(sql, {}) for sql in self._begin),
            Statement(LIMIT_SQL, {"milliseconds": _milliseconds(seconds)}),
        ]
        self._begin, self._limit = (), 0.0
        return before

    @contextmanager
    def begin_snapshot(self) -> Iterator[Any]:
        """Read only, as of one moment. Within a caller's transaction, the caller's isolation level holds instead."""
        within = connection.in_atomic_block
        self._begin = () if within else (ONE_SNAPSHOT_SQL,)
        self._limit = 0.0
        with transaction.atomic():
            with connection.execute_wrapper(self):
                yield
            if within:
                with connection.cursor() as cursor:
                    cursor.execute("SET LOCAL statement_timeout TO DEFAULT")


def _limit_statement(seconds: float) -> str:
    return f"SET LOCAL statement_timeout = {_milliseconds(seconds)}"


def _milliseconds(seconds: float) -> str:
    return str(round(max(MIN_SECONDS, seconds) * 1000))
