"""API keys are created and revoked here. A key is shown once; its row holds a keyed hash of it.

`agents.authentication` says what a key looks like and checks it.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.access import manages_all_teams
from agents.authentication import LOOKUP_CHARACTERS, PREFIX, key_hash
from agents.models import Agent, AgentTeam, ApiKey, KeyGrant
from config.http.errors import Forbidden
from teams.access import require_admin
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.models import User
from teams.principal import SYSTEM, Principal
from teams.versioned_text.versioned_file import lock_row

ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # no 0/o, 1/l
NOT_ALL_TEAMS = "A key reads all that this agent reads, in all its teams, so it takes an admin of each of them."


@transaction.atomic
def api_key_create(
    *,
    agent: Agent | None,
    name: str = "",
    scopes: Sequence[str] = (),
    expires: datetime | None = None,
    principal: Principal = SYSTEM,
) -> tuple[ApiKey, str]:
    """Create a key of the agent; without an agent, an admin key. Return its row and the key, which is not stored.

    The key has access to the teams in which the agent works now. Raises Forbidden for principals who may not create it.
    """
    _require_may_create(principal, lock_row(agent) if agent else None)  # held: it joins no other team meanwhile
    lookup = "".join(secrets.choice(ALPHABET) for _ in range(LOOKUP_CHARACTERS))
    key = f"{PREFIX}_{lookup}_{secrets.token_urlsafe(32)}"
    row = ApiKey.objects.create(
        lookup=lookup,
        hash=key_hash(key),
        agent=agent,
        name=name,
        scopes=list(scopes),
        expires=expires,
        created_by=_creator_ref(principal),
        creator_name=principal.author.name if principal.author.ref else "",
    )
    links = AgentTeam.objects.filter(agent=agent) if agent else ()
    KeyGrant.objects.bulk_create(KeyGrant(key=row, link=link, granted_by=principal.ref) for link in links)
    detail = {
        "agent": agent.name if agent else None,
        "scopes": list(scopes),
        "expires": expires.isoformat() if expires else None,
    }
    activity_record(principal, ActivityAction.KEY_CREATED, name or lookup, team_ids=_team_ids(agent), detail=detail)
    return row, key


def _team_ids(agent: Agent | None) -> list[UUID]:
    """Return the ids of the teams whose admins read of an act on a key of the agent."""
    return list(AgentTeam.objects.filter(agent=agent).values_list("team_id", flat=True)) if agent else []


def _creator_ref(principal: Principal) -> str:
    """Return the ref of the person who is responsible for a key that the principal creates; empty for a command.

    For a key that was created with an admin key, that is the creator of the admin key: otherwise the new key would
    remain valid when the creator leaves.
    """
    if principal.kind == "admin_key":
        maker = (
            ApiKey.objects.filter(id=principal.id).exclude(created_by="").values_list("created_by", flat=True).first()
        )
        return maker or principal.ref
    return principal.author.ref


def _require_may_create(principal: Principal, agent: Agent | None) -> None:
    if agent is None:
        require_admin(principal)
    elif not manages_all_teams(principal, agent):
        raise Forbidden(NOT_ALL_TEAMS)


@transaction.atomic
def api_key_revoke(*, key: ApiKey, principal: Principal = SYSTEM) -> bool:
    """Revoke the key. Return whether it was usable before.

    Raises Forbidden for principals who may not create such a key.
    """
    _require_may_create(principal, key.agent)
    revoked = bool(ApiKey.objects.filter(pk=key.pk, revoked=None).update(revoked=timezone.now()))
    if revoked:
        detail = {"agent": key.agent.name if key.agent else None}
        target, of = key.name or key.lookup, _team_ids(key.agent)
        activity_record(principal, ActivityAction.KEY_REVOKED, target, team_ids=of, detail=detail)
    return revoked


def admin_keys_revoke_of(*, person: User, principal: Principal, **_: object) -> int:
    """Revoke the admin keys that the person created. Return how many there were.

    Otherwise they would still give rights that their creator lost. Keys of agents belong to the agents and remain.
    """
    made = list(ApiKey.objects.filter(agent=None, created_by=person.principal.ref, revoked=None))
    for key in made:
        api_key_revoke(key=key, principal=principal)
    return len(made)
