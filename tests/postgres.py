"""The tests' PostgreSQL: one embedded server for the run, one template database, a clone of it for every worker.

A pytest plugin, named in pyproject.toml. The controller starts the server before Django reads its settings and stops it at the
end; workers find it by DOSSIER_DATA_DIR. The template is migrated once. Tests roll back; those that need commits get a
clone of their own (`committed_database`), because flushing would be a TRUNCATE, which history refuses.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from config.embedded import EmbeddedPostgres

TEMPLATE = "dossier_template"
FOLDER = "DOSSIER_TEST_DATA_DIR"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Before pytest-django reads the settings: a data folder of our own, and a server with the migrated template."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    folder = tempfile.mkdtemp(prefix="dossier-test-")
    os.environ.pop("DATABASE_URL", None)
    os.environ[FOLDER] = os.environ["DOSSIER_DATA_DIR"] = folder
    (Path(folder) / "static").mkdir()  # or WhiteNoise warns that nothing was collected
    server = EmbeddedPostgres(Path(folder))
    server.attach()
    _create(server, TEMPLATE, "template1")
    subprocess.run(
        [sys.executable, "-c", MIGRATE_TEMPLATE, TEMPLATE],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=Path(__file__).parent.parent,
    )


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


def _connect(server: EmbeddedPostgres) -> psycopg.Connection[Any]:
    facts = server.connection("owner", "postgres")
    return psycopg.connect(
        host=facts["HOST"], port=facts["PORT"], dbname=facts["NAME"], user=facts["USER"], password=facts["PASSWORD"],
        autocommit=True,
    )  # fmt: skip


def _create(server: EmbeddedPostgres, name: str, template: str) -> None:
    with _connect(server) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )


def _drop(server: EmbeddedPostgres, name: str) -> None:
    for attempt in range(50):
        try:
            with _connect(server) as connection:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
        except psycopg.errors.InsufficientPrivilege:  # autovacuum is in it, which only a superuser may end
            time.sleep(0.1 * attempt)
        else:
            return


@contextmanager
def cloned_database() -> Iterator[str]:
    """A fresh clone of the template, dropped at the end. Yields its name."""
    name = f"dossier_{uuid4().hex[:12]}"
    server = _server()
    _create(server, name, TEMPLATE)
    try:
        yield name
    finally:
        _drop(server, name)


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """Points Django's connections, pools included, at another database of the same server."""
    from django.db import connections

    wrappers = [connections[alias] for alias in connections]
    before = [wrapper.settings_dict["NAME"] for wrapper in wrappers]
    try:
        for wrapper in wrappers:
            _point(wrapper, name)
        yield
    finally:
        for wrapper, old in zip(wrappers, before, strict=True):
            _point(wrapper, old)


def _point(wrapper: Any, name: str) -> None:
    wrapper.close()
    if wrapper.settings_dict.get("OPTIONS", {}).get("pool"):
        wrapper.close_pool()
    wrapper.settings_dict["NAME"] = name
