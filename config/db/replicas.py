"""Read replicas: standbys of PostgreSQL by streaming replication, which may answer what may be late.

Nothing is routed to a replica by its model or its statement. A view that may be late says so
(`config.http.late_reads`), and then everything that its thread reads comes from one replica, with one exception:
before, the primary is asked once what the replica must have replayed. That is

- what the caller has written (`last_writes`: a position in the write-ahead log, stored after each writing request);
- who belongs to which team, and which agents work where: the count of these changes must be the same on both sides,
  so that nobody reads what they may not read any more;
- all but the last DATABASE_REPLICA_MAX_LAG_SECONDS.

A replica that does not answer is left alone for a while, as an unavailable cache is.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from math import inf
from threading import Lock
from typing import Literal, NamedTuple

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connections
from msgspec import Struct
from prometheus_client import Counter
from psycopg_pool import PoolTimeout

from config.backoff import Backoff
from config.db.migration_helpers import ACCESS
from config.db.statements import Statement, fetch_rows, run_statement

logger = logging.getLogger(__name__)

ALIAS_PREFIX = "replica"
UNAVAILABLE = (Error, PoolTimeout)
"""Errors of a database that does not answer, or not what was asked."""

Outcome = Literal["replica", "own_write", "access_changed", "late", "unavailable", "failed", "not_found"]
"""Who answered a request that may be late: a replica, or else the primary, and why."""

REQUESTS = Counter(
    "database_replica_requests_total",
    "Requests that a replica may answer: replica, or why the primary answered.",
    ["outcome"],
)

PRIMARY_SQL = """
SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint AS position, clock_timestamp() AS moment,
    coalesce((SELECT position FROM last_writes WHERE caller = %(caller)s), 0) AS written,
    (SELECT coalesce(sum(value), 0)::bigint FROM change_counters WHERE owner = %(access)s) AS access_changes
"""
# A replica that has replayed everything is not late, however long ago the last transaction was committed. If it has
# not, what it lacks is not older than the last transaction that it has.
REPLICA_SQL = """
SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint,
    extract(epoch FROM %(moment)s::timestamptz - pg_last_xact_replay_timestamp())::float8,
    (SELECT coalesce(sum(value), 0)::bigint FROM change_counters WHERE owner = %(access)s)
"""
NOTE_SQL = """
INSERT INTO last_writes (caller, position, written_at)
VALUES (%(caller)s, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, now())
ON CONFLICT (caller) DO UPDATE
    SET position = greatest(last_writes.position, excluded.position), written_at = excluded.written_at
RETURNING position
"""


class PrimaryState(NamedTuple):
    """What the primary has: its position in the write-ahead log in bytes, when, the position after the caller's last
    write, and the count of changes of access.
    """

    position: int
    moment: datetime
    written: int
    access_changes: int


class ReplicaState(NamedTuple):
    """How far a replica is: its position in bytes, seconds behind the primary (at most), and the count of changes of
    access.
    """

    position: int
    lag_seconds: float
    access_changes: int


class Choice(Struct, frozen=True):
    """The replica that answers a request, by its alias; None for the primary, and why."""

    alias: str | None
    outcome: Outcome


class Condition:
    """What this process knows of one replica: whether it answered, and whether it was late. Changes are logged."""

    def __init__(self, alias: str) -> None:
        self.alias, self.backoff = alias, Backoff()
        self._lock, self._is_late = Lock(), False

    def note_lag(self, seconds: float) -> bool:
        """Return whether the replica is too late to be read, and log when this changes."""
        is_late = seconds > settings.DATABASE_REPLICA_MAX_LAG_SECONDS
        with self._lock:
            changed, self._is_late = is_late != self._is_late, is_late
        if changed and is_late:
            logger.warning("%s is not read: it is more than %d s late", self.alias, self.max_lag)
        elif changed:
            logger.warning("%s is read again: it has caught up", self.alias)
        return is_late

    def note_failure(self, reason: str) -> None:
        """Leave the replica alone for a while."""
        if self.backoff.failed():
            logger.warning("%s is not read for a while: %s", self.alias, reason)

    @property
    def max_lag(self) -> int:
        """The lag in seconds above which the replica is not read."""
        return int(settings.DATABASE_REPLICA_MAX_LAG_SECONDS)


_conditions: dict[str, Condition] = {}
_turns = count()


def replica_aliases() -> list[str]:
    """Return the names of the connections to replicas, as settings name them; empty without replicas."""
    return [alias for alias in connections if alias.startswith(ALIAS_PREFIX)]


def condition_of(alias: str) -> Condition:
    """Return what this process knows of the replica."""
    return _conditions.get(alias) or _conditions.setdefault(alias, Condition(alias))


def note_write(caller: str) -> None:
    """Store that the caller has written up to the current position of the primary. Raises Django's errors."""
    run_statement(Statement(NOTE_SQL, {"caller": caller}))


def choose_replica(caller: str) -> Choice:
    """Return the replica that may answer a request of the caller now. Replicas take turns.

    Raises Django's errors if the primary does not answer.
    """
    aliases, turn = replica_aliases(), next(_turns)
    primary = load_primary_state(caller)
    reasons = []
    for place in range(len(aliases)):
        alias = aliases[(turn + place) % len(aliases)]
        outcome = _outcome(primary, condition_of(alias))
        if outcome == "replica":
            return Choice(alias, outcome)
        reasons.append(outcome)
    return Choice(None, reasons[0])


def _outcome(primary: PrimaryState, condition: Condition) -> Outcome:
    replica = load_replica_state(primary, condition)
    if replica is None:
        return "unavailable"
    if condition.note_lag(replica.lag_seconds):
        return "late"
    if replica.access_changes != primary.access_changes:
        return "access_changed"
    return "replica" if replica.position >= primary.written else "own_write"


def load_primary_state(caller: str = "") -> PrimaryState:
    """Return what a replica must have replayed for this caller. Raises Django's errors."""
    ((position, moment, written, access),) = run_statement(Statement(PRIMARY_SQL, {"caller": caller, "access": ACCESS}))
    return PrimaryState(int(position), moment, int(written), int(access))


def load_replica_state(primary: PrimaryState, condition: Condition) -> ReplicaState | None:
    """Return how far the replica is; None if it does not answer, is left alone, or is no standby (any more)."""
    if not condition.backoff.may_try():
        return None
    try:
        ((is_standby, position, seconds, access),) = fetch_rows(
            REPLICA_SQL, {"moment": primary.moment, "access": ACCESS}, using=condition.alias
        )
    except UNAVAILABLE as error:
        connections[condition.alias].close()  # the next one may be alive
        condition.note_failure(type(error.__cause__ or error).__name__)
        return None
    if not is_standby:
        condition.note_failure("it replays no write-ahead log; was it promoted?")
        return None
    condition.backoff.succeeded()
    lag = 0.0 if position >= primary.position else inf if seconds is None else max(0.0, seconds)
    return ReplicaState(int(position), lag, int(access))


@contextmanager
def reading_from(alias: str) -> Iterator[None]:
    """Let this thread read everything from the replica in the block: the ORM, prepared statements and plain SQL.

    Nothing can be written in the block: PostgreSQL refuses it.
    """
    primary = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = connections[alias]
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = primary
