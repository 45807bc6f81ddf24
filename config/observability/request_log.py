"""Every request has a line in the log, a trace if traces are enabled, and is counted in the metrics."""

import logging
from collections.abc import Callable
from time import perf_counter

from django.http import HttpRequest, HttpResponseBase
from opentelemetry.trace import Span
from prometheus_client import Counter, Histogram

from config.observability.request_context import CURRENT_REQUEST, route_of
from config.observability.tracing import caller_trace, span

logger = logging.getLogger(__name__)

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

REQUESTS = Counter("http_requests_total", "Requests by the class of their status.", ["route", "method", "status"])
SECONDS = Histogram("http_request_duration_seconds", "From the first middleware to the last.", ["route", "method"])


class RequestLogMiddleware:
    """This middleware comes right after RequestIDMiddleware: everything after it, also errors, is within its span."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started, token = perf_counter(), CURRENT_REQUEST.set(request)
        try:
            with span("request", within=caller_trace(request)) as current:
                response = self.get_response(request)
                _describe_span(current, request, response)
            if not getattr(request, "scope", {}).get("was_stopped"):  # another process answers it, and counts it
                _count(request, response, perf_counter() - started)
            return response
        finally:
            CURRENT_REQUEST.reset(token)


def _describe_span(current: Span, request: HttpRequest, response: HttpResponseBase) -> None:
    current.set_attributes(
        {
            "http.request.method": _method(request),
            "http.route": route_of(request),
            "http.response.status_code": response.status_code,
            "request_id": getattr(request, "request_id", ""),
        }
    )


def _count(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    route, method, status = route_of(request), _method(request), response.status_code
    REQUESTS.labels(route, method, f"{status // 100}xx").inc()
    SECONDS.labels(route, method).observe(seconds)
    logger.info("request", extra={"method": method, "status": status, "ms": round(seconds * 1000)})


def _method(request: HttpRequest) -> str:
    """Return the method, or "other": clients may send any method, and each would become a label of the metrics."""
    return request.method if request.method in METHODS else "other"
