"""The largest body of a request, by its address and by whether it brings a credential; what fits is limited further by
each form and serializer.

Both the server, before it reads a body, and Django's middleware ask `body_error`: nothing that will be refused is
read first, and every refusal is an answer in our words.
"""

from collections.abc import Callable, Mapping

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from config.http.errors import DossierError
from config.http.problems import error_response

SMALL_FORM_BYTES = 64_000
SMALL_FORMS = ("/accounts/", "/people/", "/alerts/", "/jobs/", "/retention/", "/webhooks/", "/metrics", "/static/")
"""Begin the addresses of forms that have a few short fields, and of what takes no body at all."""
WITHOUT_CREDENTIAL_BYTES = 1_000_000
"""Without a key or a session, the answer is nearly always that one is needed. A text that somebody wrote and sent after
the session had ended still fits: it is given back."""
URLENCODED, URLENCODED_BYTES = "application/x-www-form-urlencoded", 1_000_000
"""The largest form whose fields are percent-encoded: each encoded byte takes 50 bytes of memory while it is decoded.
Forms with long texts are sent as multipart/form-data, as our pages do."""
REFUSAL = "body_refusal"
"""Key of an ASGI scope: the error for which its body was not read."""


class BodyTooLarge(DossierError):
    status = 413
    code = "body_too_large"
    title = "This is too much at once"


class LengthRequired(DossierError):
    status = 411
    code = "length_required"
    title = "The length of the body is missing"


def body_error(path: str, announced: int, headers: Mapping[str, str]) -> DossierError | None:
    """Return why a body is refused before it is read, or None. `announced` is its Content-Length in bytes.

    The headers are found by their names as the web writes them, in any case: `Content-Type`.
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
    detail = f"This request holds at most {most:,} bytes; it has {announced:,}. Nothing was stored."
    if announced <= max_body_bytes(path, has_credential=True):
        return BodyTooLarge(f"{detail} Sign in, or send a key, and try again.")
    return BodyTooLarge(f"{detail} Send it in smaller parts.")


def max_body_bytes(path: str, *, has_credential: bool) -> int:
    """Return the size of the largest body that is read at an address. No address has less than SMALL_FORM_BYTES."""
    if path.startswith(SMALL_FORMS):
        return SMALL_FORM_BYTES
    most: int = settings.MAX_BODY_BYTES
    return most if has_credential else min(most, WITHOUT_CREDENTIAL_BYTES)


def _has_credential(authorization: str, cookie: str) -> bool:
    """Return whether a request brings a key or a session, by its headers; whether they are good is for later."""
    return bool(authorization) or f"{settings.SESSION_COOKIE_NAME}=" in cookie


class BodyLimitMiddleware:
    """Answers requests whose body is refused."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        error = getattr(request, "scope", {}).get(REFUSAL) or self._refusal(request)
        return error_response(request, error) if error else self.get_response(request)

    def _refusal(self, request: HttpRequest) -> DossierError | None:
        length = request.headers.get("Content-Length", "")
        announced = int(length) if length.isdecimal() else 0
        return body_error(request.path_info, announced, request.headers)
