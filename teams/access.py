"""Who may do what in a team. What one may not see is not found; what one may see but not do is forbidden.

Who is behind a request for a page.

Agents change what agents wrote: their keys leave alone what people wrote in a team, unless the team allows it.

A text counts as people's if any of its versions that is not empty was made by anybody but a key: by a person, or by an
import that an administrator ran. What a person only corrected or pinned counts as well.
"""

from collections.abc import Collection
from typing import Any, cast

from django.db.models import QuerySet
from django.http import HttpRequest

from config.http.errors import Forbidden, NotFound
from teams.models import Team, User
from teams.principal import EDIT_TEAM_FILES, Action, Principal, key_permits


def team_for(principal: Principal, slug: str, action: Action = Action.READ) -> Team:
    """The team with that slug. Raises NotFound or Forbidden."""
    team = Team.objects.visible_to(principal).filter(slug=slug).first()
    if team is None:
        raise NotFound(f"The team “{slug}”")
    if not is_permitted(principal, team, action):
        raise Forbidden("Your role in this team does not allow this. Ask an admin of the team.")
    return team


def is_permitted(principal: Principal, team: Team, action: Action) -> bool:
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
        if not is_permitted(principal, team, Action.READ):
            raise NotFound(f"The team “{team.slug}”")
        raise Forbidden(f"Only an admin of the team “{team.slug}” may do this. Ask one of them.")


def require_admin(principal: Principal) -> None:
    """Raises Forbidden for all but organisation admins and admin keys."""
    if not principal.is_admin:
        raise Forbidden("Only an admin of the organisation may do this.")


def principal_of(request: HttpRequest) -> Principal:
    """The signed-in person. Every page but sign-in is behind LoginRequiredMiddleware."""
    return cast("User", request.user).principal


KEY_REF = "key:"
"""What the refs of keys begin with, as `Principal.ref` makes them."""


def is_written_by_people(versions: QuerySet[Any]) -> bool:
    """Whether anybody but a key made one of these versions."""
    return versions.exclude(content="").exclude(editor_ref__startswith=KEY_REF).exists()


def require_change_allowed(principal: Principal, team: Team | None, versions: QuerySet[Any]) -> None:
    """Check that the principal may change or delete a text of the team that has these versions.

    Only agents' keys are restricted, and only in teams that do not allow it. Raises Forbidden.
    """
    if principal.kind != "agent_key" or team is None:
        return
    if Team.objects.filter(id=team.id, agents_may_change_texts=True).exists():
        return
    if is_written_by_people(versions):
        raise Forbidden(
            "A person wrote this, and the team does not let agents change what people wrote. Nothing was changed. "
            "Ask an admin of the team to change it, or to allow it in the team's settings."
        )
