"""Asking the database: planned anew for each question, for what is common in one is rare in the next."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

from config.http.errors import DossierError

TIMEOUT_MS = 3_000


class TooBroad(DossierError):
    """The search did not end in time."""

    status = 422
    code = "too_broad"
    title = "This search takes too long"


@contextmanager
def bounded() -> Iterator[None]:
    """Statements that end in time, and read no table from its beginning to its end. Raises TooBroad."""
    try:
        with transaction.atomic():
            rows(
                "SELECT set_config('statement_timeout', %(timeout)s, true), set_config('enable_seqscan', 'off', true)",
                {"timeout": str(TIMEOUT_MS)},
            )
            yield
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooBroad("This search takes too long. Narrow the time, or choose an agent or a team.") from None
        raise


def rows(sql: str, parameters: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
    """What the statement returns."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        found: Sequence[tuple[Any, ...]] = cursor.fetchall()
        return found
