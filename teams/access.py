"""Who may do what in a team. What one may not see is not found; what one may see but not do is forbidden."""

from collections.abc import Collection

from config.http.errors import Forbidden, NotFound
from teams.models import Team
from teams.principal import Principal
from teams.roles import EDIT_TEAM_FILES, ROLES_FOR, Action, key_permits

__all__ = ["EDIT_TEAM_FILES", "ROLES_FOR", "Action", "may", "require_admin", "require_manager", "team_for"]


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
        return Team.objects.permitting(action, principal).filter(id=team.id).exists()
    # No query for keys: nearly every request of theirs asks this.
    return team.id in principal.team_ids and key_permits(principal, action, EDIT_TEAM_FILES)


def require_manager(principal: Principal, teams: Collection[Team]) -> None:
    """Check that the principal administers each of the teams.

    Raises NotFound for one that the principal cannot see, Forbidden for one that the principal only belongs to.
    """
    named = Team.objects.filter(id__in=[team.id for team in teams])
    managed = set(named.manageable_by(principal))
    for team in sorted(teams, key=lambda team: team.slug):
        if team in managed:
            continue
        if not may(principal, team, Action.READ):
            raise NotFound(f"The team “{team.slug}”")
        raise Forbidden(f"Only an admin of the team “{team.slug}” may do this. Ask one of them.")


def require_admin(principal: Principal) -> None:
    """Raises Forbidden for all but organisation admins and admin keys."""
    if not principal.is_admin:
        raise Forbidden("Only an admin of the organisation may do this.")
