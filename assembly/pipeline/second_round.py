"""A second round asks the sources for what the first one left open (seed "Memory Layer": enrich).

A context is incomplete if it names less than MIN_COMPLETENESS of the named entities, or has nothing of a scope that was
asked for. What was found but had no room does not count: reading more cannot help it. The second round

- asks the sources that search for a query to which the missing names are added;
- reads the entities near these names, and the relations around them;
- reads twice as many rows of the sources that returned as many as their limit allows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assembly.engine.profile import Profile, Section
from assembly.engine.quality import completeness, missing_entities
from assembly.engine.scopes import SCOPES, MemoryScope
from assembly.engine.tuning import MIN_COMPLETENESS
from assembly.engine.types import Candidate, EngineResult
from assembly.sources.base import SourceReport
from assembly.sources.external.questions import EXTERNAL_SOURCE

SEARCHING = frozenset(
    {
        *("organisation_files", "team_files", "agent_files", "daily_logs", "semantic_content"),
        *("team_memories", "agent_memories", "patterns", "tools", EXTERNAL_SOURCE),
    }
)
"""Sources whose results depend on the words of the query."""
AROUND_ENTITIES = frozenset({"entities", "relations"})
LIMITED = (SEARCHING - {EXTERNAL_SOURCE}) | AROUND_ENTITIES | {"recent_events", "tool_results", "threads"}
"""Sources that may have more rows than their limit lets through, and whose limit is not an admin's."""
NEVER_EMPTY = (SEARCHING - {EXTERNAL_SOURCE, "patterns"}) | {"entities"}
"""Sources that return something whatever the query if they have anything: if one returned nothing, it has nothing."""
MAX_ADDED_CHARACTERS = 1_000
"""The most characters of names that are added to a query."""

Outcome = Literal["added", "nothing_new", "no_time", "stopped"]
"""The outcome of a second round. no_time: it was not begun, because the first round had taken more than was left;
stopped: it was given up when its time was over, and the first round counts.
"""
FINISHED: frozenset[Outcome] = frozenset({"added", "nothing_new"})


@dataclass(frozen=True, slots=True)
class Shortfall:
    """The shortfall of a first round: its completeness, names that nothing covers, and scopes without an item."""

    completeness: float
    names: tuple[str, ...]
    scopes: tuple[MemoryScope, ...]

    @classmethod
    def of(
        cls, profile: Profile, assembled: EngineResult, candidates: Iterable[Candidate], entities: Sequence[str]
    ) -> "Shortfall":
        """Return what the assembled context left open; `entities` are the names of the named entities."""
        named = [(name,) for name in entities]
        share = completeness(named, assembled.content)
        names = missing_entities(named, assembled.content) if share < MIN_COMPLETENESS else []
        if names:
            names = missing_entities(names, "\n".join(_without_room(assembled, candidates)))
        return cls(share, tuple(dict.fromkeys(name for (name,) in names)), _empty_scopes(profile, assembled))

    @property
    def is_open(self) -> bool:
        """Whether anything is missing."""
        return bool(self.names or self.scopes)


def _without_room(assembled: EngineResult, candidates: Iterable[Candidate]) -> list[str]:
    """Return the whole texts of the items that were shortened, or left out for want of room."""
    found = {(one.section, one.ref) for one in assembled.decisions if one.code.included or one.code.is_over_budget}
    return [one.text for one in candidates if (one.section, one.ref) in found]


def _empty_scopes(profile: Profile, assembled: EngineResult) -> tuple[MemoryScope, ...]:
    scopes = {section.key: section.scope for section in profile.sections}
    filled = {scopes.get(one.section) for one in assembled.decisions if one.code.included or one.code.is_over_budget}
    return tuple(scope for scope in SCOPES if scope in scopes.values() and scope not in filled)


@dataclass(frozen=True, slots=True)
class SecondPlan:
    """The plan of a second round: the query, the missing names, and the sections of the profile to read for."""

    shortfall: Shortfall
    query: str
    """The query with the missing names; that of the first round if it names them already."""
    is_wider: bool
    sections: tuple[Section, ...]

    @classmethod
    def of(
        cls, profile: Profile, shortfall: Shortfall, query: str, reports: Iterable[SourceReport]
    ) -> "SecondPlan | None":
        """Return the plan; None if no source can have more. A source that failed or was late is not asked again."""
        wider = _widened(query, shortfall.names)
        by_name = {report.name: report for report in reports}
        sections = tuple(
            section
            for section in profile.sections
            if section.shape == "blocks"
            and (report := by_name.get(_report_name(section)))
            and not report.code
            and _may_have_more(section, report, shortfall, is_wider=wider != query)
        )
        return cls(shortfall, wider, wider != query, sections) if sections else None


def _widened(query: str, names: Sequence[str]) -> str:
    added: list[str] = []
    for (name,) in missing_entities([(name,) for name in names], query):
        if sum(map(len, added)) + len(name) > MAX_ADDED_CHARACTERS:
            break
        added.append(name)
    return " ".join([query.strip(), *added]).strip() if added else query


def _report_name(section: Section) -> str:
    return f"{EXTERNAL_SOURCE}:{section.key}" if section.source == EXTERNAL_SOURCE else section.source


def _may_have_more(section: Section, report: SourceReport, shortfall: Shortfall, *, is_wider: bool) -> bool:
    source = section.source
    if source in NEVER_EMPTY and not report.count:
        return False
    if shortfall.names and ((is_wider and source in SEARCHING) or source in AROUND_ENTITIES):
        return True
    is_open = bool(shortfall.names) or section.scope in shortfall.scopes
    return is_open and source in LIMITED and report.may_have_more


@dataclass(frozen=True, slots=True)
class SecondRound:
    """A second round: why there was one, what it asked, what its sources returned, and what became of it.

    Times are in milliseconds since the request came.
    """

    shortfall: Shortfall
    outcome: Outcome
    first: int
    """The number of candidates of the first round."""
    started_ms: int
    ms: int = 0
    query: str = ""
    """The query of the second round if it differs from that of the first."""
    nearby: int = 0
    """The number of entities near the missing names."""
    added: Mapping[str, int] | None = None
    """The number of candidates that the first round did not have, by the name of the report on their source."""
    reports: tuple[SourceReport, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the round as it is recorded, JSON-safe."""
        added = self.added or {}
        return {
            "outcome": self.outcome,
            "completeness": self.shortfall.completeness,
            "names": list(self.shortfall.names),
            "scopes": list(self.shortfall.scopes),
            "query": self.query,
            "nearby": self.nearby,
            "first": self.first,
            "added": sum(added.values()),
            "started_ms": self.started_ms,
            "ms": self.ms,
            "sources": [
                {
                    **{name: getattr(one, name) for name in ("name", "count", "limit", "ms", "code", "fault")},
                    "added": added.get(one.name, 0),
                }
                for one in self.reports
            ],
        }
