"""With an Idempotency-Key, the first request has an effect, and repeated requests get the same response.

The row is inserted in the transaction of the effect, so that both are stored or neither. A repeated request that
arrives while the first is in progress waits for it at the row's unique index. Responses are stored encrypted, because
they may have confidential texts.
"""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from config.db.statements import execute_sql
from config.http.encryption import UndecryptableSecret, decrypt, encrypt
from config.http.errors import DossierError, Invalid
from config.http.models import IdempotentRequest
from config.http.notes import add_notes
from config.http.serializers import FastJSONRenderer

RETENTION = timedelta(hours=24)
MAX_KEY_CHARACTERS = 200
REPEATED_HEADERS = ("ETag", "Location")
ENCRYPTED_START = "gAAAA"
"""The beginning of every Fernet token, and of no JSON."""


class KeyReused(DossierError):
    status = 422
    code = "idempotency_key_reused"
    title = "This Idempotency-Key was used for another request"


class RepeatableResponse(Response):
    """A response that differs when it is repeated: a secret that is shown once must not be stored."""

    def __init__(self, data: Any, status: int, *, headers: dict[str, str], repeated: Any) -> None:
        super().__init__(data, status, headers=headers)
        self.repeated = repeated


class AnswerNotVisible(DossierError):
    status = 403
    code = "answer_out_of_reach"
    title = "Your permissions changed"


def idempotent(handler: Callable[..., Response]) -> Callable[..., HttpResponse]:
    """Return the handler with support for Idempotency-Key. Errors are not stored: the key can be used
    again after one.
    """

    @wraps(handler)
    def answer(view: Any, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        def handle() -> Response:
            return add_notes(request._request, handler(view, request, *args, **kwargs))  # noqa: SLF001 - as DRF names it

        key = request.headers.get("Idempotency-Key")
        if key is None:
            return handle()
        if not key.isascii() or not key.isprintable() or not 1 <= len(key) <= MAX_KEY_CHARACTERS:
            raise Invalid("Idempotency-Key", f"Use 1 to {MAX_KEY_CHARACTERS} printable ASCII characters.")
        with transaction.atomic():
            return _answer_once(request, key, handle)

    return answer


def _answer_once(request: Request, key: str, handle: Callable[[], Response]) -> HttpResponse:
    principal: Any = request.user  # of an app above this one
    address = {
        "principal": principal.ref,
        "method": request.method,
        "path": request.path[:500],
        "key": key,
    }
    body, reach = hashlib.sha256(request.body).hexdigest(), principal.reach
    _delete_expired()
    if not _claim_key(address, body, reach):
        return _repeat(IdempotentRequest.objects.get(**address), body, reach)
    response = handle()
    IdempotentRequest.objects.filter(**address).update(
        status=response.status_code,
        headers={name: response[name] for name in REPEATED_HEADERS if name in response},
        body=encrypt(FastJSONRenderer().render(getattr(response, "repeated", response.data)).decode()),
    )
    return response


CLAIM_SQL = """
INSERT INTO idempotent_requests (principal, method, path, key, body_sha256, reach, headers, body, created)
    VALUES (%s, %s, %s, %s, %s, %s, '{}', '', now()) ON CONFLICT DO NOTHING
"""


def _claim_key(address: dict[str, Any], body: str, reach: list[str]) -> bool:
    return bool(execute_sql(CLAIM_SQL, [*address.values(), body, json.dumps(reach)]))


def _repeat(first: IdempotentRequest, body: str, reach: list[str]) -> HttpResponse:
    if first.body_sha256 != body:
        raise KeyReused("Use a new key for a new request. Nothing was changed by this one.")
    if not set(first.reach) <= set(reach):
        raise AnswerNotVisible(
            "The request was processed before and is not repeated. Its response contains data that "
            "you may no longer see: read what you may see now."
        )
    response = HttpResponse(
        _stored_body(first), status=first.status, content_type="application/json", headers=first.headers
    )
    response["Idempotency-Replayed"] = "true"
    return response


def _stored_body(first: IdempotentRequest) -> str:
    """Return the stored response. Before responses were encrypted, they were stored as JSON."""
    if not first.body.startswith(ENCRYPTED_START):
        return first.body
    try:
        return decrypt(first.body)
    except UndecryptableSecret:
        raise AnswerNotVisible(
            "The request was processed before and is not repeated. Its response can no longer be decrypted: read what "
            "the request made."
        ) from None


def _delete_expired() -> None:
    old = IdempotentRequest.objects.filter(created__lt=timezone.now() - RETENTION)
    old.filter(id__in=old.select_for_update(skip_locked=True).values("id")[:20]).delete()
