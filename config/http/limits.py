"""The largest body that is read at all; what fits is limited further by each form and serializer."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from config.http.errors import DossierError
from config.http.problems import error_response


class BodyTooLarge(DossierError):
    status = 413
    code = "body_too_large"
    title = "This is too much at once"


class LengthRequired(DossierError):
    status = 411
    code = "length_required"
    title = "The length of the body is missing"


class BodyLimitMiddleware:
    """Refuses a body over MAX_BODY_BYTES, and one whose length is not told beforehand."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        length = request.headers.get("Content-Length", "")
        if "chunked" in request.headers.get("Transfer-Encoding", ""):
            error = LengthRequired("Send a Content-Length header instead of a chunked body.")
            return error_response(request, error)
        if length.isdecimal() and int(length) > settings.MAX_BODY_BYTES:
            detail = f"A request holds at most {settings.MAX_BODY_BYTES:,} bytes; this one has {int(length):,}."
            return error_response(request, BodyTooLarge(f"{detail} Nothing was stored. Send it in smaller parts."))
        return self.get_response(request)
