"""Every statement that the tests' server executes for one database, whoever sends it, read from the server's log."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import psycopg
from django.db import connections, transaction
from psycopg import sql

from config.postgres.data_folder import ADMIN, DataFolder
from tests.postgres import FOLDER

BEGINNING = re.compile(r"^\d{4}-\d\d-\d\d .*? \[\d+\] (?:(?P<role>\w+)@(?P<database>\w+) )?LOG:  (?P<text>.*)$")
STATEMENT = re.compile(r"(?:statement|execute [^:]+): (.*)", re.DOTALL)


BY_INDEXES = "; ".join(f"SET LOCAL enable_{method} = off" for method in ("seqscan", "hashjoin", "mergejoin"))
"""Joins then show their conditions at the scan of the inner table, as they would if the tables were large."""


class Scan(NamedTuple):
    """Where a statement reads a table, by its plan: the conditions on the rows, and the statement."""

    table: str
    conditions: str
    statement: str


@contextmanager
def logged_statements() -> Iterator[list[str]]:
    """Yield a list that has, after the block, the statements that were executed in it in Django's database.

    Sessions that are open before are closed, because the setting holds from the next one on.
    """
    folder, name = DataFolder(Path(os.environ[FOLDER])), connections["default"].settings_dict["NAME"]
    found: list[str] = []
    with psycopg.connect(folder.conninfo(ADMIN, name, password=folder.password(ADMIN)), autocommit=True) as admin:
        mark, setting = f"mark {uuid4()}", sql.SQL("ALTER DATABASE {} {} log_statement").format
        _close_sessions()
        admin.execute(setting(sql.Identifier(name), sql.SQL("SET")) + sql.SQL(" = 'all'"))
        size = folder.postgres_log.stat().st_size
        try:
            yield found
            _close_sessions()
            with connections["default"].cursor() as cursor:  # the last statement, so that the log is complete
                cursor.execute(f"SELECT '{mark}'")
        finally:
            admin.execute(setting(sql.Identifier(name), sql.SQL("RESET")))
            _close_sessions()
        with folder.postgres_log.open(errors="replace") as log:
            log.seek(size)
            text = log.read()
    assert mark in text
    found += [one for one in _statements(text, name) if mark not in one]


def _close_sessions() -> None:
    for wrapper in connections.all():
        wrapper.close()
        if wrapper.settings_dict.get("OPTIONS", {}).get("pool"):
            wrapper.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL backend


def _statements(text: str, database: str) -> Iterator[str]:
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("\t"):
            lines.append(line[1:])
            continue
        begun = BEGINNING.match(lines[0]) if lines else None
        if begun and begun["database"] == database:
            whole = STATEMENT.match("\n".join([begun["text"], *lines[1:]]))
            if whole:
                yield whole[1]
        lines = [line]


def scans_of(statements: Sequence[str], tables: Sequence[str], names: Sequence[str] = ()) -> list[Scan]:
    """Return where the statements read or change these tables, by their generic plans, each statement once.

    `names` are those by which statements name them, if they are partitions.
    """
    named = re.compile(rf"\b({'|'.join(names or tables)})\b")
    found = []
    for statement in dict.fromkeys(statements):
        if named.search(statement):
            found += [scan for scan in _scans(_plan(statement), statement) if scan.table in tables]
    return found


def _plan(statement: str) -> dict[str, Any]:
    with transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute(BY_INDEXES)
        cursor.execute(f"EXPLAIN (GENERIC_PLAN, VERBOSE, COSTS OFF, FORMAT JSON) {statement.replace('%', '%%')}", [])
        ((document,),) = cursor.fetchall()
    plan: dict[str, Any] = (json.loads(document) if isinstance(document, str) else document)[0]["Plan"]
    return plan


def _scans(node: dict[str, Any], statement: str) -> Iterator[Scan]:
    below = node.get("Plans", [])
    if "Relation Name" in node and node["Node Type"] != "ModifyTable":
        names = ("Index Cond", "Recheck Cond", "Filter", "TID Cond", "Order By")
        conditions = [str(one[name]) for one in (node, *below) for name in names if name in one]
        yield Scan(node["Relation Name"], " and ".join(conditions), statement)
    for one in below:
        yield from _scans(one, statement)
