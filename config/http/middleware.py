"""Small middlewares: X-Request-ID, the no-store header of private pages, and compression of pages.

Answers of the API are not compressed: programs that are near wait for them.
"""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from uuid_utils.compat import uuid7

from config.http.problems import is_api


class NoStoreMiddleware:
    """Goes first, and gives every response that says nothing else about it `Cache-Control: private, no-store`.

    Pages and answers of the API hold what a team's files, logs and memories say, and pages about signing in hold
    secrets: none of it may stay in a browser's cache after the person has signed out. Static files, which name their
    own time, are not touched. An ETag is compared with what the caller sends, so conditional requests answer 304 and
    412 as before.
    """

    HEADER = "private, no-store"

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", self.HEADER)
        return response


ACCEPTABLE = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")


class RequestIDMiddleware:
    """Sets `request.request_id` and echoes it. An id with unexpected characters is replaced, not repeated."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.headers.get("X-Request-ID", "")
        request_id = sent if ACCEPTABLE.fullmatch(sent) else str(uuid7())
        request.request_id = request_id  # type: ignore[attr-defined]
        response = self.get_response(request)
        response.headers["X-Request-ID"] = request_id
        return response


BODILESS = {204, 304}


class PageCompressionMiddleware(GZipMiddleware):
    """Compresses what browsers read. Each page gets some random bytes beside, so that its length tells nothing about
    the secrets in it (BREACH)."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        # An answer without a body must stay without one: compressed, nothing becomes twenty bytes.
        if is_api(request) or response.status_code in BODILESS:
            return response
        return super().process_response(request, response)
