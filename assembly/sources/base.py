"""This module defines what a source gets and returns, the labels that rules match, and the report on a source.

Only sources read the database for an assembly.
"""

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Literal, TypeVar, cast
from uuid import UUID

from django.db.models import Manager
from msgspec import Struct

from agents.models import Agent
from assembly.engine.codes import SourceCode
from assembly.engine.linear_ranker import Ranker
from assembly.engine.profile import Section
from assembly.engine.query_signals import QuerySignals
from assembly.engine.rules import Rule
from assembly.engine.scopes import MemoryScope
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.types import Candidate, Origin
from assembly.sources.search_reuse import SearchReuse
from config.db.statements import Rows, Statement, run_together
from memories.embeddings.vectors import QueryVector
from memories.models import Session, TaskFrame
from teams.models import Team
from teams.sealing.names import stored_forms
from teams.sensitivity import DEFAULT_LEVEL, FULL, Clearances

Component = Literal["recent", "semantic", "entity", "relation", "pattern", "custom"]
"""The type of a ContextComponent in the seed "Context Assembly Specification"."""

Need = Literal["mentioned", "task"]
"""Data that several sources need and that is found before they run: the mentioned entities, the current task."""


ROWS_PER_PLACE = 1.5
"""The rows that a source reads for each block that the limit of a scope lets in, so that the record shows those that
nearly were.
"""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """A turn of the conversation so far: its role (user, assistant, tool …) and its text."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class RequestFilters:
    """The filters of a request (seed: ContextFilters); None means no filter."""

    since: datetime.datetime | None = None
    """Only events after this time are included."""
    event_types: frozenset[str] | None = None
    entity_types: frozenset[str] | None = None
    exclude: tuple[str, ...] = ()
    """Refs or ids that the engine excludes with a decision; sources return as many rows more."""


@dataclass(frozen=True, slots=True)
class MentionedEntity:
    """An entity that the query names."""

    id: UUID
    type: str
    name: str


@dataclass(frozen=True, slots=True)
class GatherContext:
    """The agent, team, topic and time that a context is gathered for. `vector` is the topic's embedding, None without a
    topic; `now` has a time zone.

    `gather` sets `vector`, `mentioned`, `task` and the rules.
    """

    agent: Agent
    team: Team | None
    now: datetime.datetime
    vector: QueryVector | None = None
    topic: str = ""
    signals: QuerySignals = field(default_factory=QuerySignals)
    entities: tuple[str, ...] = ()
    """Names of entities that the request gives, in addition to those in the topic."""
    session: Session | None = None
    history: tuple[ConversationTurn, ...] = ()
    filters: RequestFilters = RequestFilters()
    additional_context: str = ""
    sender_origin: Origin = "agent"
    """The person or the agent that sent the request: where the additional context comes from."""
    sensitivity: int = DEFAULT_LEVEL
    """The sensitivity of the request's own texts."""
    goal_sensitivity: int = DEFAULT_LEVEL
    """The sensitivity of the task whose goal is the topic; internal where the request has a topic."""
    clearances: Clearances = FULL
    """The levels up to which the sources read; nothing above them leaves the database."""
    budget: int | None = None
    """The tokens of the context; None if not known."""
    tokenizer: Tokenizer | None = None
    """The tokenizer that counts them; None if not known."""
    depth_limit: int = 2
    ranker: Ranker | None = None
    """The ranker whose features are measured for memories."""
    mentioned: tuple[MentionedEntity, ...] = ()
    nearby: tuple[UUID, ...] = ()
    """Further entities to read: those near names that the first round did not find; see `pipeline.second_reading`."""
    limit_factor: int = 1
    """The factor of all limits in rows; 2 in the second round."""
    task: TaskFrame | None = None
    scope_limits: Mapping[MemoryScope, int] = field(default_factory=dict)
    """The most blocks of each memory scope, from the profile."""
    rules: tuple[Rule, ...] = ()
    """The rules whose conditions are met, the narrowest scope first."""
    unreadable_rules: Mapping[str, str] = field(default_factory=dict)
    """The error of each rule that cannot be parsed any more, by the name of the rule."""
    reuse: SearchReuse | None = field(default=None, compare=False, repr=False)
    """The cache of what searches found; None where nothing may be cached."""

    @property
    def topic_sensitivity(self) -> int:
        """The sensitivity of the topic, by which servers outside may be sent it or not."""
        return max(self.sensitivity, self.goal_sensitivity)

    def age(self, moment: datetime.datetime) -> datetime.timedelta:
        """Return the age at `now`; negative for a time in the future."""
        return self.now - moment

    def raised(self, limit: int) -> int:
        """Return the limit in rows times the limit factor, plus one for each item that the request excludes, so that
        excluded items displace no others.
        """
        return limit * self.limit_factor + len(self.filters.exclude)

    def row_limit(self, limit: int, sections: Sequence[Section]) -> int:
        """Return the limit in rows of a source for its sections: fewer where the limits of their scopes let in only a
        few blocks ("max_results" of a source query in the seed "Memory Layer"). It is raised as in `raised`.
        """
        places = [self._places(section) for section in sections]
        if places and all(count is not None for count in places):
            limit = min(limit, ceil(ROWS_PER_PLACE * max(count for count in places if count is not None)))
        return self.raised(limit)

    def _places(self, section: Section) -> int | None:
        """Return the most blocks that the section may have by the limit of its scope; None without such a limit."""
        return self.scope_limits.get(section.scope) if section.scope and section.shape == "blocks" else None


