"""A time budget tells how much of an assembly's time is left; a statement deadline makes PostgreSQL respect it.

A fifth of the time is for the finish (source: "Time Budget Management" of the seed "Memory Layer"). PostgreSQL itself
cancels a statement that is late, so that none outlives its request.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic, thread_time
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from config.db.statements import ONE_SNAPSHOT_SQL, Rows, Statement, execute_sql, run_together
from config.http.cpu_budget import arrival_time

FINISH_SHARE = 0.2
ONE_SOURCE_SHARE = 0.5
"""The maximum share of the remaining time that one source may use, so that a slow source leaves time
to the next ones.
"""


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """A running time budget. Values are in seconds unless a name says milliseconds."""

    begun: float
    """The start time, by the monotonic clock."""
    seconds: float

    @classmethod
    def running(cls, time_ms: int | None) -> "TimeBudget":
        """Return a budget of this many milliseconds, or of the installation's default, since the arrival of the
        request.
        """
        return cls(arrival_time(), (settings.ASSEMBLY_TIME_MS if time_ms is None else time_ms) / 1000)

    @classmethod
    def starting_now(cls, time_ms: int | None = None) -> "TimeBudget":
        """Return a budget that starts now, for one of several runs of a request."""
        return replace(cls.running(time_ms), begun=monotonic())

    @property
    def elapsed_ms(self) -> int:
        """Whole milliseconds since the start."""
        return round((monotonic() - self.begun) * 1000)

    @property
    def left(self) -> float:
        """The remaining seconds; 0 when the budget is used up."""
        return max(0.0, self.begun + self.seconds - monotonic())

    @property
    def seconds_for_sources(self) -> float:
        """The remaining seconds before the final steps."""
        return max(0.0, self.left - FINISH_SHARE * self.seconds)

    @property
    def seconds_for_one_source(self) -> float:
        """The seconds that the next source may use."""
        return self.seconds_for_sources * ONE_SOURCE_SHARE

    @property
    def source_deadline_ms(self) -> int:
        """The deadline of a database source that is read now, in ms since the request began."""
        return self.elapsed_ms + round(self.seconds_for_one_source * 1000)

    @property
    def hard_limit(self) -> float:
        """The seconds that the engine may run once it has started: a late context is useful, one that never ends is
        not.
        """
        return max(self.seconds, settings.ASSEMBLY_TIME_MS / 1000)

    @property
    def is_over(self) -> bool:
        """Whether the budget is used up."""
        return monotonic() > self.begun + self.seconds


@dataclass(frozen=True, slots=True)
class RoundCost:
    """The seconds that a round took: in all, for ranking and rendering (`engine`), and of CPU time."""

    seconds: float
    engine: float
    cpu: float


class RoundClock:
    """A clock that measures a round since the clock was made; `gathered` is called when all sources were read."""

    def __init__(self) -> None:
        self._begun = self._gathered = monotonic()
        self._cpu = thread_time()

    def gathered(self) -> None:
        """Note that ranking begins."""
        self._gathered = monotonic()

    def cost(self) -> RoundCost:
        """Return what the round took until now."""
        now = monotonic()
        return RoundCost(now - self._begun, now - self._gathered, thread_time() - self._cpu)


NO_LIMIT_SQL = "SET LOCAL statement_timeout TO DEFAULT"
TIMEOUT_SLACK = 1.25
"""A statement timeout that is longer than necessary by this factor is left unchanged, because each change takes a round
trip.
"""
MIN_SECONDS = 0.05
"""The shortest statement timeout, in seconds: a shorter one could cancel the end of the transaction on
a busy machine.
"""

# What is read by prepared statements is always read the same way: to plan anew takes longer than reading.
LIMIT_SQL = """
SELECT set_config('statement_timeout', %(milliseconds)s, true),
    set_config('plan_cache_mode', 'force_generic_plan', true)
"""


@dataclass(frozen=True, slots=True)
class ReadCost:
    """The number of statements that read the sources, and of rows that these returned."""

    statements: int = 0
    rows: int = 0

    def __add__(self, other: "ReadCost") -> "ReadCost":
        return ReadCost(self.statements + other.statements, self.rows + other.rows)


class StatementDeadline:
    """A wrapper of the execution of statements, which counts them and their rows.

    A late statement raises OperationalError, caused by psycopg's QueryCanceled.
    """

    def __init__(self) -> None:
        self.cost = ReadCost()
        self._until = self._limit = 0.0
        self._begin: tuple[str, ...] = ()

    def allow(self, seconds: float) -> None:
        """Allow all further statements together this many seconds."""
        self._until = monotonic() + seconds

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        """Execute the statement. Raises TimeoutError without executing it if no time is left."""
        left = self._until - monotonic()
        if left <= 0:
            raise TimeoutError
        if self._begin or not left <= self._limit <= left * TIMEOUT_SLACK:
            self._limit = left
            # Not by the statement's own cursor: it may be one of the server's, which knows nothing but queries.
            with connection.wrap_database_errors:
                connection.connection.execute("; ".join([*self._begin, _limit_statement(left)]))
            self._begin = ()
        result = execute(sql, params, many, context)
        self.cost += ReadCost(1, max(0, context["cursor"].rowcount))
        return result

    def together(self, statements: Sequence[Statement], seconds: float) -> list[Rows]:
        """Return the rows of each statement. Together they may take this many seconds."""
        found = run_together(statements, self._before(seconds))
        self.cost += ReadCost(1, sum(map(len, found)))
        return found

    def _before(self, seconds: float) -> list[Statement]:
        before = [
            *(Statement(sql, {}) for sql in self._begin),
            Statement(LIMIT_SQL, {"milliseconds": _milliseconds(seconds)}),
        ]
        self._begin, self._limit = (), 0.0
        return before

    @contextmanager
    def begin_snapshot(self) -> Iterator[Any]:
        """Begin a read-only snapshot. Within a transaction of the caller, the caller's isolation level applies."""
        within = connection.in_atomic_block
        self._begin = () if within else (ONE_SNAPSHOT_SQL,)
        self._limit = 0.0
        with transaction.atomic():
            with connection.execute_wrapper(self):
                yield
            if within:
                execute_sql(NO_LIMIT_SQL)


def _limit_statement(seconds: float) -> str:
    return f"SET LOCAL statement_timeout = {_milliseconds(seconds)}"


def _milliseconds(seconds: float) -> str:
    return str(round(max(MIN_SECONDS, seconds) * 1000))
