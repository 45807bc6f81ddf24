"""Fixtures give the database that commit 1ba078c made, brought up to date by today's `migrate`.

`make_old_database.py` made its files and says how. Nobody connects to the migrated database itself: tests get clones.
"""

import hashlib
import json
import lzma
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.db import connections
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.client import Api
from tests.postgres import cloned_database, connected_to
from tests.upgrade.make_old_database import COMMIT, SECRET_KEY

FOLDER = Path(__file__).parent
DUMP = FOLDER / f"database_{COMMIT}.sql.xz"
BUNDLE = FOLDER / f"records_{COMMIT}.zip"
RECORDED = json.loads((FOLDER / f"records_{COMMIT}.json").read_text())
"""The old code's own words: `head`, the newest seal, and `records`, each with its id, its text's SHA-256 and tokens."""

Columns = Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it was: the columns that PostgreSQL does not compute, and a digest of each row with its count."""

    columns: Columns
    rows: Counter[str]


@dataclass(frozen=True, slots=True)
class OldDatabase:
    """The name of the migrated database, and what its tables held before."""

    name: str
    tables: Mapping[str, Table]


@pytest.fixture(scope="session")
def old_database(django_db_setup: None, django_db_blocker: Any) -> Iterator[OldDatabase]:
    """Loads the dump as the role that owns the tables, as `migrate` finds an installation, and migrates it."""
    with django_db_blocker.unblock(), cloned_database("template1") as name:
        with psycopg.connect(_conninfo("owner", name), autocommit=True) as connection:
            connection.execute(lzma.decompress(DUMP.read_bytes()))
            connection.execute("SET search_path TO public")
            tables = {table: _table(connection, table) for table in _names(connection)}
        _migrate(name)
        yield OldDatabase(name, tables)


@pytest.fixture(scope="module")
def upgraded(old_database: OldDatabase, django_db_blocker: Any) -> Iterator[OldDatabase]:
    """Connects Django to a clone of the migrated database, for tests that roll back what they do."""
    with django_db_blocker.unblock(), cloned_database(old_database.name) as name, connected_to(name):
        yield old_database


@pytest.fixture
def scratch(old_database: OldDatabase, django_db_blocker: Any) -> Iterator[str]:
    """Connects Django to a clone of this test's own, in which commits happen. Yields its name."""
    with django_db_blocker.unblock(), cloned_database(old_database.name) as name, connected_to(name):
        yield name


def records_that_differ(api: Api, *ids: str) -> list[str]:
    """Return the ids of the records, of all or these, that today's code does not show and replay as the old one did."""
    looked_at = [record for record in RECORDED["records"] if not ids or record["id"] in ids]
    return [record["id"] for record in looked_at if not _is_same(api, record)]


def rows_of(columns: Columns, table: str) -> Counter[str]:
    """Count the rows that a table holds now in these columns, by digest."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(_select(columns, table).as_string(cursor.cursor))
        return Counter(row for (row,) in cursor.fetchall())


def _is_same(api: Api, record: Mapping[str, Any]) -> bool:
    replayed = api.post(f"assemblies/{record['id']}/replay")
    shown = api.get(f"assemblies/{record['id']}")
    if (replayed.status_code, shown.status_code) != (200, 200):
        return False
    document = shown.json()
    sha256 = hashlib.sha256(document["content"].encode()).hexdigest()
    found = {"id": document["id"], "sha256": sha256, "tokens": document["tokens"]}
    return found == record and replayed.json() == {"identical": True, "sha256": sha256}


def _names(connection: psycopg.Connection[Any]) -> list[str]:
    return [name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]


def _table(connection: psycopg.Connection[Any], table: str) -> Table:
    columns = [
        name
        for (name,) in connection.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = %s"
            " AND is_generated = 'NEVER' ORDER BY ordinal_position",
            [table],
        )
    ]
    return Table(columns, Counter(row for (row,) in connection.execute(_select(columns, table))))


def _select(columns: Columns, table: str) -> sql.Composed:
    named = sql.SQL(", ").join(map(sql.Identifier, columns))
    return sql.SQL("SELECT md5(row({})::text) FROM {}").format(named, sql.Identifier(table))


def _migrate(name: str) -> None:
    addresses = {"DATABASE_URL": _address("default", name), "DATABASE_OWNER_URL": _address("owner", name)}
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--no-input"],
        check=True,
        cwd=FOLDER.parent.parent,
        env=os.environ | addresses | {"SECRET_KEY": SECRET_KEY},
        stdout=subprocess.DEVNULL,
    )


def _conninfo(alias: str, name: str) -> str:
    facts = connections[alias].settings_dict
    named = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD"}
    return make_conninfo("", dbname=name, **{ours: facts[theirs] for ours, theirs in named.items()})


def _address(alias: str, name: str) -> str:
    facts = connections[alias].settings_dict
    account = f"{quote(facts['USER'])}:{quote(facts['PASSWORD'], safe='')}"
    return f"postgresql://{account}@/{name}?host={quote(facts['HOST'], safe='')}"
