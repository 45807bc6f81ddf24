"""How REST requests say who they are: `Authorization: Bearer <key>`."""

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from agents.keys import KeyExpired, principal_of_key
from teams.principal import Principal

CHALLENGE = 'Bearer realm="Dossier"'


class ApiKeyAuthentication(BaseAuthentication):
    """Sets `request.user` to the key's Principal."""

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
    """Tells the OpenAPI document about the keys."""

    target_class = "agents.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A key made on the pages, over REST or by `manage.py create_api_key`.",
        }
