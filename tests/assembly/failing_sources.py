"""What makes an assembly late or lets it fail, with nothing pretended: locks, sleep, errors and killed connections."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from django.db import DataError, connection, connections, transaction

from assembly.engine.profile import Section
from assembly.sources import SOURCES
from assembly.sources.base import GatherContext, SourceResult

Gather = Callable[[GatherContext, Sequence[Section]], SourceResult]

OTHERS = """
SELECT state FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
"""


@contextmanager
def locked(table: str) -> Iterator[None]:
    """Whoever reads the table waits until the end of the block."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield


def executing(statement: str) -> Gather:
    """A source that executes this, and finds nothing."""

    def gather(*_: Any) -> SourceResult:
        with connection.cursor() as cursor:
            cursor.execute(statement)
        return SourceResult((), 0)

    return gather


sleeping = executing("SELECT pg_sleep(30)")
sleeping_for_a_while = executing("SELECT pg_sleep(0.3)")
dividing_by_zero = executing("SELECT 1 / 0")


def raising(*_: Any) -> NoReturn:
    """A source with a fault of its own."""
    raise LookupError("on purpose")


def hiding_what_failed(*_: Any) -> NoReturn:
    """A source that makes an error of its own of a statement that failed."""
    try:
        dividing_by_zero(*_)
    except DataError:
        raise LookupError("on purpose") from None
    raise AssertionError


def dying(times: int, then: Gather) -> Gather:
    """A source whose connection is cut so many times while it reads."""
    left = [times]

    def gather(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
        if left[0]:
            left[0] -= 1
            executing("SELECT pg_terminate_backend(pg_backend_pid())")(gather_context, sections)
        return then(gather_context, sections)

    return gather


def replaced(patch: pytest.MonkeyPatch, name: str, gather: Gather) -> None:
    """From now on, the source of that name is this one."""
    patch.setitem(SOURCES, name, replace(SOURCES[name], gather=gather, reading=None))


def states_of_others() -> list[str]:
    """What the other connections of Dossier to this database are doing."""
    with connection.cursor() as cursor:
        cursor.execute(OTHERS)
        return [state for (state,) in cursor.fetchall()]


@contextmanager
def leaving_no_thread_behind() -> Iterator[None]:
    """After the block, every thread that began in it ends, but those of the key store."""
    before = set(threading.enumerate())
    yield
    for thread in {one for one in set(threading.enumerate()) - before if not one.name.startswith("keys")}:
        thread.join(timeout=10)
        assert not thread.is_alive(), thread.name


@contextmanager
def leaving_nothing_behind() -> Iterator[None]:
    """After the block, every thread that began in it ends, and no query and no transaction is under way."""
    with leaving_no_thread_behind():
        yield
    assert not connection.in_atomic_block
    assert set(states_of_others()) <= {"idle"}
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)
