"""Authentication finds out which key a REST request carries (`Authorization: Bearer <key>`) and whom it speaks for.

A key reads `dsr_<8 look-up characters>_<43 secret characters>`. The look-up part finds the row, the HMAC-SHA256 of the
whole key under the installation's secret is compared in constant time.
"""

import hashlib
import hmac
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from agents.models import ApiKey
from config.db.statements import Statement, run_statement
from config.http.errors import DossierError
from teams.models import User
from teams.principal import SYSTEM, Principal

CHALLENGE = 'Bearer realm="Dossier"'


class ApiKeyAuthentication(BaseAuthentication):
    """Django REST framework's authentication by API key, which sets `request.user` to the key's Principal."""

    def authenticate(self, request: Request) -> tuple[Principal, None] | None:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            principal = principal_of_key(key.strip())
        except KeyExpired as expired:
            raise AuthenticationFailed(expired.detail) from None
        if principal is None:
            raise AuthenticationFailed("This key is unknown or was revoked. Ask your admin for a new one.")
        return principal, None

    def authenticate_header(self, request: Request) -> str:
        return CHALLENGE


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The description of API keys in the OpenAPI document."""

    target_class = "agents.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A key created on the pages, by REST or by `manage.py create_api_key`.",
        }


PREFIX = "dsr"


LOOKUP_CHARACTERS = 8


LAST_USED_PRECISION = timedelta(minutes=5)


class KeyExpired(DossierError):
    """The key is correct, but it has expired."""

    status = 401
    code = "not_authenticated"
    title = "API key expired"


def principal_of_key(key: str) -> Principal | None:
    """Return the principal of the key; None for a key that is unknown, revoked or altered. Raises KeyExpired."""
    prefix, _, rest = key.partition("_")
    lookup = rest[:LOOKUP_CHARACTERS]
    if prefix != PREFIX or not lookup.isascii() or not lookup.isalnum():
        return None
    found = _find_key(lookup)
    if found is None or not hmac.compare_digest(found.hash, key_hash(key)):
        return None
    if found.expires is not None and found.expires <= timezone.now():
        raise KeyExpired(
            f"This key expired on {found.expires:%Y-%m-%d at %H:%M} UTC. Create a new one, or ask an admin for it."
        )
    _note_use(found)
    return _to_principal(found)


def principal_behind(ref: str) -> Principal | None:
    """Return the principal with this ref and its current rights, for work that continues after the request.

    Returns None if the person or key does not exist any more.
    """
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
    """A key with its agent's name and its teams: everything that a Principal needs, read by one query."""

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
    agent_clearance: int


# In SQL, because every request asks it, and Django takes longer to compose the query than PostgreSQL to answer it.
FIND_SQL = """
SELECT api_keys.id, lookup, hash, api_keys.name, scopes, last_used, expires, api_keys.agent_id, agents.name,
    ARRAY(
        SELECT team_id FROM api_key_grants JOIN agent_teams ON agent_teams.id = link_id
        WHERE key_id = api_keys.id AND agent_teams.agent_id = api_keys.agent_id
    ), coalesce(agents.clearance, 1)
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
        agent_clearance=found.agent_clearance,
    )


def _note_use(found: _KeyRow) -> None:
    now = timezone.now()
    if found.last_used is None or now - found.last_used > LAST_USED_PRECISION:
        ApiKey.objects.filter(pk=found.id).update(last_used=now)


def key_hash(key: str) -> str:
    """Return the keyed hash of a key, in hex, as its row stores it."""
    secret = hashlib.sha256(b"api-keys:" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(secret, key.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()
