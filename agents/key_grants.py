"""Which teams an agent's key reaches: granted and withdrawn by the admins of each team.

A new key reaches the teams that its agent works in. When the agent joins another team, its keys do not reach that one
until an admin of that team grants it. When the agent leaves a team the grants go, and coming back restores none.
"""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents.models import AgentTeam, ApiKey, KeyGrant
from config.http.errors import NotFound
from teams.access import require_manager
from teams.models import Team
from teams.principal import Principal


def keys_in_team(team: Team) -> QuerySet[ApiKey]:
    """The usable keys of the agents that work in the team, by agent and name."""
    agents = AgentTeam.objects.filter(team=team).values("agent_id")
    keys = ApiKey.objects.usable(timezone.now()).filter(agent__in=agents)
    return keys.select_related("agent").order_by("agent__name", "name", "id")


def reaching_key_ids(team: Team) -> set[UUID]:
    """The ids of the keys that reach the team."""
    return set(KeyGrant.objects.filter(link__team=team).values_list("key_id", flat=True))


def teams_by_key(keys: Collection[ApiKey]) -> dict[UUID, list[Team]]:
    """The teams that each of the keys reaches, by the key's id and in the order of their slugs."""
    grants = KeyGrant.objects.filter(key__in=keys).select_related("link__team").order_by("link__team__slug")
    reached: dict[UUID, list[Team]] = {key.id: [] for key in keys}
    for grant in grants:
        reached[grant.key_id].append(grant.link.team)
    return reached


def key_in_team(team: Team, id_: UUID) -> ApiKey:
    """The usable key with that id of an agent that works in the team. Raises NotFound."""
    key = keys_in_team(team).filter(id=id_).first()
    if key is None:
        raise NotFound(f"The key “{id_}”")
    return key


@transaction.atomic
def key_grant(*, key: ApiKey, team: Team, principal: Principal) -> bool:
    """Let the key reach the team. Returns whether it did not before.

    Raises Forbidden for all but admins of the team, and NotFound where its agent does not work there.
    """
    require_manager(principal, [team])
    # Held, so that the agent does not leave before the grant is stored.
    link = AgentTeam.objects.select_for_update(no_key=True).filter(agent=key.agent_id, team=team).first()
    if link is None:
        raise NotFound(f"The key “{key.id}”")
    _, created = KeyGrant.objects.get_or_create(key=key, link=link, defaults={"granted_by": principal.ref})
    return created


@transaction.atomic
def key_withdraw(*, key: ApiKey, team: Team, principal: Principal) -> bool:
    """Let the key reach the team no longer. Returns whether it did. Raises Forbidden for all but admins of the team."""
    require_manager(principal, [team])
    deleted, _ = KeyGrant.objects.filter(key=key, link__team=team).delete()
    return bool(deleted)
