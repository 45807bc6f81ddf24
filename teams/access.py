"""Who may do what in a team. What one may not see is not found; what one may see but not do is forbidden."""

from enum import Enum

from config.http.errors import Forbidden, NotFound
from teams.models import Membership, Role, Team
from teams.principal import Principal


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


def team_for(principal: Principal, slug: str, action: Action = Action.READ) -> Team:
    """The team with that slug. Raises NotFound or Forbidden."""
    team = Team.objects.visible_to(principal).filter(slug=slug).first()
    if team is None:
        raise NotFound(f"The team “{slug}”")
    if not may(principal, team, action):
        raise Forbidden("Your role in this team does not allow this. Ask an admin of the team.")
    return team


def may(principal: Principal, team: Team, action: Action) -> bool:
    """Whether somebody who can see the team may do this in it."""
    if principal.is_admin:
        return True
    if principal.kind == "person":
        return Membership.objects.filter(team=team, user_id=principal.id, role__in=ROLES_FOR[action]).exists()
    if team.id not in principal.team_ids:
        return False
    return action in {Action.READ, Action.WRITE} or (action is Action.EDIT and EDIT_TEAM_FILES in principal.scopes)


def require_admin(principal: Principal) -> None:
    """Raises Forbidden for all but organisation admins and admin keys."""
    if not principal.is_admin:
        raise Forbidden("Only an admin of the organisation may do this.")
