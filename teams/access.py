"""This module checks access to teams: a team that a principal cannot see is not found, a forbidden action raises
Forbidden.

Agents' keys may not change what people wrote in a team, unless the team allows it. A text counts as written by people
if any of its versions that is not empty was made by a person, or by an import that an administrator ran. Correcting or
pinning a memory counts as well.
"""

from collections.abc import Collection
from typing import Any, cast

from django.db.models import QuerySet
from django.http import HttpRequest

from config.db.statements import find_rows
from config.http.errors import Forbidden, NotFound
from teams.models import OrganisationFile, Team, User
from teams.principal import EDIT_TEAM_FILES, Action, Principal, key_permits


def team_for(principal: Principal, slug: str, action: Action = Action.READ) -> Team:
    """Return the team with this slug. Raises NotFound or Forbidden."""
    team = _find_visible(principal, slug)
    if team is None:
        raise NotFound(f"The team “{slug}”")
    if not is_permitted(principal, team, action):
        raise Forbidden("Your role in this team does not allow this. Ask an admin of the team.")
    return team


def _find_visible(principal: Principal, slug: str) -> Team | None:
    """Return the team with this slug, if the principal sees it."""
    if principal.kind == "person" and not principal.is_admin:
        return Team.objects.visible_to(principal).filter(slug=slug).first()
    found = find_rows(Team, "WHERE slug = %(slug)s", {"slug": slug})
    return found[0] if found and is_permitted(principal, found[0], Action.READ) else None


def is_permitted(principal: Principal, team: Team, action: Action) -> bool:
    """Return whether a principal who can see the team may perform the action in it."""
    if principal.is_admin:
        return True
    if principal.kind == "person":
        return Team.objects.permitting(action, principal).filter(id=team.id).exists()
    # No query for keys: nearly every request of theirs asks this.
    return team.id in principal.team_ids and key_permits(principal, action, EDIT_TEAM_FILES)


def require_manager(principal: Principal, teams: Collection[Team]) -> None:
    """Check that the principal administers each of the teams.

    Raises NotFound for a team that the principal cannot see, Forbidden for a team that the principal only belongs to.
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
    """Check that the principal is an organisation admin or has an admin key. Raises Forbidden."""
    if not principal.is_admin:
        raise Forbidden("Only an admin of the organisation may do this.")


def organisation_file_for(principal: Principal, key: str, action: Action = Action.READ) -> OrganisationFile:
    """Return the file of the organisation with this key. Everybody who signs in and every key may read it, only admins
    of the organisation may change it. Raises NotFound or Forbidden.
    """
    file = OrganisationFile.objects.filter(file_key=key).first()
    if file is None:
        raise NotFound(f"The file “{key}”")
    if action is not Action.READ:
        require_admin(principal)
    return file


def principal_of(request: HttpRequest) -> Principal:
    """Return the signed-in person as a principal. Every page but sign-in is behind LoginRequiredMiddleware."""
    return cast("User", request.user).principal


KEY_REF = "key:"
"""The prefix of the refs of keys, as in `Principal.ref`."""


def is_written_by_people(versions: QuerySet[Any]) -> bool:
    """Return whether one of these versions was made by a person or an import, not by an agent's key."""
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
