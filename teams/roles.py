"""What people and keys may do in a team: actions, roles, and which role or scope allows which action."""

from enum import Enum

from django.db import models

from teams.principal import Principal


class Role(models.TextChoices):
    """A person's role in one team."""

    VIEWER = "viewer", "Viewer"
    EDITOR = "editor", "Editor"
    ADMIN = "admin", "Admin"


class Action(Enum):
    """What somebody wants to do; each needs a role of a person, or a right of a key."""

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
    """Whether an agent's key may do this where it reaches; `scope` lets it edit files. No key manages anything."""
    return action in {Action.READ, Action.WRITE} or (action is Action.EDIT and scope in principal.scopes)
