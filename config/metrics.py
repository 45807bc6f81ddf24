"""`/metrics`: what this process counted, in the text format of Prometheus."""

import hmac
import ipaddress

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import OperationalError
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, Gauge, disable_created_metrics, generate_latest
from psycopg_pool import PoolTimeout

import assembly.metrics  # noqa: F401 - registers what it counts, also before the first context is assembled
from config.http.problems import page_not_found
from memories.jobs import UNFINISHED
from memories.models import Job

OF_PROXIES = ("X-Forwarded", "X-Real-Ip", "Forwarded", "Via")

JOBS = Gauge("memory_jobs", "Jobs that are not done yet, of all processes.", ["status"])

disable_created_metrics()  # type: ignore[no-untyped-call]


@csrf_exempt  # who may not read it is told that it is not there, whatever the method
@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """For who knows METRICS_TOKEN; where none is set, for this very machine."""
    return _document(request) if _may_read(request) else page_not_found(request, Http404())


@require_safe
def _document(_: HttpRequest) -> HttpResponse:
    _count_jobs()
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)


def _may_read(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        expected = f"Bearer {settings.METRICS_TOKEN}"
        return hmac.compare_digest(request.headers.get("Authorization", "").encode(), expected.encode())
    return _is_loopback(request.META.get("REMOTE_ADDR", "")) and not any(
        name.startswith(OF_PROXIES) for name in request.headers
    )


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _count_jobs() -> None:
    """One query, of an index that holds unfinished jobs alone. A database that is away hides no other metric."""
    jobs = Job.objects.filter(status__in=UNFINISHED).order_by().values_list("status").annotate(Count("id"))
    try:
        found = dict(jobs)
    except (OperationalError, PoolTimeout):
        JOBS.clear()
        return
    for status in UNFINISHED:
        JOBS.labels(status.value).set(found.get(status, 0))
