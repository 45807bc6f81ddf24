"""Sessions on the embedded PostgreSQL."""

from typing import Any, Literal

import psycopg

from config.postgres.embedded import EmbeddedPostgres


def sign_in(
    server: EmbeddedPostgres, role: Literal["app", "owner"] = "owner", **changed: str
) -> psycopg.Connection[Any]:
    facts = server.connection(role) | changed
    return psycopg.connect(
        host=facts["HOST"],
        port=facts["PORT"],
        dbname=facts["NAME"],
        user=facts["USER"],
        password=facts["PASSWORD"],
    )


def execute(server: EmbeddedPostgres, query: str, role: Literal["app", "owner"] = "owner") -> list[Any]:
    with sign_in(server, role) as session:
        cursor = session.execute(query.encode())
        return cursor.fetchall() if cursor.description else []


def rows_are_kept(server: EmbeddedPostgres) -> bool:
    return execute(server, "SELECT value FROM kept") == [(1,)]
