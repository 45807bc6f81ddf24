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
from assembly.pipeline.shared_answers import shared_answers
from assembly.records.followers import queue_status
from config.caching.cache_metrics import LIMIT_BYTES, USED_BYTES
from config.db.replicas import condition_of, load_primary_state, load_replica_state, replica_aliases
from config.http.problems import page_not_found
from config.observability.metrics_files import forget_ended_processes, is_multiprocess
from memories.embeddings.topic_vectors import topic_vectors
from memories.jobs.services import UNFINISHED
from memories.lifecycle.hourly_run import last_budget_share
from memories.models import Job
from teams.sensitivity import reading_everything

PROXY_HEADERS = ("X-Forwarded", "X-Real-Ip", "Forwarded", "Via")

HIT_RATIO = "memory_cache_hit_ratio"
PREASSEMBLY_RATIO = "memory_preassembly_hits_ratio"

disable_created_metrics()  # type: ignore[no-untyped-call]


@csrf_exempt  # who may not read it is told that it is not there, whatever the method
@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics to clients that know METRICS_TOKEN; without a token, to this machine only."""
    return _document(request) if _may_read(request) else page_not_found(request, Http404())


@require_safe
def _document(_: HttpRequest) -> HttpResponse:
    if is_multiprocess():
        forget_ended_processes()
    stored = _JobsCollector(), _NewRecordsCollector(), _ConflictsCollector(), _BudgetCollector(), _ReplicasCollector()
    registry = _registry(_ProcessesCollector(), *stored)
    with reading_everything():  # numbers alone are told
        return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


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


def _registry(*collectors: Collector) -> CollectorRegistry:
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    return registry


class _ProcessesCollector(Collector):
    """A collector of what web processes count, summed over all of them, also ended ones.

    Ratios are computed from the sums. The memory of caches that processes share is read where they are: a store that
    does not answer hides no other metric.
    """

    def collect(self) -> Iterator[Metric]:
        families = list(MultiProcessCollector(None).collect() if is_multiprocess() else REGISTRY.collect())  # type: ignore[no-untyped-call]
        found = {family.name: family for family in families if family.name != HIT_RATIO}
        for cache in (shared_answers(), topic_vectors()):
            if memory := cache.used_and_limit():
                labels = {"tier": cache.tier, "cache": cache.name}
                for name, value in zip((USED_BYTES, LIMIT_BYTES), memory, strict=True):
                    family = found[name]
                    family.samples = [one for one in family.samples if one.labels != labels]
                    family.add_sample(name, labels, value)
        yield from found.values()
        yield _hit_ratio(families)
        yield _preassembly_ratio(families)
        yield from _utilisation(found[USED_BYTES], found[LIMIT_BYTES])


def _hit_ratio(families: Iterable[Metric]) -> Metric:
    words = "Hits per lookup since the web processes began; NaN before the first."
    return GaugeMetricFamily(HIT_RATIO, words, value=_share_of_hits(families, "memory_cache_lookups_total"))


def _preassembly_ratio(families: Iterable[Metric]) -> Metric:
    words = "Contexts whose sources had been read ahead, per context that no earlier one had read for; NaN without any."
    return GaugeMetricFamily(
        PREASSEMBLY_RATIO, words, value=_share_of_hits(families, "memory_preassembly_lookups_total")
    )


def _share_of_hits(families: Iterable[Metric], counter: str) -> float:
    found = {
        sample.labels["result"]: sample.value
        for family in families
        for sample in family.samples
        if sample.name == counter
    }
    lookups = found.get("hit", 0.0) + found.get("miss", 0.0)
    return found.get("hit", 0.0) / lookups if lookups else math.nan


def _utilisation(used: Metric, limits: Metric) -> Iterator[Metric]:
    """Yield what caches use of what they may use: each cache, and all caches of a tier that hold anything together."""
    words = "Bytes of memory that a cache uses, per byte that it may use; below 0.8 there is room."
    each = GaugeMetricFamily("memory_utilisation_ratio", words, labels=["tier", "cache"])
    words = "Bytes of memory that the caches of a tier use together, per byte that they may use."
    together = GaugeMetricFamily("memory_tier_utilisation_ratio", words, labels=["tier"])
    most = {(one.labels["tier"], one.labels["cache"]): one.value for one in limits.samples}
    of_tier: dict[str, tuple[float, float]] = {}
    for one in used.samples:
        tier, cache = one.labels["tier"], one.labels["cache"]
        if limit := most.get((tier, cache)):
            each.add_metric([tier, cache], one.value / limit)
            so_far = of_tier.get(tier, (0.0, 0.0))
            of_tier[tier] = so_far[0] + one.value, so_far[1] + limit
    for tier, (bytes_, limit) in of_tier.items():
        together.add_metric([tier], bytes_ / limit)
    yield from (each, together)


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
        yield GaugeMetricFamily("memory_budget_ratio", words, value=math.nan if share is None else share)


class _ConflictsCollector(Collector):
    """A collector that counts conflicts with one query of an index of open ones."""

    def collect(self) -> Iterator[Metric]:
        try:
            count = count_open_conflicts()
        except (OperationalError, PoolTimeout):
            return
        words = "Conflicts of texts that wait for a person, without duplicates."
        yield GaugeMetricFamily("memory_conflicts_open", words, value=count)


class _ReplicasCollector(Collector):
    """A collector of how far the read replicas are; there is nothing without replicas."""

    def collect(self) -> Iterator[Metric]:
        if not (aliases := replica_aliases()):
            return
        words = "Whether the read replica answers as a standby: 1 or 0."
        up = GaugeMetricFamily("database_replica_up", words, labels=["replica"])
        words = "Seconds that the read replica is behind the primary, at most; 0 if it has replayed everything."
        lag = GaugeMetricFamily("database_replica_lag_seconds", words, labels=["replica"])
        try:
            primary = load_primary_state()
        except (OperationalError, PoolTimeout):
            return
        for alias in aliases:
            state = load_replica_state(primary, condition_of(alias))
            up.add_metric([alias], int(state is not None))
            if state:
                lag.add_metric([alias], state.lag_seconds)
        yield up
        yield lag
