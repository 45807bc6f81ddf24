"""These middlewares add X-Request-ID, set the no-store header of private pages, and compress pages.

API responses are not compressed: programs on fast networks would wait for it.
"""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from uuid_utils.compat import uuid7

from config.http.problems import is_api


class NoStoreMiddleware:
    """This middleware sets `Cache-Control: private, no-store` on every response without a Cache-Control header of its
    own.

    Pages and API responses contain texts of teams, and sign-in pages contain secrets: none of it may remain in a
    browser's cache after the person has signed out. Static files have a header of their own. ETags are compared with
    what the client sends, so conditional requests work as usual.
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
    """This middleware sets `request.request_id` and returns it as a header.

    An id with unexpected characters is replaced.
    """

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
    """This middleware compresses pages.

    Each page gets some random bytes, so that its length tells nothing about the secrets in it (BREACH).
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        # An answer without a body must stay without one: compressed, nothing becomes twenty bytes.
        if is_api(request) or response.status_code in BODILESS:
            return response
        return super().process_response(request, response)
