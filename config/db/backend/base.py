"""Django's PostgreSQL backend, which starts the embedded server before it connects."""

import select
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base
from psycopg import Connection, OperationalError
from psycopg_pool import PoolTimeout

from config.db.statements import StatementNames

MAX_PREPARED = 200
"""The most statements that a connection keeps prepared. Where memories are divided, the dozen of a search are prepared
once for each partition; psycopg would keep 100, and prepare some again and again.
"""


class DatabaseWrapper(base.DatabaseWrapper):
    """A database wrapper that attaches to the embedded server when the database is needed first; `--help` starts
    nothing.
    """

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        embedded = settings.EMBEDDED_POSTGRES
        # Each request takes a connection from the pool: to attach anew, which signs in, would be dear.
        if embedded and not embedded.is_kept_up():
            embedded.attach()
        try:
            return self._living_connection(conn_params)
        except PoolTimeout:
            raise
        except OperationalError:  # the server died a moment ago, and its supervisor does not know yet
            if not embedded:
                raise
            embedded.attach()
            return self._living_connection(conn_params)

    def _living_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection of the pool that was not closed while it was idle.

        Django's own check would query the server each time.
        """
        while _is_cut(connection := super().get_new_connection(conn_params)):
            connection.close()
            if not self.pool:
                raise OperationalError("The connection was closed immediately.")
            self.pool.putconn(connection)  # which makes another in its place
        if not isinstance(connection._prepared, StatementNames):  # noqa: SLF001 - psycopg offers no other way
            connection._prepared = StatementNames.of(connection, MAX_PREPARED)  # noqa: SLF001 - as above
        return connection


def _is_cut(connection: Connection[Any]) -> bool:
    """Return whether the server closed an idle connection.

    If the server has sent anything else, the connection is checked by a query.
    """
    waiting = select.poll()
    waiting.register(connection, select.POLLIN)
    if not waiting.poll(0):
        return False
    try:
        connection.execute("")
    except OperationalError:
        return True
    return False
