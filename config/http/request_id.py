"""Every response says which request it answers: X-Request-ID, the caller's own or a new one."""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from uuid_utils.compat import uuid7

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
