"""The SQLite store keeps values in one file below the data folder, for all processes of the machine.

It outlives the processes, so it is for what is costly to make and follows from its key. SQLite itself bounds the file
in bytes; a full file drops an eighth of its values, the oldest first. A damaged file is removed.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TypeVar

from config.caching.shared_cache import StoredValue, StoreFailed

Outcome = TypeVar("Outcome")

PAGE_BYTES = 4_096
LEAST_PAGES = 16
TIMEOUT_SECONDS = 0.1
DROPPED_PART = 8

TABLE_SQL = "CREATE TABLE IF NOT EXISTS cached (key BLOB PRIMARY KEY, value BLOB NOT NULL, expires REAL NOT NULL)"
INDEX_SQL = "CREATE INDEX IF NOT EXISTS cached_expires ON cached (expires)"
GET_SQL = "SELECT value, expires FROM cached WHERE key = ? AND expires > ?"
PUT_SQL = "INSERT OR REPLACE INTO cached (key, value, expires) VALUES (?, ?, ?)"
EXPIRE_SQL = "DELETE FROM cached WHERE expires <= ?"
EVICT_SQL = f"""
DELETE FROM cached WHERE key IN (
    SELECT key FROM cached ORDER BY expires LIMIT (SELECT count(*) / {DROPPED_PART} + 1 FROM cached)
)
"""  # noqa: S608 - a constant
CLEAR_SQL = ("PRAGMA secure_delete = ON", "DELETE FROM cached", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
PAGES_SQL = "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count"


class SQLiteStore:
    """Values in the file `path`. The methods raise StoreFailed.

    The clock tells seconds since 1970, because the file outlives the process.
    """

    name = "the file on the disk"

    def __init__(self, path: Path, max_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self.path, self.max_bytes = path, max_bytes
        self._clock, self._lock = clock, Lock()
        self._file: sqlite3.Connection | None = None

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, StoredValue]:
        """Return the values that were stored under the keys and have not expired, by key."""
        now = self._clock()
        rows = self._attempt(lambda file: [(key, file.execute(GET_SQL, (key, now)).fetchone()) for key in keys])
        return {key: StoredValue(row[0], row[1] - now) for key, row in rows if row and isinstance(row[0], bytes)}

    def put(self, key: bytes, value: bytes, seconds: float) -> int:
        """Store the value for so many seconds, and return how many others were dropped to make space."""
        row = key, value, self._clock() + seconds
        return self._attempt(lambda file: _put(file, row))

    def used_bytes(self) -> int:
        """Return the bytes of the pages that are in use."""
        if not self.path.exists():
            return 0
        return int(self._attempt(lambda file: file.execute(PAGES_SQL).fetchone()[0])) * PAGE_BYTES

    def clear(self) -> None:
        """Remove all values, and overwrite their bytes, also for other processes that have the file open."""
        if self.path.exists():
            self._attempt(lambda file: [file.execute(statement).fetchall() for statement in CLEAR_SQL])

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._close()

    def _attempt(self, use: Callable[[sqlite3.Connection], Outcome]) -> Outcome:
        with self._lock:
            try:
                self._file = self._file or self._open()
                return use(self._file)
            except (sqlite3.Error, OSError) as error:
                with contextlib.suppress(OSError, sqlite3.Error):
                    self._close()
                    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                        self._remove()
                raise StoreFailed(type(error).__name__) from error

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = sqlite3.connect(self.path, TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            file.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = OFF")  # if the machine crashes, the file may be lost
            file.execute(f"PRAGMA max_page_count = {max(LEAST_PAGES, self.max_bytes // PAGE_BYTES)}")
            file.execute(TABLE_SQL)
            file.execute(INDEX_SQL)
            file.execute(EXPIRE_SQL, (self._clock(),))
        except sqlite3.Error:
            file.close()
            raise
        return file

    def _close(self) -> None:
        file, self._file = self._file, None
        if file:
            file.close()

    def _remove(self) -> None:
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)


def _put(file: sqlite3.Connection, row: tuple[bytes, bytes, float]) -> int:
    """Insert the row, and return how many others were dropped to make space."""
    evictions = 0
    while True:
        try:
            file.execute(PUT_SQL, row)
        except sqlite3.OperationalError as error:
            dropped = file.execute(EVICT_SQL).rowcount if error.sqlite_errorcode == sqlite3.SQLITE_FULL else 0
            if not dropped:
                raise
            evictions += dropped
        else:
            return evictions
