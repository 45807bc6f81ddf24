"""Gathering reads every source of a profile within its deadline; a late or failing source affects only itself.

The database's sources share one connection and one snapshot, each under a deadline that PostgreSQL enforces. The rules,
and all sources that need a single statement each, are sent together as one statement; if nothing else is to be read, no
transaction is needed around it, and rows that have not changed since this process read them come from the cache. After
a source fails, the rest is read in a new snapshot. External sources are requested in a thread at the same time.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from django.db import DatabaseError, OperationalError, connection

from assembly.engine.codes import SourceCode
from assembly.engine.profile import Profile, Section
from assembly.engine.types import Candidate
from assembly.pipeline.query_embedding import NO_TOPIC_EMBEDDING, TopicEmbedding, embed_topic
from assembly.pipeline.read_cache import ReadRows, read_with_cache, read_without_cache, rows_with_readings
from assembly.pipeline.read_plan import (
    BATCH_TIME_SHARE,
    MIN_SECONDS_FOR_RULES,
    NEED_READERS,
    BatchedQuery,
    GatherResult,
    NewSnapshot,
    Preconditions,
    ReadStep,
    conflicts_query,
    counter_owners,
    first_read_error,
    leading_batch,
    min_seconds_for,
    preconditions_query,
    raise_timeout,
    read_when,
    sections_by_source,
    withheld_queries,
)
from assembly.pipeline.reconciliations import KnownConflict
from assembly.pipeline.telemetry import (
    count_external_answer,
    count_source_failure,
    error_code,
    log_late_sources,
    read_traced,
)
from assembly.records.change_counters import NO_OWNERS, ChangeCounts
from assembly.rules.evaluation import add_fired_rules, add_inclusion_section, rules_statement
from assembly.sources import SOURCES
from assembly.sources.base import GatherContext, SourceReport, SourceResult
from assembly.sources.external.pending import PendingExternalSources
from assembly.sources.external.questions import EXTERNAL_SOURCE, external_queries
from assembly.sources.readings import Readings, ReadWhen
from assembly.sources.search_reuse import SearchReuse
from assembly.sources.time_budget import StatementDeadline, TimeBudget
from config.db.statements import Rows
from config.http.cpu_budget import TooCostly
from memories.embeddings.base import embedder_deadline
from teams.sensitivity import FULL, reading_as

logger = logging.getLogger(__name__)


def gather(
    profile: Profile,
    gather_context: GatherContext,
    time: TimeBudget,
    *,
    trust_cache: bool = False,
    readings: Readings | None = None,
) -> GatherResult:
    """Return the candidates and reports of the profile's sources.

    With `trust_cache`, cached rows are used without checking that they are current; the caller checks
    `expected_counts`. `readings` are those that were made before the request came, and are used if they are still
    valid. If a rule always includes something, there are candidates for one more section: see `add_inclusion_section`.
    Raises OperationalError if the rules cannot be read, because they may exclude what the sources return.
    """
    with reading_as(gather_context.clearances):
        return GatherRun(profile, gather_context, time, trust_cache, readings).done()


@dataclass(slots=True)
class GatherRun:
    """The state of one call of `gather`; of a second round, see `assembly.pipeline.second_reading`."""

    profile: Profile
    gather_context: GatherContext
    time: TimeBudget
    trust_cache: bool = False
    """Whether cached rows may be used without checking their change counters."""
    readings: Readings | None = None
    """Readings that were made before the request came; with `is_ahead`, those that this run makes."""
    is_ahead: bool = False
    rows_read: ReadWhen = "now"
    expected_counts: ChangeCounts = NO_OWNERS
    preconditions: Preconditions | None = None
    candidates: list[Candidate] = field(default_factory=list)
    reports: dict[str, SourceReport] = field(default_factory=dict)
    conflicts: tuple[KnownConflict, ...] | None = ()
    withheld: Mapping[str, int] = field(default_factory=dict)
    topic_embedding: TopicEmbedding = NO_TOPIC_EMBEDDING
    parts: deque[ReadStep | BatchedQuery] = field(default_factory=deque)
    pending_external: PendingExternalSources | None = None
    is_unbatched: bool = False
    """Whether statements are sent one by one, because the batch failed."""
    is_committed: bool = field(default_factory=lambda: not connection.in_atomic_block)  # the caller has no transaction
    retried_steps: set[ReadStep | BatchedQuery] = field(default_factory=set)
    statements: StatementDeadline = field(default_factory=StatementDeadline)

    def done(self) -> GatherResult:
        self._embed_topic()
        self._read()
        self._collect_external()
        log_late_sources(self.reports.values(), self.time.elapsed_ms)
        return self._result()

    def _read(self) -> None:
        if not self._read_in_one_batch():
            with embedder_deadline(self.time.seconds_for_sources):
                self._read_one_by_one()

    def _result(self) -> GatherResult:
        assert self.preconditions  # noqa: S101 - nothing comes before it, and nothing is done without it
        reports = [*filter(None, [self.topic_embedding.report]), *self.reports.values()]
        kept, reuse = (self.candidates, reports, self.gather_context, self.preconditions), self.gather_context.reuse
        when = read_when(self.rows_read, reuse)
        return GatherResult(*kept, self.expected_counts, self.conflicts, when, self.statements.cost)

    def _embed_topic(self) -> None:
        """Embed the topic if it has changed since it was embedded last."""
        if self.gather_context.topic != self.topic_embedding.topic:
            topic, level = self.gather_context.topic, self.gather_context.topic_sensitivity
            self.topic_embedding = embed_topic(topic, self.time, level=level)
            self.gather_context = replace(self.gather_context, vector=self.topic_embedding.direction)

    def _read_in_one_batch(self) -> bool:
        """Read everything by one statement, in one snapshot, and return whether that succeeded.

        An error is not reported here: it appears again where the parts are read one by one.
        """
        parts = [*self._first(), *self._sendable()]
        if connection.in_atomic_block or {name for part in parts for name in part.sources} != {*self._sources()}:
            return False
        asked, gather_context, profile = self.time.elapsed_ms, self.gather_context, self.profile
        try:
            read = self._read_made(parts, self.time.seconds_for_sources * BATCH_TIME_SHARE)
            for part, mine in zip(parts, read.found, strict=True):
                part.take(mine, asked)
        except TooCostly:  # this error ends the whole request
            raise
        except Exception:  # noqa: BLE001 - see above
            self.is_unbatched = True
        else:
            if self.reports.keys() == self._sources().keys():  # no rule needs a further source
                self.expected_counts, self.rows_read = read.counts, read.when
                return True
        self.candidates, self.reports, self.withheld = [], {}, {}
        self.gather_context, self.profile = gather_context, profile
        return False

    def _read_made(self, parts: Sequence[BatchedQuery], seconds: float) -> ReadRows:
        """Return what the parts, of which the first reads the preconditions, make of their rows."""
        read, clearances = partial(self._rows_of, parts, seconds), self.gather_context.clearances
        if self.is_ahead:
            return read_without_cache(parts, read)
        owners = counter_owners(self.gather_context.agent, self.gather_context.team)
        return read_with_cache(parts, self.profile, owners, read, clearances=clearances, trust_cache=self.trust_cache)

    def _read_one_by_one(self) -> None:
        self.parts += [*self._needed_reads(), ReadStep((), self._embed_topic), ReadStep((), self._plan)]
        self._read_parts()

    def _read_parts(self) -> None:
        while self.parts:
            try:
                with self.statements.begin_snapshot():
                    self._read_steps()
            except NewSnapshot as failed:
                if connection.needs_rollback and failed.__cause__:  # the caller's transaction failed: none can begin
                    raise failed.__cause__ from None
            except OperationalError:
                # If all was read, the commit of the read-only transaction was late, which loses nothing.
                if self.parts or connection.needs_rollback:
                    raise

    def _read_steps(self) -> None:
        """Read the parts in order. Raises NewSnapshot after a part that failed, and errors of reading the rules."""
        while self.parts:
            part = self.parts[0]
            if isinstance(part, ReadStep):
                self.statements.allow(self._seconds_for(part))
                self._try(part, part.read)
            else:
                self._read_batch([*leading_batch(self.parts)])

    def _read_batch(self, parts: Sequence[BatchedQuery]) -> None:
        """Read the next parts as one batch; after a batch failed, which counts as no part's failure, the first one."""
        if self.is_unbatched or len(parts) == 1:
            self._read_single(parts[0])
            return
        asked, seconds = self.time.elapsed_ms, self.time.seconds_for_sources * BATCH_TIME_SHARE
        try:
            found, when = self._rows_of(parts, seconds)
        except DatabaseError as error:  # which part failed is found out one by one
            self.is_unbatched = True
            raise NewSnapshot from error
        self.rows_read = when if self.rows_read == "now" else self.rows_read
        for part, rows in zip(parts, found, strict=True):
            self._try(part, partial(part.read, rows, asked))

    def _rows_of(self, parts: Sequence[BatchedQuery], seconds: float) -> tuple[Sequence[Rows], ReadWhen]:
        read = partial(self.statements.together, seconds=seconds)
        return rows_with_readings(parts, self.readings, read, is_ahead=self.is_ahead)

    def _read_single(self, part: BatchedQuery) -> None:
        seconds = self._seconds_for(part)
        if not seconds:
            self._try(part, raise_timeout)
            return
        asked = self.time.elapsed_ms

        self._try(part, lambda: part.read(self.statements.together([part.statement], seconds)[0], asked))

    def _try(self, part: ReadStep | BatchedQuery, read: Callable[[], None]) -> None:
        """Read the next part and remove it from the queue, whether it succeeds or fails."""
        begun, deadline = self.time.elapsed_ms, self.time.source_deadline_ms
        try:
            read()
            self.parts.remove(part)
        except TooCostly:
            raise
        except Exception as error:
            if not self._can_retry(part, error):
                failed = part.failed if isinstance(part, BatchedQuery) else None
                if failed:
                    logger.warning("known conflicts or withheld items were not read: %s", type(error).__name__)
                    failed()
                elif not part.sources:
                    raise first_read_error(error) from error.__cause__
                self.parts.remove(part)
                self._fail(part, error, begun, deadline)
            # After TimeoutError, no statement was sent. Any other error may be that of a failed statement.
            if not isinstance(error, TimeoutError):
                raise NewSnapshot from error

    def _seconds_for(self, part: ReadStep | BatchedQuery) -> float:
        return max(part.least, self.time.seconds_for_one_source)

    def _can_retry(self, part: ReadStep | BatchedQuery, error: Exception) -> bool:
        """Return whether to read the part again: once, after a lost connection, if time is left."""
        lost = isinstance(error, OperationalError) and error_code(error) is SourceCode.SOURCE_FAILED
        if not lost or part in self.retried_steps or not self.time.seconds_for_one_source:
            return False
        self.retried_steps.add(part)
        return True

    def _fail(self, part: ReadStep | BatchedQuery, error: Exception, begun: int, deadline: int) -> None:
        code = error_code(error)
        if code is SourceCode.SOURCE_FAILED:  # the log gets the trace of an unforeseen error
            logger.warning("source %s: %s", ", ".join(part.sources), code, exc_info=error)
        ms = self.time.elapsed_ms - begun
        for name in part.sources:
            count_source_failure(name, code)
            self.reports[name] = SourceReport(name, 0, 0, ms, begun, deadline, code, type(error).__name__)

    def _needed_reads(self) -> list[ReadStep]:
        """Return the reads that several sources depend on, each only if the profile has such a source."""
        return [
            ReadStep(names, partial(self._read_need, found))
            for need, found in NEED_READERS.items()
            if (names := tuple(name for name in self._sources() if need in SOURCES[name].needs))
        ]

    def _read_need(self, found: Callable[[GatherContext], GatherContext]) -> None:
        self.gather_context = found(self.gather_context)

    def _plan(self) -> None:
        """Add the SQL statements of the sources to the read plan, after the reads on which the statements depend."""
        self.parts += [*self._first(), *self._sendable(), ReadStep((), self._plan_remaining)]

    def _first(self) -> list[BatchedQuery]:
        """Return the queries that come first: preconditions, rules, conflicts if reconciled, withheld items."""
        agent, team, clearances = self.gather_context.agent, self.gather_context.team, self.gather_context.clearances
        queries = [
            preconditions_query(agent, team, self._take_preconditions),
            BatchedQuery((), rules_statement(agent, team), tuple, self._take_rules, MIN_SECONDS_FOR_RULES),
        ]
        if self.profile.conflicts != "off":
            queries.append(conflicts_query(agent, team, clearances, self._take_conflicts))
        if clearances != FULL:
            queries += withheld_queries(agent, team, clearances, self._take_withheld)
        return queries

    def _sendable(self) -> Iterator[BatchedQuery]:
        for name, sections in self._sources().items():
            ask = SOURCES[name].reading
            if name not in self.reports and ask and (reading := ask(self.gather_context, sections)):
                take = partial(self._take, name)
                yield BatchedQuery((name,), reading.statement, reading.gathered, take, min_seconds_for(sections))

    def _take_preconditions(self, preconditions: Preconditions, _: int) -> None:
        self.preconditions = preconditions
        if self.is_committed:
            reuse = SearchReuse(preconditions.changes, self.readings, self.is_ahead)
            self.gather_context = replace(self.gather_context, reuse=reuse)

    def _take_rules(self, rows: Rows, _: int) -> None:
        self.gather_context = add_fired_rules(self.profile, self.gather_context, rows)
        self.profile = add_inclusion_section(self.profile, self.gather_context.rules)

    def _take_conflicts(self, conflicts: tuple[KnownConflict, ...] | None, _: int) -> None:
        self.conflicts = conflicts

    def _take_withheld(self, counts: Mapping[str, int], _: int) -> None:
        self.withheld = {**self.withheld, **counts}

    def _take(self, name: str, returned: SourceResult, asked: int) -> None:
        self._read_source(name, lambda: returned, asked)

    def _plan_remaining(self) -> None:
        """Add the sources that were not read yet; rules may have added some."""
        if EXTERNAL_SOURCE in self._sources() and not self.is_ahead:
            self.parts.append(ReadStep((EXTERNAL_SOURCE,), self._start_external))
        for name, sections in self._sources().items():
            if name != EXTERNAL_SOURCE and name not in self.reports:
                read = partial(self._read_source, name, partial(SOURCES[name].gather, self.gather_context, sections))
                self.parts.append(ReadStep((name,), read, min_seconds_for(sections)))

    def _sources(self) -> Mapping[str, Sequence[Section]]:
        """Return the sections of the profile by source, in the profile's order."""
        return sections_by_source(self.profile.sections)

    def _read_source(self, name: str, read: Callable[[], SourceResult], asked: int | None = None) -> None:
        """Read a source and report on it. `asked`: when its statement was sent, in ms, if that was before this call."""
        begun, deadline = self.time.elapsed_ms if asked is None else asked, self.time.source_deadline_ms
        found = read_traced(name, read, (self.time.elapsed_ms - begun) / 1000)
        self.candidates += found.candidates
        facts = len(found.candidates), found.limit, self.time.elapsed_ms - begun, begun, deadline
        withheld, more = self.withheld.get(name, 0), found.may_have_more
        self.reports[name] = SourceReport(name, *facts, withheld=withheld, may_have_more=more)

    def _start_external(self) -> None:
        """Send the requests to the external sources, which run in a thread."""
        self.pending_external = PendingExternalSources.asked(
            external_queries(self.profile, self.gather_context), self.time
        )

    def _collect_external(self) -> None:
        """Add the candidates and reports of the external sources that have answered by now."""
        if asked := self.pending_external:
            for one in asked.told(self.time):
                count_external_answer(one)
                self.candidates += one.candidates
                self.reports[one.name] = asked.report_of(one)