MAX_BYTES = 1_000_000
"""The maximum size of the long texts that a source returns, in UTF-8 bytes: more than fits the largest budget.

Each text has to be counted, so older texts beyond the limit are not considered.
"""


class SourceResult(Struct, frozen=True):
    """The rows that a source returned, and its limit in rows."""

    candidates: Sequence[Candidate]
    limit: int
    is_full: bool | None = None
    """Whether the limit may have kept rows back; None: if there are as many candidates as the limit allows."""

    @property
    def may_have_more(self) -> bool:
        return 0 < self.limit <= len(self.candidates) if self.is_full is None else self.is_full


class SourceQuery(Struct, frozen=True):
    """The single statement with which a source reads its rows, and the function that turns the rows into candidates."""

    statement: Statement
    gathered: Callable[[Rows], SourceResult]

    @classmethod
    def empty(cls, limit: int) -> "SourceQuery":
        """Return the query of a source that has no rows, such as a team's source without a team."""
        return cls(Statement("SELECT WHERE false", {}), lambda _: SourceResult((), limit))

    def alone(self) -> SourceResult:
        """Return the source's result, read by a statement of its own."""
        return self.gathered(*run_together([self.statement]))


@dataclass(frozen=True, slots=True)
class Source:
    """A source of candidates.

    `gather` gets all of a profile's sections that name the source, so that one query can serve them all. A remote
    source is not gathered: it is queried over HTTP while the others read the database. If one statement suffices,
    `reading` returns it, and it is sent together with those of other sources; `gather` gives the same result.
    """

    gather: Callable[[GatherContext, Sequence[Section]], SourceResult]
    component: Component
    label: str
    """The name of the source on pages."""
    needs: frozenset[Need] = frozenset()
    remote: bool = False
    reading: Callable[[GatherContext, Sequence[Section]], SourceQuery | None] | None = None
    """The function that returns the source's only statement.

    A source with a need has none, because the statement has to be known before anything is read.
    """


def has_blocks(sections: Sequence[Section]) -> bool:
    """Return whether a section has blocks, which are scored for the moment of the request and therefore not cached."""
    return any(section.shape == "blocks" for section in sections)


Row = TypeVar("Row")


def candidates_for(
    sections: Sequence[Section],
    rows: Iterable[Row],
    limit: int,
    candidate: Callable[[Section, Row], Candidate],
    full: int | None = None,
) -> SourceResult:
    """Return every row, of at most `limit`, as a candidate for every section.

    With `full` rows, there may be more; by default with as many as the limit. It is smaller if some of the limit is for
    rows that are read for another reason, such as pinned ones.
    """
    found = list(rows)
    is_full = len(found) >= max(1, limit if full is None else full)
    candidates = [candidate(section, row) for section in sections for row in found]
    return SourceResult(candidates, limit * len(sections), is_full)


def origin_of(row: Any) -> Origin:
    """Return where the row's text comes from, as the server recorded it when the text was written."""
    return cast("Origin", row.origin)


def forms_for(gather_context: GatherContext, items: Manager[Any], names: Sequence[str]) -> list[str]:
    """Return the names as items of the agent up to the clearance may have them: as they are, then sealed, if any is."""
    agent, clearance = gather_context.agent.pk, gather_context.clearances.agent
    if clearance <= DEFAULT_LEVEL:
        return [*names]
    return stored_forms(items.filter(agent_id=agent, sensitivity__lte=clearance), agent, names)


Labels = dict[str, tuple[str, ...]]


def path_labels(path: str) -> Labels:
    """Return the labels of a document, its passages, or a file, whose path is its key, such as GOALS."""
    return {"path": (path,)}


def memory_labels(kind: str) -> Labels:
    return {"memory_kind": (kind,)}


def entity_labels(names: Iterable[str], properties: Mapping[str, Any]) -> Labels:
    """Return the labels of an entity: all its names, and the property `tags`, a text or a list of texts."""
    tags = properties.get("tags", ())
    listed = [tags] if isinstance(tags, str) else tags if isinstance(tags, list) else []
    return {"kg_entity": tuple(names), **tag_labels(tag for tag in listed if isinstance(tag, str))}


def pattern_labels(keywords: Iterable[str]) -> Labels:
    """Return the labels of a pattern: its keywords are its tags."""
    return tag_labels(keywords)


def tag_labels(tags: Iterable[str]) -> Labels:
    """Return the labels for the tags; none without tags."""
    found = tuple(tags)
    return {"tag": found} if found else {}


EMBEDDER = "embedder"
"""The name of the embedder in the reports on the sources."""


class SourceReport(Struct, frozen=True):
    """How one source did: the candidates it returned, its limit in rows, and its times in milliseconds.

    `started_ms` and its own `deadline_ms` count from the arrival of the request. With a code, it returned nothing,
    and `fault` says why. `left_out` counts the results of an external source that could not be used.
    """

    name: str
    count: int
    limit: int
    ms: int
    started_ms: int = 0
    deadline_ms: int | None = None
    code: SourceCode | None = None
    fault: str = ""
    left_out: int = 0
    withheld: int = 0
    """The number of items of the source's owner that are above the clearance of the request, whatever the topic."""
    may_have_more: bool = False
    """Whether the limit may have kept items back, for a second round; it is not recorded."""
