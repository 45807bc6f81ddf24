"""The bytes of erased texts leave the files of tables and indexes, and the report names the write-ahead files.

VACUUM alone leaves deleted bytes in free space, so each table is written anew with its indexes (VACUUM FULL), by the
role that owns it. That locks a table while it is copied; somebody who waits for a lock on it gets it first. The
planner's statistics hold common values of columns, so they are cleared, computed again, and their table is written
anew, too. Clearing matters for a table that is empty now: PostgreSQL leaves its former statistics.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import sleep
from typing import Any

from django.conf import settings
from django.db import InternalError, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from config.db.partitions.divided_tables import DIVIDED

OWNER = "owner"
LOCK_TIMEOUT = "3s"
ATTEMPTS = 5
PAUSE_SECONDS = 1.0
CATALOGUES = ("pg_statistic", "pg_statistic_ext_data")
"""Tables of the database's own in which values of columns stand."""
CLEAR_STATISTICS_SQL = """
SELECT pg_clear_attribute_stats(schemaname::text, tablename::text, attname::text, inherited) FROM pg_stats
WHERE schemaname = 'public' AND to_regclass(quote_ident(tablename)) IN
    (SELECT of.place FROM (
        SELECT %(table)s::regclass UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = %(table)s::regclass
    ) AS here (one), LATERAL (
        SELECT one UNION ALL SELECT indexrelid::regclass FROM pg_index WHERE indrelid = one
    ) AS of (place))
"""
CAN_CLEAR_SQL = "SELECT to_regproc('pg_clear_attribute_stats') IS NOT NULL"
"""From PostgreSQL 18 on."""
DATA_CORRUPTED = "XX001"
"""The SQLSTATE of a long value that is missing, which may be that of a deleted row."""
STILL_NEEDED = re.compile(r"(\d+) dead row versions cannot be removed yet")


class TableBusy(Exception):
    """Others use the table, or still read what it was before."""


class MayNotRewrite(Exception):
    """The role of the owner has no right to, as where a provider keeps the catalogues to itself."""

    sentence = "not written anew: the role of the owner may not"


class StatisticsLeft(MayNotRewrite):
    """Statistics of a table that is empty now cannot be deleted before PostgreSQL 18."""

    sentence = "not written anew: PostgreSQL keeps statistics of this empty table until it has rows again"


def table_rewrite(table: str) -> None:
    """Write a table and its indexes anew, with its partitions. Raises TableBusy after some attempts, and MayNotRewrite.

    While a table is moved into partitions, its copy has what was erased until the move goes on: it is busy so long.
    Rows that were deleted stay in the table as long as a transaction may read them that began before: it is tried again
    then as well.
    """
    for attempt in range(ATTEMPTS):
        if attempt:
            sleep(PAUSE_SECONDS)
        try:
            if not _rewrite(table):
                return
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", "") not in {"55P03", "40P01"}:  # lock_not_available, deadlock
                raise
        except InternalError as error:
            # It copies rows that were deleted of late, too, whose long values VACUUM may have removed already.
            if getattr(error.__cause__, "sqlstate", "") != DATA_CORRUPTED or attempt == ATTEMPTS - 1:
                raise
    raise TableBusy(table)


def _rewrite(table: str) -> int:
    """Write the table anew; return the number of deleted rows that are still in it.

    Raises MayNotRewrite, and TableBusy while the table is moved into partitions.
    """
    left: list[int] = []
    skipped: list[str] = []

    def read(diagnostic: Any) -> None:
        left.extend(int(found) for found in STILL_NEEDED.findall(diagnostic.message_detail or ""))
        if diagnostic.severity_nonlocalized == "WARNING":  # PostgreSQL passes over what the role may not touch
            skipped.append(diagnostic.message_primary or "")

    with _owner() as owner, owner.cursor() as cursor:
        owner.connection.add_notice_handler(read)
        cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
        if table in DIVIDED:
            cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [DIVIDED[table].moving])
            if cursor.fetchone() == (True,):
                raise TableBusy(table)
        if table not in CATALOGUES:
            _clear_statistics(cursor, table)
        analyse = ", ANALYZE" if table not in CATALOGUES else ""
        cursor.execute(f"VACUUM (FULL, VERBOSE{analyse}) {owner.ops.quote_name(table)}")
    if skipped:
        raise MayNotRewrite(table)
    return sum(left)


