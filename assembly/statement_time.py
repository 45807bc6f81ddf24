"""Statements under a deadline: PostgreSQL itself cancels what is late, so that nothing outlives its request."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from django.db import connection, transaction

ONE_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
SLACK = 1.25
"""A limit that is this much too long stays: each change of it is a journey to the database."""
LEAST_SECONDS = 0.05
"""Less could cancel what ends the transaction, too: on a busy machine, PostgreSQL waits for its turn as well."""


class StatementTime:
    """Wraps the execution of each statement. A late one raises OperationalError, caused by psycopg's QueryCanceled."""

    def __init__(self) -> None:
        self._until = self._limit = 0.0

    def allow(self, seconds: float) -> None:
        """From now on, statements may take so long together."""
        self._until = monotonic() + seconds

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        """Raises TimeoutError where no time is left: the database is not even asked."""
        left = self._until - monotonic()
        if left <= 0:
            raise TimeoutError
        if not left <= self._limit <= left * SLACK:
            self._limit = left
            # Not by the statement's own cursor: it may be one of the server's, which knows nothing but queries.
            with connection.wrap_database_errors:
                connection.connection.execute(_limit_of(left))
        return execute(sql, params, many, context)

    @contextmanager
    def one_snapshot(self, seconds: float) -> Iterator[Any]:
        """Read only, as of one moment; its first statements may take so many seconds.

        Within a caller's transaction, the caller's isolation level holds instead.
        """
        within = connection.in_atomic_block
        begin = _limit_of(seconds) if within else f"{ONE_SNAPSHOT}; {_limit_of(seconds)}"
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(begin)
            self._limit = seconds
            self.allow(seconds)
            with connection.execute_wrapper(self):
                yield
            if within:
                cursor.execute("SET LOCAL statement_timeout TO DEFAULT")


def _limit_of(seconds: float) -> str:
    return f"SET LOCAL statement_timeout = {round(max(LEAST_SECONDS, seconds) * 1000)}"
