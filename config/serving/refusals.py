"""Answers to requests that are not let in: problem+json for the API, a page for people, made without the database."""

import json
from typing import Any

from django.template.loader import render_to_string
from uuid_utils.compat import uuid7

from config.http.errors import DossierError
from config.http.problems import MEDIA_TYPE, problem_document
from config.serving.heavy_lane import Message, Send

REFUSAL_PAUSE_SECONDS = 0.5


class _Unread:
    """As much of a request as a problem document asks for."""

    def __init__(self) -> None:
        self.request_id = str(uuid7())


async def refuse(scope: Message, error: DossierError, send: Send) -> None:
    """Send the error as the answer."""
    request: Any = _Unread()
    seconds = error.retry_after or 1
    if scope["path"].startswith("/api/"):
        media_type, body = MEDIA_TYPE, json.dumps(problem_document(request, error)).encode()
    else:
        media_type = "text/html; charset=utf-8"
        body = render_to_string("refused.html", {"error": error, "seconds": seconds}).encode()
    headers = [
        (b"content-type", media_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", str(seconds).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", request.request_id.encode()),
        (b"content-security-policy", b"default-src 'none'; style-src 'self'; frame-ancestors 'none'"),
        *getattr(error, "headers", []),
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
