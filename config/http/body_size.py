"""The size of a request body is limited by its address, and by whether the request has a credential.

Forms and serializers limit it further. Both the server, before it reads a body, and Django's middleware call
`body_error`: a body that will be refused is not read, and every refusal is a proper error response.
"""

from collections.abc import Callable, Mapping

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from config.http.errors import DossierError
from config.http.problems import error_response

SMALL_FORM_BYTES = 64_000
SMALL_FORMS = ("/accounts/", "/people/", "/alerts/", "/jobs/", "/retention/", "/webhooks/", "/metrics", "/static/")
"""Prefixes of the addresses of forms with a few short fields, and of requests without a body."""
WITHOUT_CREDENTIAL_BYTES = 1_000_000
"""The limit, in bytes, without a key or a session.

The response is nearly always an error then; a text that a person sent after the session had ended still fits, and is
given back.
"""
URLENCODED, URLENCODED_BYTES = "application/x-www-form-urlencoded", 1_000_000
"""The largest urlencoded form: each encoded byte takes 50 bytes of memory while it is decoded.

Our pages send forms with long texts as multipart/form-data.
"""
REFUSAL = "body_refusal"
"""The key of an ASGI scope for the error because of which the body was not read."""


class BodyTooLarge(DossierError):
    status = 413
    code = "body_too_large"
    title = "The request is too large"


class LengthRequired(DossierError):
    status = 411
    code = "length_required"
    title = "The length of the body is missing"


def body_error(path: str, announced: int, headers: Mapping[str, str]) -> DossierError | None:
    """Return why a body is refused before it is read, or None. `announced` is its Content-Length in bytes.

    Header names may be in any case.
    """
    if headers.get("Transfer-Encoding"):
        return LengthRequired("Send a Content-Length header instead of a chunked body.")
    if announced > URLENCODED_BYTES and headers.get("Content-Type", "").lower().startswith(URLENCODED):
        return BodyTooLarge(
            f"A percent-encoded form holds at most {URLENCODED_BYTES:,} bytes; it has {announced:,}. Nothing was "
            "stored. Send it as multipart/form-data."
        )
    has_credential = _has_credential(headers.get("Authorization", ""), headers.get("Cookie", ""))
    if announced <= (most := max_body_bytes(path, has_credential=has_credential)):
        return None
    detail = f"This request may have at most {most:,} bytes; it has {announced:,}. Nothing was stored."
    if announced <= max_body_bytes(path, has_credential=True):
        return BodyTooLarge(f"{detail} Sign in, or send a key, and try again.")
    return BodyTooLarge(f"{detail} Send it in smaller parts.")


def max_body_bytes(path: str, *, has_credential: bool) -> int:
    """Return the size of the largest body that is accepted at an address, in bytes; at least SMALL_FORM_BYTES."""
    if path.startswith(SMALL_FORMS):
        return SMALL_FORM_BYTES
    most: int = settings.MAX_BODY_BYTES
    return most if has_credential else min(most, WITHOUT_CREDENTIAL_BYTES)


def _has_credential(authorization: str, cookie: str) -> bool:
    """Return whether the headers contain a key or a session, valid or not."""
    return bool(authorization) or f"{settings.SESSION_COOKIE_NAME}=" in cookie


class BodyLimitMiddleware:
    """This middleware answers requests whose body is refused."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        error = getattr(request, "scope", {}).get(REFUSAL) or self._refusal(request)
        return error_response(request, error) if error else self.get_response(request)

    def _refusal(self, request: HttpRequest) -> DossierError | None:
        length = request.headers.get("Content-Length", "")
        announced = int(length) if length.isdecimal() else 0
        return body_error(request.path_info, announced, request.headers)
