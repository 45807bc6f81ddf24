"""Views that may be late are marked, and a read replica answers them if it can.

The mark is for audit pages, lists and trends. Whatever assembles a context, shows an object before it is changed, or
writes anything is never marked. See `config.db.replicas` for what a replica must have replayed.
"""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.core.exceptions import MiddlewareNotUsed
from django.db import connection, connections
from django.http import Http404, HttpRequest, HttpResponseBase

from config.db.replicas import (
    REQUESTS,
    UNAVAILABLE,
    Outcome,
    choose_replica,
    condition_of,
    note_write,
    reading_from,
    replica_aliases,
)
from config.http.errors import NotFound

logger = logging.getLogger(__name__)

READING = {"GET", "HEAD"}
NOT_FOUND = 404

View = TypeVar("View", bound=Callable[..., Any])


def may_be_late(view: View) -> View:
    """Return the view, a function or a method of an ApiView, which a replica may answer.

    What a replica lacks, and what fails there, is answered by the primary: a row that is not found, a conflict with
    replayed changes, a statement timeout of the replica, a broken connection.
    """

    @wraps(view)
    def answer(first: Any, *args: Any, **kwargs: Any) -> Any:
        request = first if isinstance(first, HttpRequest) else first.request
        if request.method not in READING or not replica_aliases():
            return view(first, *args, **kwargs)
        # The caller is known before: sessions and keys are read from the primary.
        choice = choose_replica(caller_ref(request.user))
        outcome: Outcome = choice.outcome
        if choice.alias:
            try:
                with reading_from(choice.alias):
                    response = view(first, *args, **kwargs)
                if response.status_code != NOT_FOUND:
                    REQUESTS.labels("replica").inc()
                    return response
                outcome = "not_found"
            except (NotFound, Http404):
                outcome = "not_found"
            except UNAVAILABLE as error:
                outcome = "failed"
                _note_failure(choice.alias, error)
        REQUESTS.labels(outcome).inc()
        return view(first, *args, **kwargs)

    answer.may_be_late = True  # type: ignore[attr-defined]  # for tests, which list the marked views
    return answer  # type: ignore[return-value]


def caller_ref(user: Any) -> str:
    """Return the ref of the user's principal, which the API has as its user; "" for nobody."""
    return str(getattr(getattr(user, "principal", user), "ref", ""))


def _note_failure(alias: str, error: BaseException) -> None:
    cause = error.__cause__ or error  # PostgreSQL's own class says more; messages may contain texts
    logger.warning("%s failed a request, which the primary answers: %s", alias, type(cause).__name__)
    replica = connections[alias]
    if not replica.is_usable():
        replica.close()
        condition_of(alias).note_failure(type(cause).__name__)


class LastWriteMiddleware:
    """This middleware stores the position in the write-ahead log after each request that may have written, so that its
    caller reads no replica that lacks it.

    Without replicas, it is not used.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not replica_aliases():
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method not in READING and (caller := caller_ref(request.user)):
            _store_position(caller)
        return response


def _store_position(caller: str) -> None:
    try:
        note_write(caller)
    except UNAVAILABLE:
        connection.close()  # the next one may be alive
        try:
            note_write(caller)
        except UNAVAILABLE:
            logger.exception("a caller may read from replicas without their last change")