def _clear_statistics(cursor: Any, table: str) -> None:
    """Delete the statistics of the table and its indexes. Raises StatisticsLeft for an empty table, if it cannot."""
    cursor.execute(CAN_CLEAR_SQL)
    ((can_clear,),) = cursor.fetchall()
    if can_clear:
        cursor.execute(CLEAR_STATISTICS_SQL, {"table": table})
        return
    cursor.execute(
        f"SELECT NOT EXISTS (SELECT FROM {table}) AND EXISTS (SELECT FROM pg_stats WHERE tablename = %s)",  # noqa: S608
        [table],
    )
    ((is_left,),) = cursor.fetchall()
    if is_left:
        raise StatisticsLeft(table)


@contextmanager
def _owner() -> Iterator[BaseDatabaseWrapper]:
    """Open a connection of the owner outside of any transaction, and close it at the end."""
    connection = connections[OWNER].copy()
    connection.settings_dict["OPTIONS"].pop("pool", None)
    connection.settings_dict |= settings.DATABASE_DIRECT or {}
    if settings.DATABASE_DIRECT:  # which is the address; the role stays the owner's
        connection.settings_dict |= {name: connections[OWNER].settings_dict[name] for name in ("USER", "PASSWORD")}
    try:
        yield connection
    finally:
        connection.close()


@dataclass(frozen=True, slots=True)
class WriteAhead:
    """Write-ahead segments that may still hold erased bytes, and when they are gone; `notes` says what else may be."""

    segments: tuple[str, ...]
    gone_by: datetime | None
    notes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {
            "segments": list(self.segments),
            "gone_by": self.gone_by.isoformat() if self.gone_by else None,
            "notes": list(self.notes),
        }


CHECKPOINTS = 2
"""One checkpoint may be under way, and the next one takes up to its interval."""
MARGIN = timedelta(minutes=1)
SETTINGS = (
    *("checkpoint_timeout", "wal_recycle", "archive_mode", "wal_keep_size", "wal_segment_size"),
    *("summarize_wal", "max_slot_wal_keep_size"),
)


NEEDED_SINCE_SQL = """
SELECT count(slot.slot_name), pg_walfile_name(least(min(slot.restart_lsn), checkpoint.redo_lsn)),
    pg_walfile_name(pg_current_wal_lsn())
FROM pg_control_checkpoint() AS checkpoint LEFT JOIN pg_replication_slots AS slot ON true GROUP BY checkpoint.redo_lsn
"""
"""Finds the number of replication slots, the oldest segment they or the last checkpoint need, and the current one."""


def write_ahead() -> WriteAhead:
    """Return the write-ahead segments that are kept, and fill the current one, so that it is let go, too.

    These begin with the last checkpoint, or with what a replication slot waits for. Segments are deleted after the next
    checkpoint, unless something else needs them, which the notes say.
    """
    with _owner() as owner, owner.cursor() as cursor:
        values = _settings(cursor)
        cursor.execute(NEEDED_SINCE_SQL)
        ((slots, first, last),) = cursor.fetchall()
        size = int(values["wal_segment_size"])
        cursor.execute("SELECT pg_logical_emit_message(false, 'dossier', repeat('.', %s))", [size])
    notes = _what_keeps_segments(values, slots)
    until = timezone.now() + CHECKPOINTS * timedelta(seconds=int(values["checkpoint_timeout"])) + MARGIN
    return WriteAhead(tuple(_segments(first, last, size)), None if notes else until, notes)


def _what_keeps_segments(values: Mapping[str, str], slots: int) -> tuple[str, ...]:
    """Return a sentence for each reason why segments may outlive the next checkpoints."""
    reasons = (
        (values["wal_recycle"] == "on", "PostgreSQL renames segments to use them again: bytes stay until then."),
        (values["archive_mode"] != "off", "Segments are archived: what the archive holds is its operator's."),
        (int(values["wal_keep_size"]) > 0, "Segments are kept for standbys (wal_keep_size)."),
        (slots > 0, "Replication slots keep segments until they are read."),
    )
    return tuple(sentence for holds, sentence in reasons if holds)


def _settings(cursor: Any) -> dict[str, str]:
    cursor.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [list(SETTINGS)])
    return dict(cursor.fetchall())


def _segments(first: str, last: str, size: int) -> Iterator[str]:
    """Yield the names of the segments between these, both included: timeline, then two halves of the number."""
    per_log = 2**32 // size
    timeline, begin, end = last[:8], _number(first, per_log), _number(last, per_log)
    for number in range(begin, end + 1):
        yield f"{timeline}{number // per_log:08X}{number % per_log:08X}"


def _number(name: str, per_log: int) -> int:
    return int(name[8:16], 16) * per_log + int(name[16:24], 16)


def rewritten_tables(touched: Sequence[str]) -> list[str]:
    """Return the tables to write anew, each once, and then those of the database's own."""
    return [*dict.fromkeys(touched), *CATALOGUES]
