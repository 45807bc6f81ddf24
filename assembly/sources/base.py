"""What a source is given and returns, the labels that rules match, and the report on how a source did.

Only sources read the database for an assembly.
"""

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar
from uuid import UUID

from msgspec import Struct

from agents.models import Agent
from assembly.engine.codes import SourceCode
from assembly.engine.linear_ranker import Ranker
from assembly.engine.profile import Section
from assembly.engine.query_signals import QuerySignals
from assembly.engine.rules import Rule
from assembly.engine.types import Candidate
from config.db.statements import Rows, Statement, run_together
from memories.embeddings.vectors import QueryVector
from memories.models import Session, TaskFrame
from teams.models import Team

Component = Literal["recent", "semantic", "entity", "relation", "pattern", "custom"]
"""What the seed "Context Assembly Specification" calls the type of a ContextComponent."""

Scope = Literal["noosphere", "library", "workshop", "experience"]
"""What the seed "Memory Layer" calls L1 to L4: what holds for everybody, what a project is made of, what came of the
work and its tools, what the agent itself went through."""

Need = Literal["mentioned", "task"]
"""What several sources build on, found before they are asked: the mentioned entities, the current task."""


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One turn of the conversation so far: who said it (user, assistant, tool …), and what."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class RequestFilters:
    """What a request wants to be told of alone (seed: ContextFilters). None: of all."""

    since: datetime.datetime | None = None
    """Events after this moment."""
    event_types: frozenset[str] | None = None
    entity_types: frozenset[str] | None = None
    exclude: tuple[str, ...] = ()
    """Refs or ids that the engine leaves out, saying so; sources return so many rows more."""


@dataclass(frozen=True, slots=True)
class MentionedEntity:
    """An entity that the query names."""

    id: UUID
    type: str
    name: str


@dataclass(frozen=True, slots=True)
class GatherContext:
    """Whom a context is for, and what for. `vector` is the topic's direction, None without one; `now` has a zone.

    `vector`, `mentioned`, `task` and the rules are for `gather` to find.
    """

    agent: Agent
    team: Team | None
    now: datetime.datetime
    vector: QueryVector | None = None
    topic: str = ""
    signals: QuerySignals = field(default_factory=QuerySignals)
    session: Session | None = None
    history: tuple[ConversationTurn, ...] = ()
    filters: RequestFilters = RequestFilters()
    additional_context: str = ""
    depth_limit: int = 2
    ranker: Ranker | None = None
    """Whose features memories are to be measured for."""
    mentioned: tuple[MentionedEntity, ...] = ()
    task: TaskFrame | None = None
    rules: tuple[Rule, ...] = ()
    """Those that fired, the narrowest scope first."""
    unreadable_rules: Mapping[str, str] = field(default_factory=dict)
    """By the name of each rule that cannot be read any more, why."""

    def age(self, moment: datetime.datetime) -> datetime.timedelta:
        """How long ago it was; negative for what is still to come."""
        return self.now - moment

    def raised(self, limit: int) -> int:
        """The limit in rows, and one more for each that the request excludes: they are not to crowd out others."""
        return limit + len(self.filters.exclude)


MAX_BYTES = 1_000_000
"""Of long texts that a source offers, in UTF-8: more than fits the largest budget. Each costs as much to count as to
tell. Older ones are not considered, as those beyond a source's limit in rows."""


class SourceResult(Struct, frozen=True):
    """The rows that a source returned, and how many it would have returned at most."""

    candidates: Sequence[Candidate]
    limit: int


class SourceQuery(Struct, frozen=True):
    """The one statement by which a source reads all that it has, and what it makes of the rows."""

    statement: Statement
    gathered: Callable[[Rows], SourceResult]

    @classmethod
    def empty(cls, limit: int) -> "SourceQuery":
        """Of a source that has nothing for the situation, whatever its limit: a team's, where there is no team."""
        return cls(Statement("SELECT WHERE false", {}), lambda _: SourceResult((), limit))

    def alone(self) -> SourceResult:
        """What the source returns, by a journey of its own."""
        return self.gathered(*run_together([self.statement]))


@dataclass(frozen=True, slots=True)
class Source:
    """A place that candidates come from.

    `gather` gets all of a profile's sections that name the source, so that one query can serve them all. A remote
    source is not gathered so: it is asked beside the database, while the others read it. Where one statement is enough,
    `reading` gives it, and it goes to the database together with those of other sources; `gather` gives the same.
    """

    gather: Callable[[GatherContext, Sequence[Section]], SourceResult]
    component: Component
    label: str
    """What people call it."""
    scope: Scope = field(kw_only=True)
    needs: frozenset[Need] = frozenset()
    remote: bool = False
    reading: Callable[[GatherContext, Sequence[Section]], SourceQuery | None] | None = None
    """Without a need, so that it is known before anything was read."""


Row = TypeVar("Row")


def candidates_for(
    sections: Sequence[Section], rows: Iterable[Row], limit: int, candidate: Callable[[Section, Row], Candidate]
) -> SourceResult:
    """Every row, of at most `limit`, as a candidate for every section."""
    found = list(rows)
    return SourceResult([candidate(section, row) for section in sections for row in found], limit * len(sections))


Labels = dict[str, tuple[str, ...]]


def path_labels(path: str) -> Labels:
    """Of a document, its pieces, or a file, whose path is its key: GOALS."""
    return {"path": (path,)}


def memory_labels(kind: str) -> Labels:
    return {"memory_kind": (kind,)}


def entity_labels(names: Iterable[str], properties: Mapping[str, Any]) -> Labels:
    """By all its names, and by the property `tags`, a text or a list of texts."""
    tags = properties.get("tags", ())
    listed = [tags] if isinstance(tags, str) else tags if isinstance(tags, list) else []
    return {"kg_entity": tuple(names), **tag_labels(tag for tag in listed if isinstance(tag, str))}


def pattern_labels(keywords: Iterable[str]) -> Labels:
    """A pattern's keywords are its tags."""
    return tag_labels(keywords)


def tag_labels(tags: Iterable[str]) -> Labels:
    """No label where there is no tag."""
    found = tuple(tags)
    return {"tag": found} if found else {}


EMBEDDER = "embedder"
"""What its report is called among those of the sources."""


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
