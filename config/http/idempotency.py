"""With an Idempotency-Key, the first request has an effect, and repeated requests get the same response.

The row is inserted in the transaction of the effect, so that both are stored or neither. A repeated request that
arrives while the first is in progress waits for it at the row's unique index. Responses are stored encrypted, because
they may have confidential texts.

A response is not told again to a caller that may read less than then, nor after a text became more sensitive, whatever
text that was: what a response tells is not known. It can be read where the request stored it, as far as the caller may.
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

from config.db.migration_helpers import RAISED
from config.db.statements import execute_sql, fetch_rows
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
ADMIN = "admin"
"""The word in a principal's reach that says that it reads everything."""


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
    """The request was processed, and its response may not be told again. `location` is the address of what it made."""

    status = 403
    code = "answer_out_of_reach"
    title = "The response is not told again"

    def __init__(self, first: IdempotentRequest, reason: str) -> None:
        location = first.headers.get("Location")
        where = f"Read {location}" if location else "Read what you asked for"
        super().__init__(
            f"The request was processed before, and nothing was done now. {reason} {where}, as far as you may read it.",
            **({"location": location} if location else {}),
        )


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


RAISED_SQL = "SELECT coalesce(sum(value), 0)::bigint FROM change_counters WHERE owner = %s"
# Counted before the handler reads anything, so that what is raised meanwhile makes a difference.
CLAIM_SQL = f"""
INSERT INTO idempotent_requests (principal, method, path, key, body_sha256, reach, headers, body, created, raised)
    VALUES (%s, %s, %s, %s, %s, %s, '{{}}', '', now(), ({RAISED_SQL})) ON CONFLICT DO NOTHING
"""  # noqa: S608 - only the constant above is put in


def _claim_key(address: dict[str, Any], body: str, reach: list[str]) -> bool:
    return bool(execute_sql(CLAIM_SQL, [*address.values(), body, json.dumps(reach), RAISED]))


def _repeat(first: IdempotentRequest, body: str, reach: list[str]) -> HttpResponse:
    if first.body_sha256 != body:
        raise KeyReused("Use a new key for a new request. Nothing was changed by this one.")
    if not set(first.reach) <= set(reach):
        raise AnswerNotVisible(first, "Its response contains data that you may no longer see.")
    if ADMIN not in reach and fetch_rows(RAISED_SQL, [RAISED]) != [(first.raised,)]:
        raise AnswerNotVisible(first, "Texts became more sensitive since, and its response may tell one of them.")
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
        raise AnswerNotVisible(first, "Its response can no longer be decrypted.") from None


def _delete_expired() -> None:
    old = IdempotentRequest.objects.filter(created__lt=timezone.now() - RETENTION)
    old.filter(id__in=old.select_for_update(skip_locked=True).values("id")[:20]).delete()
