"""A principal is a person, an agent's key or an admin key that makes a request, with its roles and rights."""

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Literal
from uuid import UUID

from django.db import models

from teams.origin import Origin, least_trusted

NOBODY = UUID(int=0)

Kind = Literal["person", "agent_key", "admin_key", "system"]


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a version: `updated_by` is `user` or `system` as in the seed; ref and name identify the person or
    key. `origin` is that of the texts that the author writes.
    """

    updated_by: Literal["user", "system"]
    ref: str = ""
    name: str = ""
    origin: Origin = Origin.PERSON

    def limited_to(self, origin: str) -> "Author":
        """Return the author of a text that comes from this origin, and is trusted no more than the author."""
        return replace(self, origin=least_trusted(self.origin, origin))


@dataclass(frozen=True, slots=True)
class Principal:
    """A person or a key, with the facts that access rules need. Keys know their agent and its teams."""

    kind: Kind
    id: UUID = NOBODY
    name: str = ""
    is_admin: bool = False
    agent_id: UUID | None = None
    team_ids: frozenset[UUID] = field(default_factory=frozenset)
    scopes: frozenset[str] = field(default_factory=frozenset)
    agent_clearance: int = 1
    """The clearance of the key's agent, above which the key reads nothing: see `teams.sensitivity`."""
    relays: Origin = Origin.PERSON
    """The origin of the texts that the principal stores without having written them, such as an import of records."""

    # DRF asks its `request.user` for these two.
    is_authenticated: bool = field(default=True, init=False)
    is_active: bool = field(default=True, init=False)

    @property
    def ref(self) -> str:
        """Return a stable reference for records: `person:<uuid>`, `key:<uuid>` or `system`."""
        if self.kind == "system":
            return "system"
        return f"{'person' if self.kind == 'person' else 'key'}:{self.id}"

    @property
    def author(self) -> Author:
        """The author of what the principal writes. What an agent's key writes comes from the agent."""
        origin = least_trusted(Origin.AGENT if self.kind == "agent_key" else Origin.PERSON, self.relays)
        if self.kind == "system":
            return Author("system", "", self.name, origin)
        return Author("user", self.ref, self.name, origin)

    @property
    def reach(self) -> list[str]:
        """What the principal has access to, as words: its teams, its scopes, and the levels up to its clearance."""
        levels = [f"level:{level}" for level in range(self.agent_clearance + 1)] if self.kind == "agent_key" else []
        return sorted([*map(str, self.team_ids), *self.scopes, *levels, *["admin"] * self.is_admin])

    def relaying(self, origin: str) -> "Principal":
        """Return the principal who stores texts that come from this origin."""
        return replace(self, relays=least_trusted(self.relays, origin))


SYSTEM = Principal(kind="system", is_admin=True, name="Dossier")


class Role(models.TextChoices):
    """A person's role in one team."""

    VIEWER = "viewer", "Viewer"
    EDITOR = "editor", "Editor"
    ADMIN = "admin", "Admin"


class Action(Enum):
    """An action on a resource. Each action requires a role of a person, or a right of a key."""

    READ = "read"
    WRITE = "write"  # daily logs, memories, events
    EDIT = "edit"  # files
    MANAGE = "manage"  # names, members, deletion


ROLES_FOR = {
    Action.READ: frozenset(Role),
    Action.WRITE: frozenset({Role.EDITOR, Role.ADMIN}),
    Action.EDIT: frozenset({Role.EDITOR, Role.ADMIN}),
    Action.MANAGE: frozenset({Role.ADMIN}),
}
EDIT_TEAM_FILES = "team-files:write"
EDIT_AGENT_FILES = "files:write"


def key_permits(principal: Principal, action: Action, scope: str) -> bool:
    """Return whether an agent's key may perform the action where it has access; `scope` lets it edit files.

    No agent's key may manage anything.
    """
    return action in {Action.READ, Action.WRITE} or (action is Action.EDIT and scope in principal.scopes)
