"""Rooms: what the folders at the top of an archive hold, each written and read by one class. Apps register theirs.

What can be exported: one team, one agent, or everything.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from agents.models import Agent
from memories.archive.contents import ArchiveContents
from memories.archive.digests import ImportState
from memories.imports.base import Advance
from teams.access import require_admin
from teams.models import Team
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """A file of an archive: its name with slashes, and its text in pieces, which are made as they are asked for."""

    name: str
    pieces: Iterable[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportScope:
    """What is exported, and for whom. `name` is what the archive is called, without an ending."""

    name: str
    teams: Sequence[Team] = ()
    agents: Sequence[Agent] = ()
    organisation: bool = False
    principal: Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportChange:
    """What an import would do with one thing, `name`d as in the archive.

    `version` is the one that is here, 0 for none; `before` and `after` are the texts to compare. `item` is what its
    room needs to store it, where that is more than the text.
    """

    name: str
    what: str
    state: ImportState
    version: int = 0
    before: str = ""
    after: str = ""
    reason: str = ""
    item: Any = None


@dataclass(frozen=True, slots=True)
class SkippedChange:
    """What was to be imported and was not, and why. `count` are the changes that this says of."""

    name: str
    reason: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class ImportContext:
    """In whose name changes are stored, under which note, and who is told how many more are done."""

    principal: Principal
    note: str
    advance: Advance


@dataclass(frozen=True, slots=True)
class ImportUnit:
    """What is imported in one transaction: an agent's folder, a team's folder, or a whole room.

    `files` are its names by those that it has within.
    """

    section: "ArchiveSection"
    name: str
    files: Mapping[str, str]
    contents: ArchiveContents

    def path(self, within: str) -> str:
        """What a file within is called in the archive, whether or not it is there."""
        return f"{self.name}/{within}"


class ArchiveSection(Protocol):
    """One folder at the top of an archive."""

    @property
    def folder(self) -> str: ...

    @property
    def has_units(self) -> bool:
        """Whether each folder within is a unit of its own."""
        ...

    def entries(self, scope: ExportScope) -> Iterator[ArchiveEntry]:
        """What is exported, in the same order for the same data."""
        ...

    def accepts_file(self, within: str) -> bool:
        """Whether a file of that name belongs to a unit."""
        ...

    def changes(self, units: Sequence[ImportUnit], principal: Principal) -> Iterator[tuple[ImportUnit, ImportChange]]:
        """All that importing the room's units would do, also what is the same or refused. Writes nothing."""
        ...

    def store(
        self, unit: ImportUnit, changes: Sequence[ImportChange], import_context: "ImportContext"
    ) -> list["SkippedChange"]:
        """Do these changes, within a transaction. Returns those that could not be done."""
        ...


SECTIONS: dict[str, ArchiveSection] = {}
"""By their folders, in the order in which they are exported and imported: what others hang on comes first."""

Registered = TypeVar("Registered", bound=ArchiveSection)


def register(section: Registered) -> Registered:
    """Make the room known; apps do so when they start."""
    SECTIONS[section.folder] = section
    return section


def entries_of(scope: ExportScope) -> Iterator[ArchiveEntry]:
    """All that the archive of the scope holds."""
    for section in SECTIONS.values():
        yield from section.entries(scope)


def scope_of_team(team: Team, principal: Principal) -> ExportScope:
    """A team, which the principal may read: its files and memories."""
    return ExportScope(name=f"team-{team.slug}", teams=[team], principal=principal)


def scope_of_agent(agent: Agent, principal: Principal) -> ExportScope:
    """An agent, which the principal may read: its files, logs and memories, and nothing of its teams but names."""
    return ExportScope(name=f"agent-{agent.slug}", agents=[agent], principal=principal)


def scope_of_everything(principal: Principal) -> ExportScope:
    """All teams and agents, and what is the organisation's own. Raises Forbidden for all but its admins."""
    require_admin(principal)
    return ExportScope(
        name="everything",
        teams=list(Team.objects.order_by("slug")),
        agents=list(Agent.objects.order_by("slug")),
        organisation=True,
        principal=principal,
    )
