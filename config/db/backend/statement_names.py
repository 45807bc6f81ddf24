"""A connection keeps the names of prepared statements, and no statement that was sent with values in it."""

from collections.abc import Sequence
from typing import Any

from psycopg._preparing import Key, Prepare, PrepareManager
from psycopg.pq.abc import PGresult


class StatementNames(PrepareManager):
    """psycopg counts all statements, to prepare those that are repeated, and so keeps the newest ones of a connection.

    Django's have their values in them, of which a text may be raised later. They are never prepared, and
    `run_statement` prepares its own at once, so nothing has to be counted.
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
