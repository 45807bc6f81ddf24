"""Django's PostgreSQL backend, which sees to it that the embedded server is up before it connects."""

from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Any command, server or worker that needs the database attaches by needing it; `--help` starts nothing."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if settings.EMBEDDED_POSTGRES:
            settings.EMBEDDED_POSTGRES.attach()
        return super().get_new_connection(conn_params)
