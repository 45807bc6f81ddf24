"""Statements in the key store, by a small pool of connections of this process.

The store is no database of Django's: it has no models, takes part in no transaction of a request, and its answers are
waited for a few seconds at most.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from threading import Lock
from time import monotonic
from typing import Any

import psycopg
from django.conf import settings
from psycopg import Connection, sql
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from config.keys.key_errors import KeyStoreUnavailable

logger = logging.getLogger(__name__)

Session = Connection[tuple[Any, ...]]
Pool = ConnectionPool[Session]
Rows = list[tuple[Any, ...]]
Asked = tuple[str, Mapping[str, Any]]
"""A statement with its parameters."""

# The tables are created where they are missing, by whoever needs them first. A key that was destroyed leaves its row
# without the key, so that a stored value can tell since when it is erased. `erasure_ledger` says what was erased, see
# `privacy.erasure.ledger`.
TABLES_EXIST = "SELECT to_regclass('erasure_ledger') IS NOT NULL"
LOCK = "SELECT pg_advisory_xact_lock(hashtext('dossier key store'))"
CREATE_TABLES = """
CREATE TABLE IF NOT EXISTS data_keys (
    id bytea NOT NULL,
    generation integer NOT NULL,
    wrapped bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    retired_at timestamptz,
    destroyed_at timestamptz,
    PRIMARY KEY (id, generation),
    CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL))
);
CREATE TABLE IF NOT EXISTS text_words (id bytea PRIMARY KEY, words tsvector NOT NULL);
CREATE INDEX IF NOT EXISTS text_words_words ON text_words USING gin (words) WITH (gin_pending_list_limit = 512);
CREATE TABLE IF NOT EXISTS key_destructions (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    number bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS erasure_ledger (
    erasure uuid PRIMARY KEY,
    completed_at timestamptz NOT NULL,
    sealed bytea NOT NULL
);
INSERT INTO key_destructions (number) VALUES (0) ON CONFLICT DO NOTHING;
"""

MAX_CONNECTIONS = 4
DEADLINE_SECONDS = 5.0
"""How long a connection is waited for, and each statement."""
LIMITS = {"connect_timeout": 5, "tcp_user_timeout": 5_000}
STATEMENT_LIMITS = "-c statement_timeout=5000 -c lock_timeout=2000"
REST_SECONDS = 1.0
"""After a failure, the store is not asked for so long: many who need it do not each wait for the deadline."""
ATTEMPTS = 2
"""A connection that was cut while it was idle is found out by a statement; the next attempt has another one."""


def run_in_store(*asked: Asked) -> list[Rows]:
    """Return the rows of each statement; all are one transaction, in one round trip. They may run twice.

    Raises KeyStoreUnavailable.
    """
    if _pools.is_resting():
        raise KeyStoreUnavailable
    try:
        for attempt in range(1, ATTEMPTS + 1):
            pool = _pools.pool()
            with pool.connection(timeout=DEADLINE_SECONDS) as session:
                try:
                    return _run(session, asked)
                except psycopg.OperationalError:
                    if attempt == ATTEMPTS or not session.broken:
                        raise
            pool.check()  # the others that were idle may be cut, too
    except (psycopg.Error, PoolTimeout) as error:
        logger.warning("the key store failed: %s: %s", type(error).__name__, str(error).partition("\n")[0])
        if not isinstance(error, psycopg.errors.QueryCanceled | psycopg.errors.LockNotAvailable):
            _pools.rest()
        raise KeyStoreUnavailable from error
    raise AssertionError  # the last attempt returns or raises


def _run(session: Session, asked: Sequence[Asked]) -> list[Rows]:
    if len(asked) == 1:
        ((statement, parameters),) = asked
        return [session.execute(statement, parameters, binary=True).fetchall()]
    cursors = [session.cursor(binary=True) for _ in asked]
    with session.pipeline():
        for cursor, (statement, parameters) in zip(cursors, asked, strict=True):
            cursor.execute(statement, parameters)
    return [cursor.fetchall() for cursor in cursors]


def close_pool() -> None:
    """Close this process's connections; the next statement opens others, by the settings as they are then."""
    _pools.close()


def conninfo(address: Mapping[str, Any], **others: Any) -> str:
    """Return an address in Django's form, with other parameters, as libpq takes it."""
    named = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
    facts = {ours: address[django] for ours, django in named.items() if address.get(django)}
    return make_conninfo(**(facts | dict(address.get("OPTIONS", {})) | others))


class _Pools:
    """The pool of this process, which is opened when it is needed first."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget the pool without closing it, because its connections are those of the parent process."""
        self._pool: Pool | None = None
        self._lock, self._rests_until = Lock(), 0.0

    def rest(self) -> None:
        self._rests_until = monotonic() + REST_SECONDS

    def is_resting(self) -> bool:
        return monotonic() < self._rests_until

    def pool(self) -> Pool:
        with self._lock:
            if self._pool is None:
                self._pool = _open_pool(settings.KEY_STORE)
        return self._pool

    def close(self) -> None:
        with self._lock:
            pool, self._pool, self._rests_until = self._pool, None, 0.0
        if pool:
            pool.close()


_pools = _Pools()
os.register_at_fork(after_in_child=_pools.forget)


def _open_pool(address: Mapping[str, Any] | None) -> Pool:
    if address is None:  # there was one when something was encrypted
        raise psycopg.OperationalError("KEYS_DATABASE_URL is not set")
    if address.get("EMBEDDED") and settings.EMBEDDED_POSTGRES:
        settings.EMBEDDED_POSTGRES.attach()
        _create_database(address)
    _create_tables(address)
    # PgBouncer refuses `options`, and lends each transaction another session, which has prepared other statements.
    is_pooled = settings.DATABASE_DIRECT is not None
    limits: dict[str, Any] = LIMITS | ({} if is_pooled else {"options": STATEMENT_LIMITS})
    return ConnectionPool(
        conninfo(address),
        kwargs={"autocommit": True, "prepare_threshold": None if is_pooled else 2, **limits},
        min_size=1,
        max_size=MAX_CONNECTIONS,
        timeout=DEADLINE_SECONDS,
        max_idle=300,
        open=True,
        name="keys",
    )


def _create_database(address: Mapping[str, Any]) -> None:
    """Create the store in the embedded server if it is missing."""
    with psycopg.connect(conninfo(address, dbname="postgres"), autocommit=True) as session:
        name = address["NAME"]
        if session.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
            try:
                session.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
            except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                logger.info("another process created the key store")


def _create_tables(address: Mapping[str, Any]) -> None:
    with psycopg.connect(conninfo(address, **LIMITS)) as session:
        if session.execute(TABLES_EXIST).fetchone() != (True,):
            session.execute(LOCK)
            session.execute(CREATE_TABLES)
