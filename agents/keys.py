"""API keys: made once, shown once, kept as a keyed hash.

A key reads `dsr_<8 look-up characters>_<43 secret characters>`. The look-up part finds the row, the HMAC-SHA256 of the
whole key under the installation's secret is compared in constant time.
"""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet
from django.utils import timezone

from agents.models import Agent, AgentTeam, ApiKey
from teams.principal import Principal

PREFIX = "dsr"
ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # no 0/o, 1/l
LOOKUP_CHARACTERS = 8
LAST_USED_PRECISION = timedelta(minutes=5)


def api_key_create(*, agent: Agent | None, name: str = "", scopes: Sequence[str] = ()) -> tuple[ApiKey, str]:
    """A new key of the agent, or without one an admin's. Returns its row and the key, which nobody can read again."""
    lookup = "".join(secrets.choice(ALPHABET) for _ in range(LOOKUP_CHARACTERS))
    key = f"{PREFIX}_{lookup}_{secrets.token_urlsafe(32)}"
    row = ApiKey.objects.create(lookup=lookup, hash=_digest(key), agent=agent, name=name, scopes=list(scopes))
    return row, key


def principal_of_key(key: str) -> Principal | None:
    """Whom the key speaks for; None for a key that is unknown, revoked or altered."""
    prefix, _, rest = key.partition("_")
    lookup = rest[:LOOKUP_CHARACTERS]
    if prefix != PREFIX or not lookup.isascii() or not lookup.isalnum():
        return None
    row = _with_teams().filter(lookup=lookup, revoked=None).first()
    if row is None or not hmac.compare_digest(row.hash, _digest(key)):
        return None
    _note_use(row)
    return _principal(row)


def _with_teams() -> QuerySet[ApiKey]:
    """The keys with their agents and these agents' teams: all that a Principal needs, in one query."""
    teams = AgentTeam.objects.filter(agent=OuterRef("agent_id")).values("team_id")
    return ApiKey.objects.select_related("agent").annotate(team_ids=ArraySubquery(teams))


def _principal(row: Any) -> Principal:
    if row.agent is None:
        return Principal(kind="admin_key", id=row.id, name=row.name or f"Admin key {row.lookup}", is_admin=True)
    return Principal(
        kind="agent_key",
        id=row.id,
        name=row.name or f"Key of {row.agent.name}",
        agent_id=row.agent_id,
        team_ids=frozenset(row.team_ids),
        scopes=frozenset(row.scopes),
    )


def _note_use(row: ApiKey) -> None:
    now = timezone.now()
    if row.last_used is None or now - row.last_used > LAST_USED_PRECISION:
        ApiKey.objects.filter(pk=row.pk).update(last_used=now)


def _digest(key: str) -> str:
    secret = hashlib.sha256(b"api-keys:" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(secret, key.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()
