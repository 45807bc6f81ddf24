"""Errors are returned as problem+json (RFC 9457) by the API, and as a page with the same words to people."""

import logging
from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import IntegrityError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from psycopg.errors import ForeignKeyViolation
from psycopg_pool import PoolTimeout
from rest_framework import exceptions
from rest_framework.response import Response

from config.http.errors import DossierError, Forbidden, NotFound, TooManyRequests
from config.http.preserve_post import resend_form

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
CODES = {  # of DRF's own errors; the detail is DRF's sentence
    400: ("bad_request", "This request cannot be read"),
    401: ("not_authenticated", "Sign-in is needed"),
    403: ("forbidden", "Access denied"),
    404: ("not_found", "Not found"),
    405: ("method_not_allowed", "This address does not take that method"),
    406: ("not_acceptable", "This can be had as application/json only"),
    415: ("unsupported_media_type", "Send application/json"),
    429: ("throttled", "Too many requests"),
}


class Busy(DossierError):
    status = 503
    code = "busy"
    title = "Dossier is busy"
    retry_after = 1


def problem_document(request: HttpRequest, error: DossierError) -> dict[str, Any]:
    """Return the members of RFC 9457, a stable `code`, the request's id, and the details of the error."""
    return {
        "type": f"urn:dossier:problem:{error.code}",
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
        "code": error.code,
        "request_id": getattr(request, "request_id", ""),
        **error.extra,
    }


def is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def error_response(request: HttpRequest, error: DossierError) -> HttpResponse:
    """Return the error as problem+json under /api/, as a page elsewhere."""
    if is_api(request):
        response: HttpResponse = JsonResponse(
            problem_document(request, error), status=error.status, content_type=MEDIA_TYPE
        )
    else:
        response = render(request, "error.html", {"error": error}, status=error.status)
    _add_headers(response, error)
    return response


def api_problem(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response for an error, as DRF's exception handler. Unexpected errors are left to ProblemMiddleware."""
    request = context["request"]._request  # noqa: SLF001 - DRF's name for Django's request
    error = as_dossier_error(exception)
    if error is None:
        return None
    response = Response(problem_document(request, error), status=error.status, content_type=MEDIA_TYPE)
    if isinstance(exception, exceptions.APIException) and getattr(exception, "auth_header", None):
        response["WWW-Authenticate"] = exception.auth_header  # type: ignore[attr-defined]
    _add_headers(response, error)
    return response


def _add_headers(response: HttpResponse, error: DossierError) -> None:
    """Add Retry-After, and for a limit the headers with how much of it is left."""
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, TooManyRequests):
        for name, value in error.headers:
            response.headers[name.decode()] = value.decode()


def as_dossier_error(exception: Exception) -> DossierError | None:
    """Return the error as a DossierError; None for an unexpected one."""
    if isinstance(exception, DossierError):
        return exception
    if isinstance(exception, exceptions.ValidationError):
        return _validation_error(exception)
    if isinstance(exception, exceptions.APIException):
        return _error_of_status(exception.status_code, str(exception.detail))
    if isinstance(exception, Http404):
        return NotFound()
    if isinstance(exception, PermissionDenied):
        return Forbidden()
    if isinstance(exception, SuspiciousOperation):
        return _error_of_status(400, "The request is malformed. Nothing was changed.")
    if isinstance(exception, IntegrityError) and isinstance(exception.__cause__, ForeignKeyViolation):
        return NotFound("Something that this belongs to")  # deleted by somebody else in the same moment
    if isinstance(exception, (PoolTimeout, OperationalError)):
        logger.warning("the database did not answer: %s", exception)
        return Busy("The database did not answer in time. Nothing was changed; try again in a moment.")
    return None


def _error_of_status(status: int, detail: str) -> DossierError:
    error = DossierError(detail)
    error.status = status
    error.code, error.title = CODES.get(status, ("error", "This did not work"))
    return error


def _validation_error(exception: exceptions.ValidationError) -> DossierError:
    error = DossierError("Correct the values named in `errors` and send the request again. Nothing was changed.")
    error.status, error.code, error.title = 422, "invalid", "Invalid values"
    error.extra["errors"] = _errors_by_field(exception.get_full_details())
    return error


def _errors_by_field(details: Any, path: str = "") -> dict[str, list[dict[str, str]]]:
    """Return DRF's nested details as `{"a.0.b": [{code, message}]}`; errors of the whole body have the key `body`."""
    if _is_error(details):
        return {
            _printable(path[:200]) or "body": [{"code": details["code"], "message": _printable(details["message"])}]
        }
    pairs = details.items() if isinstance(details, dict) else enumerate(details)
    found: dict[str, list[dict[str, str]]] = {}
    for name, inner in pairs:
        leaf = isinstance(details, list) and _is_error(inner)
        here = path if leaf or name == "non_field_errors" else f"{path}.{name}".lstrip(".")
        for field, errors in _errors_by_field(inner, here).items():
            found.setdefault(field, []).extend(errors)
    return found


def _is_error(details: Any) -> bool:
    """Return whether the details are one error, and not an object with fields, one of which may be called `message`."""
    return isinstance(details, dict) and "message" in details and isinstance(details.get("code"), str)


def _printable(text: object) -> str:
    """Return the text without lone surrogates, which a response in UTF-8 cannot contain; even field names may have
    them.
    """
    return str(text).encode(errors="replace").decode()


class ProblemMiddleware:
    """This middleware turns errors of all views into responses; the traceback of an unexpected one is only logged."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        error = as_dossier_error(exception)
        if error is None and is_api(request):
            logger.error("unexpected error", exc_info=exception)
            detail = f"Nothing was changed. Tell your admin the request id {getattr(request, 'request_id', '')}."
            error = DossierError(detail)
            error.status, error.code, error.title = 500, "internal_error", "Unexpected error"
        return error_response(request, error) if error else None


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    """Return the page for an address without a view (Django's handler404)."""
    return (
        error_response(request, NotFound("This address"))
        if is_api(request)
        else render(request, "404.html", status=404)
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    """Return the page for a request that Django's middleware refuses before any view (handler400)."""
    return error_response(request, _error_of_status(400, "The request is malformed. Nothing was changed."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django's signature
    """Return the page for a form that is outdated or came from elsewhere. A text in the form is given back."""
    refused = Forbidden("This page was open for too long, so nothing was saved. Go back, reload it and try again.")
    if "application/json" in request.headers.get("Accept", ""):
        return JsonResponse({"code": "page_too_old", "detail": refused.detail}, status=refused.status)
    return resend_form(request, signed_out=False, status=refused.status) or error_response(request, refused)
