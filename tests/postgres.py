"""The tests' PostgreSQL: one embedded server for the run, one template database, a clone of it for every worker.

A pytest plugin, named in pyproject.toml. The controller starts the server before Django reads its settings and stops it
at the end; workers find it by DOSSIER_DATA_DIR. The template is migrated once; with TEST_DIVIDED=1, its tables are
divided into partitions, too (see docs/scaling.md). Tests roll back; those that need commits get a clone of their own
(`committed_database`), because flushing would be a TRUNCATE, which history refuses.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from config.postgres.embedded import EmbeddedPostgres

TEMPLATE = "dossier_template"
FOLDER = "DOSSIER_TEST_DATA_DIR"
END_OWN_SESSIONS = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s AND usename = current_user
"""
Role = Literal["app", "owner"]


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Before pytest-django reads the settings: a data folder of our own, and a server with the migrated template."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    folder = tempfile.mkdtemp(prefix="dossier-test-")
    os.environ.pop("DATABASE_URL", None)
    os.environ[FOLDER] = os.environ["DOSSIER_DATA_DIR"] = folder
    # Of two tests, neither is to find what the other one has made. Those of the caches have caches of their own.
    # The same holds for what a server reads while it is idle. The language model has tests of its own, too.
    os.environ |= {"SHARED_CACHE_BYTES": "0", "DISK_CACHE_BYTES": "0", "PREASSEMBLY": "off"}
    os.environ["CONFLICT_MODEL_FOLDER"] = "off"
    (Path(folder) / "static").mkdir()  # or WhiteNoise warns that nothing was collected
    server = EmbeddedPostgres(Path(folder))
    _start(folder)
    server.attach()
    _create(server, TEMPLATE, "template1")
    subprocess.run(
        [sys.executable, "-c", MIGRATE_TEMPLATE, TEMPLATE],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=Path(__file__).parent.parent,
    )


# Nothing of the tests' data has to outlive the machine, and every commit, clone and drop of a database would wait for
# the disk. Servers that tests start in folders of their own are as durable as the product's.
NOT_DURABLE = {"fsync": "off", "full_page_writes": "off"}
START_SERVER = f"""
from config.postgres import programs, supervisor
programs.SETTINGS |= {NOT_DURABLE!r}
supervisor.main()
"""


def _start(folder: str) -> None:
    """Start the server's supervisor, and wait until it is ready; whoever attaches finds it."""
    started = subprocess.run(
        [sys.executable, "-c", START_SERVER, folder],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parent.parent,
        start_new_session=True,
    )
    assert not started.stdout, started.stdout.decode()


MIGRATE_TEMPLATE = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
from django.conf import settings
for database in settings.DATABASES.values():
    database["NAME"] = sys.argv[1]
settings.DATABASES["default"]["OPTIONS"] = {}
django.setup()
from django.core.management import call_command
call_command("migrate")
if os.environ.get("TEST_DIVIDED"):
    call_command("partition_tables")
"""


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """The controller stops the server and takes its folder away."""
    folder = os.environ.get(FOLDER)
    if folder and "PYTEST_XDIST_WORKER" not in os.environ:
        EmbeddedPostgres(Path(folder)).detach(wait=True)
        shutil.rmtree(folder, ignore_errors=True)


def _server() -> EmbeddedPostgres:
    return EmbeddedPostgres(Path(os.environ[FOLDER]))


def _connect(server: EmbeddedPostgres, role: Role = "owner", database: str = "postgres") -> psycopg.Connection[Any]:
    facts = server.connection(role, database)
    named = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
    return psycopg.connect(make_conninfo(**{ours: facts[django] for ours, django in named.items()}), autocommit=True)


def _create(server: EmbeddedPostgres, name: str, template: str) -> None:
    # Not FILE_COPY: that has the server write everything down before and after.
    with _connect(server) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY WAL_LOG").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )


def _drop(server: EmbeddedPostgres, name: str) -> None:
    # Not WITH (FORCE): that fails at sessions of another role, and at autovacuum, for which a plain DROP waits.
    _end_sessions(server, name)
    with _connect(server) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))


def _end_sessions(server: EmbeddedPostgres, name: str) -> None:
    for role in get_args(Role):
        with _connect(server, role) as connection:
            connection.execute(END_OWN_SESSIONS, [name])


# --- Key stores, which are as expensive to create as clones: they are emptied and used again ---

EMPTY_KEYS = "TRUNCATE data_keys, text_words, erasure_ledger; UPDATE key_destructions SET number = 0"
_empty_keys: list[str] = []


def _lend_keys(server: EmbeddedPostgres, name: str) -> None:
    """Give an empty key store to the database, if there is one; else it is created where the first key is needed."""
    if _empty_keys:
        _rename(server, _empty_keys.pop(), keys_of(name))


def _take_keys_back(server: EmbeddedPostgres, name: str) -> None:
    """Empty the database's key store and keep it, or drop it if something is wrong with it."""
    keys, empty = keys_of(name), f"empty_{uuid4().hex[:12]}_keys"
    _end_sessions(server, keys)
    try:
        with _connect(server, database=keys) as connection:
            connection.execute(EMPTY_KEYS)
        _rename(server, keys, empty)
    except psycopg.Error:  # it was never needed, or is damaged, or in use
        _drop(server, keys)
    else:
        _empty_keys.append(empty)


