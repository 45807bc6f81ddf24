"""Gathering: every source of a profile is asked, within its deadline. One that is late or fails costs itself alone.

The sources of the database share one connection and one snapshot, each under a deadline that PostgreSQL keeps. The
rules, and the sources that one statement is enough for, are read by one statement; where that is all there is to read,
no transaction is needed around it, and what has not changed since this process read it is not read again. After a
source that failed, the rest is read in a new snapshot. External sources are asked beside them, in a thread.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

from django.db import DatabaseError, OperationalError, connection

from assembly.engine.codes import SourceCode
from assembly.engine.profile import Profile, Section
from assembly.engine.types import Candidate
from assembly.pipeline.query_embedding import NO_TOPIC_EMBEDDING, TopicEmbedding, embed_topic
from assembly.pipeline.read_cache import read_with_cache
from assembly.pipeline.read_plan import (
    NEED_READERS,
    BatchedQuery,
    GatherResult,
    Preconditions,
    ReadStep,
    counter_owners,
    first_read_error,
    leading_batch,
    min_seconds_for,
    parse_preconditions,
    preconditions_statement,
    raise_timeout,
)
from assembly.pipeline.telemetry import count_external_answer, count_source_failure, error_code, read_traced
from assembly.records.change_counters import NO_OWNERS, ChangeCounts
from assembly.rules.evaluation import add_fired_rules, add_inclusion_section, rules_statement
from assembly.sources import SOURCES
from assembly.sources.base import GatherContext, SourceReport
from assembly.sources.base import SourceResult as Returned
from assembly.sources.external.pending import PendingExternalSources
from assembly.sources.external.questions import EXTERNAL_SOURCE as EXTERNAL
from assembly.sources.external.questions import external_queries
from assembly.sources.time_budget import StatementDeadline, TimeBudget
from config.db.statements import Rows, Statement
from config.http.cpu_budget import TooCostly
from memories.embeddings.base import embedder_deadline

logger = logging.getLogger(__name__)

MIN_SECONDS_FOR_RULES = 0.5
"""Seconds. They are read however little time there is: without them, nothing may be told."""
BATCH_TIME_SHARE = 0.25
"""Of the time for sources, what they have together. Where it is not enough, the rest is for reading them in turn."""


def gather(
    profile: Profile, gather_context: GatherContext, time: TimeBudget, *, trust_cache: bool = False
) -> GatherResult:
    """What the sources of the profile have for the situation; where it may be `trust_cache`, they may have had it
    before.

    Where a rule always includes something, there are candidates for one more section: see `add_inclusion_section`.
    Raises OperationalError where not even the rules can be read: they may forbid what the sources would return.
    """
    return _GatherRun(profile, gather_context, time, trust_cache).done()


class _NewSnapshot(Exception):
    """The transaction cannot go on after what happened."""


@dataclass(slots=True)
class _GatherRun:
    """A gathering under way."""

    profile: Profile
    gather_context: GatherContext
    time: TimeBudget
    trust_cache: bool = False
    """Whether it may rest on a state that nobody has looked at."""
    expected_counts: ChangeCounts = NO_OWNERS
    preconditions: Preconditions | None = None
    candidates: list[Candidate] = field(default_factory=list)
    reports: dict[str, SourceReport] = field(default_factory=dict)
    topic_embedding: TopicEmbedding = NO_TOPIC_EMBEDDING
    parts: deque[ReadStep | BatchedQuery] = field(default_factory=deque)
    pending_external: PendingExternalSources | None = None
    is_unbatched: bool = False
    """Whether what may be sent together is sent alone."""
    retried_steps: set[ReadStep | BatchedQuery] = field(default_factory=set)
    statements: StatementDeadline = field(default_factory=StatementDeadline)

    def done(self) -> GatherResult:
        self._embed_topic()
        if not self._read_in_one_batch():
            with embedder_deadline(self.time.seconds_for_sources):
                self._read_one_by_one()
        self._collect_external()
        self._report_late()
        assert self.preconditions  # noqa: S101 - nothing comes before it, and nothing is done without it
        reports = [*filter(None, [self.topic_embedding.report]), *self.reports.values()]
        return GatherResult(self.candidates, reports, self.gather_context, self.preconditions, self.expected_counts)

    def _embed_topic(self) -> None:
        """What the topic means, if it is another one than before."""
        if self.gather_context.topic != self.topic_embedding.topic:
            self.topic_embedding = embed_topic(self.gather_context.topic, self.time)
            self.gather_context = replace(self.gather_context, vector=self.topic_embedding.direction)

    def _read_in_one_batch(self) -> bool:
        """Whether all was read by one statement, which sees one moment by itself.

        What is in the way of that, and whatever goes wrong with it, shows again where the parts are read in turn.
        """
        parts = [*self._first(), *self._sendable()]
        if connection.in_atomic_block or {name for part in parts for name in part.sources} != {*self._sources()}:
            return False
        asked, gather_context, profile = self.time.elapsed_ms, self.gather_context, self.profile
        try:
            seconds = self.time.seconds_for_sources * BATCH_TIME_SHARE
            owners = counter_owners(gather_context.agent, gather_context.team)
            found, state = read_with_cache(
                parts, profile, owners, self.statements, seconds, trust_cache=self.trust_cache
            )
            for part, mine in zip(parts, found, strict=True):
                part.take(mine, asked)
        except TooCostly:  # the request is to end
            raise
        except Exception:  # noqa: BLE001 - see above
            self.is_unbatched = True
        else:
            if self.reports.keys() == self._sources().keys():  # no rule asks for more
                self.expected_counts = state
                return True
        self.candidates, self.reports, self.gather_context, self.profile = [], {}, gather_context, profile
        return False

    def _read_one_by_one(self) -> None:
        self.parts += [*self._needed_reads(), ReadStep((), self._embed_topic), ReadStep((), self._plan)]
        while self.parts:
            try:
                with self.statements.begin_snapshot():
                    self._read_steps()
            except _NewSnapshot as failed:
                if connection.needs_rollback and failed.__cause__:  # the caller's transaction is lost: none can begin
                    raise failed.__cause__ from None
            except OperationalError:
                # Where all was read, it was the end of the transaction that was late, and nothing is lost with it.
                if self.parts or connection.needs_rollback:
                    raise

    def _read_steps(self) -> None:
        """Read part after part. Raises _NewSnapshot after one that failed, and what went wrong with the rules."""
        while self.parts:
            part = self.parts[0]
            if isinstance(part, ReadStep):
                self.statements.allow(self._seconds_for(part))
                self._try(part, part.read)
            else:
                self._read_batch([*leading_batch(self.parts)])

    def _read_batch(self, parts: Sequence[BatchedQuery]) -> None:
        """Read these, which come next: together, unless something went wrong there, which did not count yet."""
        if self.is_unbatched or len(parts) == 1:
            self._read_single(parts[0])
            return
        asked, seconds = self.time.elapsed_ms, self.time.seconds_for_sources * BATCH_TIME_SHARE
        try:
            found = self.statements.together(_statements_of(parts), seconds)
        except DatabaseError as error:  # of which, is found out one by one
            self.is_unbatched = True
            raise _NewSnapshot from error
        for part, rows in zip(parts, found, strict=True):
            self._try(part, partial(part.read, rows, asked))

    def _read_single(self, part: BatchedQuery) -> None:
        seconds = self._seconds_for(part)
        if not seconds:
            self._try(part, raise_timeout)
            return
        asked = self.time.elapsed_ms

        def read() -> None:
            (rows,) = self.statements.together([part.statement], seconds)
            part.read(rows, asked)

        self._try(part, read)

    def _try(self, part: ReadStep | BatchedQuery, read: Callable[[], None]) -> None:
        """Read the next part, and be done with it, however it went."""
        begun, deadline = self.time.elapsed_ms, self._deadline_ms
        try:
            read()
            self.parts.remove(part)
        except TooCostly:
            raise
        except Exception as error:
            if not self._can_retry(part, error):
                if not part.sources:
                    raise first_read_error(error) from error.__cause__
                self.parts.remove(part)
                self._fail(part, error, begun, deadline)
            # Where no time was left, the database was not even asked. Anything else may come of a failed statement.
            if not isinstance(error, TimeoutError):
                raise _NewSnapshot from error

    def _seconds_for(self, part: ReadStep | BatchedQuery) -> float:
        return max(part.least, self.time.seconds_for_one_source)

    def _can_retry(self, part: ReadStep | BatchedQuery, error: Exception) -> bool:
        """Once, and not for want of time: a connection that was lost may be there again."""
        lost = isinstance(error, OperationalError) and error_code(error) is SourceCode.SOURCE_FAILED
        if not lost or part in self.retried_steps or not self.time.seconds_for_one_source:
            return False
        self.retried_steps.add(part)
        return True

    def _fail(self, part: ReadStep | BatchedQuery, error: Exception, begun: int, deadline: int) -> None:
        code = error_code(error)
        if code is SourceCode.SOURCE_FAILED:  # of an unforeseen error, the log has the trace
            logger.warning("source %s: %s", ", ".join(part.sources), code, exc_info=error)
        ms = self.time.elapsed_ms - begun
        for name in part.sources:
            count_source_failure(name, code)
            self.reports[name] = SourceReport(name, 0, 0, ms, begun, deadline, code, type(error).__name__)

    def _report_late(self) -> None:
        # One line for all: where time is short, each line would cost the next source some of it.
        late = [name for name, report in self.reports.items() if report.code is SourceCode.SOURCE_TIMEOUT]
        if late:
            logger.warning("late after %d ms: %s", self.time.elapsed_ms, ", ".join(late))

    @property
    def _deadline_ms(self) -> int:
        """Of a source of the database that begins now."""
        return self.time.elapsed_ms + round(self.time.seconds_for_one_source * 1000)

    def _needed_reads(self) -> list[ReadStep]:
        """What several of the profile's sources build on, each read only if one of them does."""
        parts = []
        for need, found in NEED_READERS.items():
            names = [name for name in self._sources() if need in SOURCES[name].needs]
            if names:
                parts.append(ReadStep(tuple(names), partial(self._read_need, found)))
        return parts

    def _read_need(self, found: Callable[[GatherContext], GatherContext]) -> None:
        self.gather_context = found(self.gather_context)

    def _plan(self) -> None:
        """What is to be read is known, once it is known what the sources build on."""
        self.parts += [*self._first(), *self._sendable(), ReadStep((), self._plan_remaining)]

    def _first(self) -> list[BatchedQuery]:
        """What no context can do without: the state of things, and the rules."""
        agent, team = self.gather_context.agent, self.gather_context.team
        return [
            BatchedQuery(
                (),
                preconditions_statement(agent, team),
                parse_preconditions,
                self._take_preconditions,
                MIN_SECONDS_FOR_RULES,
            ),
            BatchedQuery((), rules_statement(agent, team), tuple, self._take_rules, MIN_SECONDS_FOR_RULES),
        ]

    def _sendable(self) -> Iterator[BatchedQuery]:
        for name, sections in self._sources().items():
            ask = SOURCES[name].reading
            if name not in self.reports and ask and (reading := ask(self.gather_context, sections)):
                take = partial(self._take, name)
                yield BatchedQuery((name,), reading.statement, reading.gathered, take, min_seconds_for(sections))

    def _take_preconditions(self, preconditions: Preconditions, _: int) -> None:
        self.preconditions = preconditions

    def _take_rules(self, rows: Rows, _: int) -> None:
        self.gather_context = add_fired_rules(self.profile, self.gather_context, rows)
        self.profile = add_inclusion_section(self.profile, self.gather_context.rules)

    def _take(self, name: str, returned: Returned, asked: int) -> None:
        self._read_source(name, lambda: returned, asked)

    def _plan_remaining(self) -> None:
        """The sources that were not read yet; some may be those of the rules."""
        if EXTERNAL in self._sources():
            self.parts.append(ReadStep((EXTERNAL,), self._start_external))
        for name, sections in self._sources().items():
            if name != EXTERNAL and name not in self.reports:
                read = partial(self._read_source, name, partial(SOURCES[name].gather, self.gather_context, sections))
                self.parts.append(ReadStep((name,), read, min_seconds_for(sections)))

    def _sources(self) -> Mapping[str, Sequence[Section]]:
        """The sections of the profile by their sources, in its order."""
        return _sections_by_source(self.profile.sections)

    def _read_source(self, name: str, read: Callable[[], Returned], asked: int | None = None) -> None:
        """Read a source, and report on it; `asked` is when the database was, if that was before."""
        begun, deadline = self.time.elapsed_ms if asked is None else asked, self._deadline_ms
        found = read_traced(name, read, (self.time.elapsed_ms - begun) / 1000)
        self.candidates += found.candidates
        ms = self.time.elapsed_ms - begun
        self.reports[name] = SourceReport(name, len(found.candidates), found.limit, ms, begun, deadline)

    def _start_external(self) -> None:
        """Begin to ask the external sources."""
        self.pending_external = PendingExternalSources.asked(
            external_queries(self.profile, self.gather_context), self.time
        )

    def _collect_external(self) -> None:
        """What the external sources told by now."""
        asked = self.pending_external
        if asked is None:
            return
        for one in asked.told(self.time):
            count_external_answer(one)
            self.candidates += one.candidates
            times = one.ms, asked.started_ms, asked.deadline_ms
            went = one.code, one.fault, one.left_out
            self.reports[one.name] = SourceReport(one.name, len(one.candidates), one.limit, *times, *went)


@lru_cache(maxsize=256)
def _sections_by_source(sections: tuple[Section, ...]) -> Mapping[str, Sequence[Section]]:
    grouped: dict[str, list[Section]] = {}
    for section in sections:
        grouped.setdefault(section.source, []).append(section)
    return grouped


def _statements_of(parts: Sequence[BatchedQuery]) -> list[Statement]:
    return [part.statement for part in parts]
