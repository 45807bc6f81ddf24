"""Transactions that move things lock rows for a limited time, which PostgreSQL observes."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from django.db import OperationalError
from psycopg.errors import QueryCanceled

from config.db.statements import Statement, execute_sql

LIMIT_SQL = "SELECT set_config('statement_timeout', %(ms)s, true)"


class LockedTooLong(Exception):
    """Raised where a move would have locked rows for longer than it may. Nothing was moved."""


class LockLimit:
    """The milliseconds for which a transaction may lock rows, 0 without a limit, from the first statement on.

    PostgreSQL ends a statement that takes longer than what is left, and so the transaction.
    """

    def __init__(self, most_ms: int) -> None:
        self.most_ms, self.begun = most_ms, 0.0

    @property
    def statements(self) -> list[Statement]:
        """These are sent before a statement that locks rows or keeps them locked."""
        if not self.most_ms:
            return []
        self.begun = self.begun or perf_counter()
        left = self.most_ms - 1_000 * (perf_counter() - self.begun)
        return [Statement(LIMIT_SQL, {"ms": str(max(1, round(left)))})]

    def apply(self) -> None:
        """Send it."""
        for one in self.statements:
            execute_sql(one.sql, one.parameters)

    @contextmanager
    def raising(self, seconds: list[float]) -> Iterator[None]:
        """Raise LockedTooLong where PostgreSQL ended a statement, and append for how long rows were locked."""
        try:
            yield
        except OperationalError as error:
            if self.most_ms and isinstance(error.__cause__, QueryCanceled):
                seconds.append(perf_counter() - self.begun)
                raise LockedTooLong from error
            raise
