"""Usage is counted in each process and written about once a second, so that no request waits for a shared row.

Limits of the day are checked against the stored sums and what the process counted since. Several processes together may
therefore exceed a limit by what they store within a second or two.
"""

import datetime
import json
import logging
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import Error, connection
from psycopg_pool import PoolTimeout

from agents.quotas.limits import Limits, limits_from_rows
from agents.quotas.models import QuotaLimit
from config.db.statements import execute_sql, fetch_rows

FLUSH_SECONDS = 1.0
RETAINED_DAYS = 90
TICKS_BETWEEN_DELETIONS = 3_600
AMOUNTS = ("requests", "refused", "text_bytes", "record_bytes")

ADD_SQL = """
INSERT INTO daily_uses AS used (subject, day, requests, refused, text_bytes, record_bytes)
SELECT subject, day, requests, refused, text_bytes, record_bytes FROM jsonb_to_recordset(%s::jsonb)
    AS row (subject text, day date, requests bigint, refused bigint, text_bytes bigint, record_bytes bigint)
ORDER BY subject, day
ON CONFLICT (subject, day) DO UPDATE SET requests = used.requests + excluded.requests,
    refused = used.refused + excluded.refused, text_bytes = used.text_bytes + excluded.text_bytes,
    record_bytes = used.record_bytes + excluded.record_bytes
"""
READ_SQL = "SELECT subject, text_bytes, record_bytes FROM daily_uses WHERE day = %s AND subject = ANY(%s)"
DELETE_OLD_SQL = "DELETE FROM daily_uses WHERE day < %s"

logger = logging.getLogger(__name__)

Amounts = dict[str, int]


def today() -> datetime.date:
    """Return the day by which uses are counted, in UTC."""
    return datetime.datetime.now(datetime.UTC).date()


class UseCounter:
    """The usage that this process counts, and the limits and sums that it read last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: dict[tuple[str, datetime.date], Amounts] = {}
        self._active: set[str] = set()
        self._stored: dict[str, tuple[int, int]] = {}
        """The bytes of texts and of records of the day, by subject."""
        self._day = today()
        self._rows: Mapping[str, Mapping[bool, QuotaLimit]] = {}
        self._limits: dict[tuple[str, str], Limits] = {}
        self._ticks = 0

    def add(self, subjects: Iterable[str], **amounts: int) -> None:
        """Count usage of the subjects, by the names in AMOUNTS."""
        day = today()
        with self._lock:
            for subject in subjects:
                pending = self._pending.setdefault((subject, day), dict.fromkeys(AMOUNTS, 0))
                for name, amount in amounts.items():
                    pending[name] += amount
                self._active.add(subject)

    def stored_today(self, subject: str) -> tuple[int, int]:
        """Return the bytes of texts and of records that the subject stored today, as far as this process knows."""
        day = today()
        texts, records = self._stored.get(subject, (0, 0)) if day == self._day else (0, 0)
        pending = self._pending.get((subject, day))
        return (texts + pending["text_bytes"], records + pending["record_bytes"]) if pending else (texts, records)

    def limits_of(self, subject: str, kind: str) -> Limits:
        """Return the limits in effect for the subject, as they were read last."""
        found = self._limits.get((subject, kind))
        if found is None:
            found = self._limits[subject, kind] = limits_from_rows(kind, self._rows.get(subject, {}))
        return found

    def read_limits(self) -> None:
        """Read all limits that admins set. Raises Django's errors."""
        rows: dict[str, dict[bool, QuotaLimit]] = defaultdict(dict)
        for row in QuotaLimit.objects.all():
            rows[row.subject][row.by_organisation] = row
        self._rows, self._limits = rows, {}

    def flush(self) -> None:
        """Write what was counted, and read the sums of active subjects and all limits.

        Raises Django's errors, and then writes it the next time.
        """
        day = today()
        with self._lock:
            pending, self._pending = self._pending, {}
            active, self._active = self._active, set()
        if not active:
            return
        try:
            execute_sql(ADD_SQL, [json.dumps([_row(key, amounts) for key, amounts in pending.items()])])
            self._read_stored(day, active)
        except BaseException:
            self._take_back(pending, active)
            raise
        self.read_limits()

    def refresh(self, subjects: Iterable[str]) -> None:
        """Read today's sums of the subjects, and all limits: a process knows only the subjects that were active in it.

        Raises Django's errors.
        """
        self._read_stored(today(), subjects)
        self.read_limits()

    def delete_old(self) -> None:
        """Delete usage that is older than RETAINED_DAYS. Raises Django's errors."""
        execute_sql(DELETE_OLD_SQL, [today() - datetime.timedelta(days=RETAINED_DAYS)])

    def tick(self) -> None:
        """Write what was counted, and from time to time delete old usage.

        If the database is unavailable, it is tried again later.
        """
        try:
            self.flush()
            if self._ticks % TICKS_BETWEEN_DELETIONS == 0:
                self.delete_old()
            self._ticks += 1
        except (Error, PoolTimeout) as error:
            logger.warning("what was used could not be written yet: %s", type(error).__name__)
        finally:
            connection.close()  # back to the pool

    def _read_stored(self, day: datetime.date, subjects: Iterable[str]) -> None:
        rows = fetch_rows(READ_SQL, [day, sorted(subjects)])
        stored = {subject: (texts, records) for subject, texts, records in rows}
        with self._lock:
            known = self._stored if day == self._day else {}
            self._stored, self._day = {**known, **stored}, day

    def _take_back(self, pending: Mapping[tuple[str, datetime.date], Amounts], active: set[str]) -> None:
        with self._lock:
            for key, amounts in pending.items():
                mine = self._pending.setdefault(key, dict.fromkeys(AMOUNTS, 0))
                for name, amount in amounts.items():
                    mine[name] += amount
            self._active |= active


uses = UseCounter()
"""The counter of this process."""


class FlushThread:
    """A thread that writes the counted usage about once a second, and when it is stopped."""

    def __init__(self, counter: UseCounter = uses) -> None:
        self._uses = counter
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="uses", daemon=True)

    def __enter__(self) -> "FlushThread":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._uses.read_limits()
        except (Error, PoolTimeout) as error:
            logger.warning("limits could not be read yet: %s", type(error).__name__)
        while not self._stopped.wait(FLUSH_SECONDS):
            self._uses.tick()
        self._uses.tick()


def _row(key: tuple[str, datetime.date], amounts: Amounts) -> dict[str, Any]:
    subject, day = key
    return {"subject": subject, "day": day.isoformat(), **amounts}
