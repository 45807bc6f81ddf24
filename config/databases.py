"""Django's connections to PostgreSQL: of the application's role, of the role that migrates, and to read replicas."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config import environment
from config.postgres.embedded import EmbeddedPostgres

ENGINE = "config.db.backend"
KEYS_DATABASE = "dossier_keys"
REPLICA_TIMEOUTS = {"connect_timeout": 2, "tcp_user_timeout": 2_000}
"""Seconds for a connection, and milliseconds after which a machine that acknowledges nothing is given up."""


def direct_address(embedded: EmbeddedPostgres | None) -> dict[str, Any] | None:
    """Return the address of PostgreSQL itself, if DATABASE_URL is a PgBouncer in transaction mode; otherwise None.

    Such a pooler lends each transaction another session. None keeps prepared statements, and what needs a session of
    its own (locks of jobs, broker, migrations) connects directly.
    """
    return None if embedded else environment.database("DATABASE_DIRECT_URL")


def databases(embedded: EmbeddedPostgres | None) -> dict[str, dict[str, Any]]:
    """Return Django's DATABASES: `default`, `owner`, and `replica1`, `replica2`, … for each address of a standby.

    Nobody waits long for a replica: the primary answers instead. Raises ImproperlyConfigured.
    """
    is_pooled = direct_address(embedded) is not None
    size = environment.number("DATABASE_POOL_SIZE", 20, minimum=2, maximum=500)
    timeout = environment.number("DATABASE_POOL_TIMEOUT_SECONDS", 5, minimum=1, maximum=60)
    found = {
        "default": _with_pool(
            _database(embedded, "app"), {"min_size": 2, "max_size": size, "timeout": timeout}, is_pooled=is_pooled
        ),
        "owner": _database(embedded, "owner", "DATABASE_OWNER_URL", "DATABASE_DIRECT_URL"),
    }
    pool = {"min_size": 0, "max_size": size, "timeout": 1, "reconnect_timeout": 2}
    for number, address in enumerate(environment.databases("DATABASE_REPLICA_URL", needs="DATABASE_URL"), start=1):
        replica = _with_pool({"ENGINE": ENGINE, **address}, pool, is_pooled=is_pooled)
        replica["OPTIONS"] |= REPLICA_TIMEOUTS
        found[f"replica{number}"] = replica
    return found


def key_store(embedded: EmbeddedPostgres | None) -> dict[str, Any] | None:
    """Return the address of the database with the keys of recorded texts; None if there is none: nothing is encrypted.

    Beside the embedded server's database, there is always one. Raises ImproperlyConfigured.
    """
    found = environment.database("KEYS_DATABASE_URL")
    if embedded and not found:
        return {**embedded.connection("owner", KEYS_DATABASE), "EMBEDDED": True}
    if found and all(found[part] == value for part, value in (environment.database("DATABASE_URL") or {}).items()):
        raise ImproperlyConfigured(
            "KEYS_DATABASE_URL is DATABASE_URL. Keys must be in a database of their own, so that a backup of the data "
            "does not have them."
        )
    return found


def _database(embedded: EmbeddedPostgres | None, role: Any, *variables: str) -> dict[str, Any]:
    """Return the embedded server, or the first of the addresses that is set, or DATABASE_URL."""
    if embedded:
        return {"ENGINE": ENGINE, **embedded.connection(role)}
    addresses = (environment.database(variable) for variable in (*variables, "DATABASE_URL"))
    return {"ENGINE": ENGINE, **next(filter(None, addresses), {})}


def _with_pool(database: dict[str, Any], pool: dict[str, Any], *, is_pooled: bool) -> dict[str, Any]:
    """Return the database with a pool of connections; `is_pooled`: they lead to a PgBouncer in transaction mode."""
    return {
        **database,
        "DISABLE_SERVER_SIDE_CURSORS": is_pooled,
        # The threshold is that of statements that ask to be prepared; Django's own never are.
        "OPTIONS": {**database.get("OPTIONS", {}), "prepare_threshold": None if is_pooled else 5, "pool": pool},
    }
