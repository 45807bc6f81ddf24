"""`/metrics` shows the counts of the web processes of this `serve`, in the text format of Prometheus."""

import hmac
import ipaddress
import math
from collections.abc import Iterable, Iterator

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import OperationalError
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, disable_created_metrics, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from psycopg_pool import PoolTimeout

import assembly.pipeline.telemetry  # noqa: F401 - registers what it counts, also before the first context is assembled
from assembly.conflicts.find import count_open_conflicts
from assembly.records.followers import queue_status
from config.http.problems import page_not_found
from config.observability.metrics_files import is_multiprocess
from memories.jobs.services import UNFINISHED
from memories.lifecycle.hourly_run import last_budget_share
from memories.models import Job

PROXY_HEADERS = ("X-Forwarded", "X-Real-Ip", "Forwarded", "Via")

HIT_RATIO = "memory_cache_hit_ratio"

disable_created_metrics()  # type: ignore[no-untyped-call]


@csrf_exempt  # who may not read it is told that it is not there, whatever the method
@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics to clients that know METRICS_TOKEN; without a token, to this machine only."""
    return _document(request) if _may_read(request) else page_not_found(request, Http404())


@require_safe
def _document(_: HttpRequest) -> HttpResponse:
    text = generate_latest(_multiprocess_registry() if is_multiprocess() else REGISTRY)
    waiting = generate_latest(
        _registry(_JobsCollector(), _NewRecordsCollector(), _ConflictsCollector(), _BudgetCollector())
    )
    return HttpResponse(text + waiting, content_type=CONTENT_TYPE_LATEST)


def _may_read(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        expected = f"Bearer {settings.METRICS_TOKEN}"
        return hmac.compare_digest(request.headers.get("Authorization", "").encode(), expected.encode())
    return _is_loopback(request.META.get("REMOTE_ADDR", "")) and not any(
        name.startswith(PROXY_HEADERS) for name in request.headers
    )


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _multiprocess_registry() -> CollectorRegistry:
    return _registry(_AllProcessesCollector())


def _registry(*collectors: Collector) -> CollectorRegistry:
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    return registry


class _AllProcessesCollector(Collector):
    """A collector that sums over all web processes, also ended ones. A ratio is computed from the sums."""

    def collect(self) -> Iterator[Metric]:
        families = list(MultiProcessCollector(None).collect())  # type: ignore[no-untyped-call]
        yield from (family for family in families if family.name != HIT_RATIO)
        yield _hit_ratio(families)


def _hit_ratio(families: Iterable[Metric]) -> Metric:
    found = {
        sample.labels["result"]: sample.value
        for family in families
        for sample in family.samples
        if sample.name == "memory_cache_lookups_total"
    }
    lookups, hits = sum(found.values()), found.get("hit", 0.0)
    words = "Hits per lookup since the web processes began; NaN before the first."
    return GaugeMetricFamily(HIT_RATIO, words, value=hits / lookups if lookups else math.nan)


class _JobsCollector(Collector):
    """A collector that counts jobs with one query of an index of unfinished jobs.

    A failing database hides no other metric.
    """

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily("memory_jobs", "Jobs that are not done yet, of all processes.", labels=["status"])
        jobs = Job.objects.filter(status__in=UNFINISHED).order_by().values_list("status").annotate(Count("id"))
        try:
            found = dict(jobs)
        except (OperationalError, PoolTimeout):
            return
        for status in UNFINISHED:
            family.add_metric([status.value], found.get(status, 0))
        yield family


class _NewRecordsCollector(Collector):
    """A collector that counts new records with one query of a queue that is empty within seconds if a worker runs."""

    def collect(self) -> Iterator[Metric]:
        try:
            queue = queue_status()
        except (OperationalError, PoolTimeout):
            return
        words = "Records of contexts that are not sealed, counted and watched yet; parked: given up until another try."
        family = GaugeMetricFamily("memory_new_records", words, labels=["status"])
        family.add_metric(["waiting"], queue.waiting)
        family.add_metric(["parked"], queue.parked)
        yield family
        age = "Age of the oldest record that waits, in seconds; 0 if none waits."
        yield GaugeMetricFamily("memory_new_records_oldest_seconds", age, value=queue.oldest_seconds)


class _BudgetCollector(Collector):
    """A collector of the share of the budget for stored texts, which the lifecycle run found last."""

    def collect(self) -> Iterator[Metric]:
        try:
            share = last_budget_share()
        except (OperationalError, PoolTimeout):
            return
        words = (
            "Share of MEMORY_BUDGET_MB that hot and warm texts took in the last lifecycle run; NaN without a budget."
        )
        yield GaugeMetricFamily("memory_utilisation_ratio", words, value=math.nan if share is None else share)


class _ConflictsCollector(Collector):
    """A collector that counts conflicts with one query of an index of open ones."""

    def collect(self) -> Iterator[Metric]:
        try:
            count = count_open_conflicts()
        except (OperationalError, PoolTimeout):
            return
        words = "Conflicts of texts that wait for a person, without duplicates."
        yield GaugeMetricFamily("memory_conflicts_open", words, value=count)