def _rename(server: EmbeddedPostgres, name: str, other: str) -> None:
    with _connect(server) as connection:
        connection.execute(
            sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(name), sql.Identifier(other))
        )


@contextmanager
def cloned_database(template: str = TEMPLATE, *, with_keys: bool = False) -> Iterator[str]:
    """A fresh clone of the template, to which nobody may be connected; dropped at the end. Yields its name.

    Its key store is empty, or a clone of that of the template.
    """
    name = f"dossier_{uuid4().hex[:12]}"
    server = _server()
    _create(server, name, template)
    if with_keys:
        _create(server, keys_of(name), keys_of(template))
    else:
        _lend_keys(server, name)
    try:
        yield name
    finally:
        _drop(server, name)
        _take_keys_back(server, name)


def create_template(name: str) -> None:
    """Create a clone of the template that stays to the end of the run, to be filled and then cloned with its keys."""
    server = _server()
    _create(server, name, TEMPLATE)
    _lend_keys(server, name)


def leave(name: str) -> None:
    """Close this process's sessions in a database, so that it can be copied; the next statement opens others."""
    from django.db import connections

    for wrapper in [connections[alias] for alias in connections]:
        _point(wrapper, wrapper.settings_dict["NAME"])
    _point_broker()
    _end_sessions(_server(), name)


def keys_of(name: str) -> str:
    """The name of the database's key store."""
    return f"{name}_keys"


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Points Django's connections, pools included, at another database of the same server, and at its key store."""
    from django.conf import settings
    from django.db import connections

    wrappers = [connections[alias] for alias in connections]
    before = [wrapper.settings_dict["NAME"] for wrapper in wrappers]
    assert settings.KEY_STORE  # there always is one beside the embedded server
    keys_before = settings.KEY_STORE["NAME"]
    try:
        for wrapper in wrappers:
            _point(wrapper, name)
        _point_keys(keys_of(name))
        _point_broker()
        yield
    finally:
        for wrapper, old in zip(wrappers, before, strict=True):
            _point(wrapper, old)
        _point_keys(keys_before)
        _point_broker()


def _point(wrapper: Any, name: str) -> None:
    wrapper.close()
    if wrapper.settings_dict.get("OPTIONS", {}).get("pool"):
        wrapper.close_pool()
    wrapper.settings_dict["NAME"] = name


def _point_keys(name: str) -> None:
    """The store's keys are those of the texts in the database: no process may take those of another one for them."""
    from django.conf import settings

    from config.keys.store import forget_keys
    from config.keys.store_connections import close_pool

    close_pool()
    forget_keys()
    assert settings.KEY_STORE
    settings.KEY_STORE["NAME"] = name


def _point_broker() -> None:
    """The broker is in the same database: its connections are closed, the next ones go where Django's go."""
    from django.conf import settings
    from django.db import connection
    from kombu import pools

    if settings.CELERY_BROKER_URL:
        return  # see tests.scaling.through_broker

    from config import celery

    app: Any = celery.app
    pools.reset()
    app._pool = app.amqp._producer_pool = None
    app.conf.broker_transport_options = app.conf.broker_transport_options | celery.transport_options(
        connection.settings_dict | (settings.DATABASE_DIRECT or {})
    )
