"""Sections are the folders at the top of an archive; apps register one class for each, which exports and imports it."""

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
    """A file of an archive: its name with slashes, and its text in pieces, which are generated when written."""

    name: str
    pieces: Iterable[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportScope:
    """The teams and agents to export, and the principal who exports. `name` is the archive's file name without
    extension.
    """

    name: str
    teams: Sequence[Team] = ()
    agents: Sequence[Agent] = ()
    organisation: bool = False
    principal: Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportChange:
    """The change that an import would make to one item, which `name` identifies in the archive.

    `version` is that of the stored item, 0 for none; `before` and `after` are the texts to compare. `item` holds what
    the section needs to store the change besides the text.
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
    """A change that was not imported, and the reason. `count` is the number of changes that it stands for."""

    name: str
    reason: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class ImportContext:
    """The principal who imports, the note of new versions, and a function that is called with the number of stored
    changes.
    """

    principal: Principal
    note: str
    advance: Advance


@dataclass(frozen=True, slots=True)
class ImportUnit:
    """The part of an archive that is imported in one transaction: an agent's or team's folder, or a whole section.

    `files` maps the names within the unit to the names in the archive.
    """

    section: "ArchiveSection"
    name: str
    files: Mapping[str, str]
    contents: ArchiveContents

    def path(self, within: str) -> str:
        """Return the name in the archive of a file within the unit, whether or not the file exists."""
        return f"{self.name}/{within}"


class ArchiveSection(Protocol):
    """The interface of sections: one folder at the top of an archive."""

    @property
    def folder(self) -> str: ...

    @property
    def has_units(self) -> bool:
        """Whether each folder within the section is a unit of its own."""
        ...

    @property
    def max_files(self) -> int:
        """The most files of a section without units in an archive that is uploaded."""
        ...

    def entries(self, scope: ExportScope) -> Iterator[ArchiveEntry]:
        """Yield the files to export, in the same order for the same data."""
        ...

    def accepts_file(self, within: str) -> bool:
        """Return whether a file of that name belongs to a unit."""
        ...

    def changes(self, units: Sequence[ImportUnit], principal: Principal) -> Iterator[tuple[ImportUnit, ImportChange]]:
        """Yield all changes that importing the units would make, also unchanged and refused items. Writes nothing."""
        ...

    def store(
        self, unit: ImportUnit, changes: Sequence[ImportChange], import_context: "ImportContext"
    ) -> list["SkippedChange"]:
        """Store the changes within a transaction, and return those that could not be stored."""
        ...


SECTIONS: dict[str, ArchiveSection] = {}
"""Sections by folder, in the order of export and import: teams come before agents, which belong to them."""

Registered = TypeVar("Registered", bound=ArchiveSection)


def register(section: Registered) -> Registered:
    """Register the section, and return it; apps call this when they start."""
    SECTIONS[section.folder] = section
    return section


def entries_of(scope: ExportScope) -> Iterator[ArchiveEntry]:
    """Yield all files of the archive of this scope."""
    for section in SECTIONS.values():
        yield from section.entries(scope)


def scope_of_team(team: Team, principal: Principal) -> ExportScope:
    """Return the scope of a team that the principal may read: its files and memories."""
    return ExportScope(name=f"team-{team.slug}", teams=[team], principal=principal)


def scope_of_agent(agent: Agent, principal: Principal) -> ExportScope:
    """Return the scope of an agent that the principal may read: its files, logs and memories, and its teams' names."""
    return ExportScope(name=f"agent-{agent.slug}", agents=[agent], principal=principal)


def scope_of_everything(principal: Principal) -> ExportScope:
    """Return the scope of all teams and agents and of the organisation's own texts. Raises Forbidden for non-admins."""
    require_admin(principal)
    return ExportScope(
        name="everything",
        teams=list(Team.objects.order_by("slug")),
        agents=list(Agent.objects.order_by("slug")),
        organisation=True,
        principal=principal,
    )
