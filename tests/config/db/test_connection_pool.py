"""The pool of connections: one that was cut while it lay there is replaced before anybody asks with it."""

import pytest
from django.db import connection

from tests.concurrency import at_once

pytestmark = pytest.mark.usefixtures("committed_database")


def backend() -> int:
    """The process of the server behind a connection that then goes back to the pool."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid: int = cursor.fetchone()[0]
    connection.close()
    return pid


def test_those_that_live_are_used_again() -> None:
    assert len({backend() for _ in range(30)}) < 10


def test_those_that_were_cut_are_replaced() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        [lying] = at_once([backend])  # another one, while ours is in use
        cursor.execute(
            "SELECT pid, pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
        )
        cut = {pid for pid, _ in cursor.fetchall()}
        assert lying in cut
        [found] = at_once([backend])
        assert found not in cut


def test_one_with_a_notice_waiting_is_no_worse_for_it() -> None:
    for _ in range(6):
        with connection.cursor() as cursor:
            cursor.execute("LISTEN something")
        connection.close()
    with connection.cursor() as cursor:
        cursor.execute("NOTIFY something")
        [found] = at_once([backend])
    assert found > 0
