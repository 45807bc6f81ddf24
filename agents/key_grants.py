"""An agent's key has access to teams; the admins of each team grant and withdraw it.

A new key has access to the teams in which its agent works. When the agent joins another team, its keys have no access
to that team until an admin of the team grants it. When the agent leaves a team, the grants are deleted, and returning
does not restore them.
"""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents.models import AgentTeam, ApiKey, KeyGrant
from config.http.errors import NotFound
from teams.access import require_manager
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.models import Team
from teams.principal import Principal


def keys_in_team(team: Team) -> QuerySet[ApiKey]:
    """Return the usable keys of the agents that work in the team, by agent and name."""
    agents = AgentTeam.objects.filter(team=team).values("agent_id")
    keys = ApiKey.objects.usable(timezone.now()).filter(agent__in=agents)
    return keys.select_related("agent").order_by("agent__name", "name", "id")


def reaching_key_ids(team: Team) -> set[UUID]:
    """Return the ids of the keys that have access to the team."""
    return set(KeyGrant.objects.filter(link__team=team).values_list("key_id", flat=True))


def teams_by_key(keys: Collection[ApiKey]) -> dict[UUID, list[Team]]:
    """Return the teams to which each of the keys has access, by the key's id and in the order of their slugs."""
    grants = KeyGrant.objects.filter(key__in=keys).select_related("link__team").order_by("link__team__slug")
    reached: dict[UUID, list[Team]] = {key.id: [] for key in keys}
    for grant in grants:
        reached[grant.key_id].append(grant.link.team)
    return reached


def key_in_team(team: Team, id_: UUID) -> ApiKey:
    """Return the usable key with this id, of an agent that works in the team. Raises NotFound."""
    key = keys_in_team(team).filter(id=id_).first()
    if key is None:
        raise NotFound(f"The key “{id_}”")
    return key


@transaction.atomic
def key_grant(*, key: ApiKey, team: Team, principal: Principal) -> bool:
    """Give the key access to the team. Return whether it had none before.

    Raises Forbidden for all but admins of the team, and NotFound if the key's agent does not work there.
    """
    require_manager(principal, [team])
    # Held, so that the agent does not leave before the grant is stored.
    link = AgentTeam.objects.select_for_update(no_key=True).filter(agent=key.agent_id, team=team).first()
    if link is None:
        raise NotFound(f"The key “{key.id}”")
    _, created = KeyGrant.objects.get_or_create(key=key, link=link, defaults={"granted_by": principal.ref})
    if created:
        detail = {"team": team.name}
        activity_record(
            principal, ActivityAction.KEY_GRANTED, key.name or key.lookup, team_ids=[team.id], detail=detail
        )
    return created


@transaction.atomic
def key_withdraw(*, key: ApiKey, team: Team, principal: Principal) -> bool:
    """Remove the key's access to the team.

    Return whether it had access. Raises Forbidden for all but admins of the team.
    """
    require_manager(principal, [team])
    deleted, _ = KeyGrant.objects.filter(key=key, link__team=team).delete()
    if deleted:
        detail = {"team": team.name}
        activity_record(
            principal, ActivityAction.KEY_WITHDRAWN, key.name or key.lookup, team_ids=[team.id], detail=detail
        )
    return bool(deleted)
