"""API keys are created and revoked here. A key is shown once; its row holds a keyed hash of it.

`agents.authentication` says what a key looks like and checks it.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from agents.access import manages_all_teams
from agents.authentication import LOOKUP_CHARACTERS, PREFIX, key_hash
from agents.models import Agent, AgentTeam, ApiKey, KeyGrant
from config.http.errors import Forbidden
from teams.access import require_admin
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
    """Create a key of the agent, or without one an admin's. Returns its row and the key, which nobody can read again.

    The key reaches the teams in which the agent works now. Raises Forbidden for those who may not make one.
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
    return row, key


def _creator_ref(principal: Principal) -> str:
    """The ref of who answers for a key that the principal makes, empty for a command.

    The key of an admin's key is its maker's: otherwise it would survive them.
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


def api_key_revoke(*, key: ApiKey, principal: Principal = SYSTEM) -> bool:
    """Make the key useless from now on. Returns whether it was not revoked before.

    Raises Forbidden for those who may not make such a key.
    """
    _require_may_create(principal, key.agent)
    return bool(ApiKey.objects.filter(pk=key.pk, revoked=None).update(revoked=timezone.now()))


def admin_keys_revoke_of(*, person: User, **_: object) -> int:
    """Revoke the admin keys that the person made. Returns how many there were.

    They would go on to give rights that their maker has no longer. Keys of agents belong to the agents, and stay.
    """
    made = ApiKey.objects.filter(agent=None, created_by=person.principal.ref, revoked=None)
    return made.update(revoked=timezone.now())
