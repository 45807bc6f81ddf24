"""API keys: made once, shown once, kept as a keyed hash.

A key reads `dsr_<8 look-up characters>_<43 secret characters>`. The look-up part finds the row, the HMAC-SHA256 of the
whole key under the installation's secret is compared in constant time.
"""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agents.access import manages_all_teams
from agents.models import Agent, AgentTeam, ApiKey, KeyGrant
from config.db.statements import Statement, run_statement
from config.http.errors import DossierError, Forbidden
from teams.access import require_admin
from teams.models import User
from teams.principal import SYSTEM, Principal
from teams.versioned_text.versioned_file import lock_row

PREFIX = "dsr"
ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # no 0/o, 1/l
LOOKUP_CHARACTERS = 8
LAST_USED_PRECISION = timedelta(minutes=5)
NOT_ALL_TEAMS = "A key reads all that this agent reads, in all its teams, so it takes an admin of each of them."


class KeyExpired(DossierError):
    """The key was right, and its time is over."""

    status = 401
    code = "not_authenticated"
    title = "This key has expired"


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
        hash=_digest(key),
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


def principal_of_key(key: str) -> Principal | None:
    """Whom the key speaks for; None for a key that is unknown, revoked or altered. Raises KeyExpired."""
    prefix, _, rest = key.partition("_")
    lookup = rest[:LOOKUP_CHARACTERS]
    if prefix != PREFIX or not lookup.isascii() or not lookup.isalnum():
        return None
    found = _find_key(lookup)
    if found is None or not hmac.compare_digest(found.hash, _digest(key)):
        return None
    if found.expires is not None and found.expires <= timezone.now():
        raise KeyExpired(
            f"This key expired on {found.expires:%Y-%m-%d at %H:%M} UTC. Make a new one, or ask an admin for it."
        )
    _note_use(found)
    return _to_principal(found)


def principal_behind(ref: str) -> Principal | None:
    """Who bears that ref, with the rights of now: for work that goes on after the request. None: nobody any more."""
    if ref == SYSTEM.ref:
        return SYSTEM
    kind, _, id_ = ref.partition(":")
    if kind == "person":
        person = User.objects.filter(id=id_, is_active=True).first()
        return person.principal if person else None
    key = ApiKey.objects.usable(timezone.now()).filter(id=id_).first()
    found = _find_key(key.lookup) if key else None
    return _to_principal(found) if found else None


class _KeyRow(NamedTuple):
    """A key with its agent's name and the teams that it reaches: all that a Principal needs, in one query."""

    id: UUID
    lookup: str
    hash: str
    name: str
    scopes: list[str]
    last_used: datetime | None
    expires: datetime | None
    agent_id: UUID | None
    agent_name: str | None
    team_ids: list[UUID]


# In SQL, because every request asks it, and Django takes longer to compose the query than PostgreSQL to answer it.
FIND_SQL = """
SELECT api_keys.id, lookup, hash, api_keys.name, scopes, last_used, expires, api_keys.agent_id, agents.name,
    ARRAY(
        SELECT team_id FROM api_key_grants JOIN agent_teams ON agent_teams.id = link_id
        WHERE key_id = api_keys.id AND agent_teams.agent_id = api_keys.agent_id
    )
FROM api_keys LEFT JOIN agents ON agents.id = agent_id WHERE lookup = %(lookup)s AND revoked IS NULL
"""


def _find_key(lookup: str) -> _KeyRow | None:
    rows = run_statement(Statement(FIND_SQL, {"lookup": lookup}))
    return _KeyRow(*rows[0]) if rows else None


def _to_principal(found: _KeyRow) -> Principal:
    if found.agent_id is None:
        return Principal(kind="admin_key", id=found.id, name=found.name or f"Admin key {found.lookup}", is_admin=True)
    return Principal(
        kind="agent_key",
        id=found.id,
        name=found.name or f"Key of {found.agent_name}",
        agent_id=found.agent_id,
        team_ids=frozenset(found.team_ids),
        scopes=frozenset(found.scopes),
    )


def _note_use(found: _KeyRow) -> None:
    now = timezone.now()
    if found.last_used is None or now - found.last_used > LAST_USED_PRECISION:
        ApiKey.objects.filter(pk=found.id).update(last_used=now)


def _digest(key: str) -> str:
    secret = hashlib.sha256(b"api-keys:" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(secret, key.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()
