"""Tables are written anew by their owner; what stands in the way is waited for, or said."""

import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock
from uuid import uuid4

import psycopg
import pytest
from django.db import InternalError, connection, connections
from psycopg.errors import DataCorrupted

from agents.models import Agent
from config.postgres.data_folder import ADMIN, DataFolder
from memories.services import MemoryFacts, memory_create
from privacy.erasure import table_rewrite as rewriting
from privacy.erasure.table_rewrite import MayNotRewrite, TableBusy, table_rewrite, write_ahead
from teams.principal import SYSTEM
from tests.postgres import FOLDER
from tests.privacy.erasure.world import files_with, stored_files

MARK = "Vyqxburied"


@pytest.fixture
def session(committed_database: str) -> Iterator[psycopg.Connection]:
    """Another session, which may keep the owner waiting."""
    named = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}
    facts = {ours: connection.settings_dict[django] for ours, django in named.items()}
    with psycopg.connect(**facts) as other:
        yield other


def test_bytes_of_deleted_rows_leave_the_files(committed_database: str, agent: Agent) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{MARK} in tea"), principal=SYSTEM)
    type(memory).objects.filter(id=memory.id).update(text="nothing")
    assert files_with(MARK, stored_files())
    for table in ("memories", "memory_versions", "pg_statistic"):
        with connections["owner"].cursor() as cursor:
            if table == "memory_versions":
                cursor.execute("ALTER TABLE memory_versions DISABLE TRIGGER USER")
                cursor.execute("UPDATE memory_versions SET content = 'nothing'")
        table_rewrite(table)
    assert files_with(MARK, stored_files()) == []


def test_no_statistics_are_left_of_a_table_that_is_empty_now(committed_database: str, agent: Agent) -> None:
    for number in range(3):
        facts = MemoryFacts(kind="fact", text=f"{MARK} in tea", external_id=str(number))
        memory_create(owner=agent, facts=facts, principal=SYSTEM)
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE memories")
        cursor.execute("ALTER TABLE memory_versions DISABLE TRIGGER USER")
        cursor.execute("DELETE FROM memories")
    for table in ("memories", "pg_statistic"):
        table_rewrite(table)
    assert [name for name in files_with(MARK, stored_files()) if "pg_statistic" in name or "(memories" in name] == []


def test_a_transaction_that_may_read_what_was_deleted_is_waited_for(
    session: psycopg.Connection, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewriting, "PAUSE_SECONDS", 0.01)
    session.execute("SET default_transaction_isolation = 'repeatable read'")
    session.commit()
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{MARK} in tea"), principal=SYSTEM)
    session.execute("SELECT 1 FROM agents")  # it reads no memory, but could
    type(memory).objects.filter(id=memory.id).update(text="nothing")
    with pytest.raises(TableBusy):
        table_rewrite("memories")
    session.rollback()
    table_rewrite("memories")


def test_a_locked_table_is_waited_for(session: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(rewriting, "LOCK_TIMEOUT", "50ms")
    session.execute("SELECT 1 FROM memories")
    with pytest.raises(TableBusy):
        table_rewrite("memories")
    session.rollback()
    table_rewrite("memories")


def test_a_table_of_somebody_else_is_passed_over_and_said(committed_database: str) -> None:
    with pytest.raises(MayNotRewrite):
        table_rewrite("pg_authid")


def test_a_long_value_of_a_deleted_row_that_is_gone_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "PAUSE_SECONDS", 0)
    missing = InternalError("missing chunk number 0 for toast value 7 in pg_toast_1")
    missing.__cause__ = DataCorrupted()
    answers = mock.Mock(side_effect=[missing, 0])
    monkeypatch.setattr(rewriting, "_rewrite", answers)
    table_rewrite("memories")
    assert answers.call_count == 2
    monkeypatch.setattr(rewriting, "_rewrite", mock.Mock(side_effect=missing))
    with pytest.raises(InternalError):
        table_rewrite("memories")


def test_write_ahead_files_that_a_replication_slot_keeps_are_named_without_a_time(committed_database: str) -> None:
    server = DataFolder(Path(os.environ[FOLDER]))
    admin = server.conninfo(ADMIN, "postgres", password=server.password(ADMIN))
    create = (
        "SELECT pg_walfile_name(lsn) FROM pg_create_physical_replication_slot(%s, true, true)"  # ends with its session
    )
    with psycopg.connect(admin, autocommit=True) as slot_owner:
        ((kept,),) = slot_owner.execute(create, [f"reader_{uuid4().hex[:12]}"]).fetchall()
        slot_owner.execute("SELECT pg_switch_wal()")
        slot_owner.execute("CHECKPOINT")
        told = write_ahead()
    assert kept in told.segments
    assert told.gone_by is None
    assert told.notes == ("Replication slots keep segments until they are read.",)


def test_what_keeps_write_ahead_files_is_said() -> None:
    embedded = {"wal_recycle": "off", "archive_mode": "off", "wal_keep_size": "0"}
    assert rewriting._what_keeps_segments(embedded, 0) == ()
    other = {"wal_recycle": "on", "archive_mode": "always", "wal_keep_size": "64"}
    assert len(rewriting._what_keeps_segments(other, 2)) == 4
