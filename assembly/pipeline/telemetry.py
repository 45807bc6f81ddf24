"""Metrics and spans of assemblies are recorded here; the engine itself records none.

The names are those of the seed "Memory Layer" ("Resilience & Observability"). Labels are names given by Dossier or its
admins: layers, sources, profiles, codes; never an agent or a text.
"""

import logging
import math
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, wraps
from threading import Lock
from time import perf_counter
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import OperationalError
from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.metrics import MetricWrapperBase
from psycopg.errors import QueryCanceled

from assembly.engine.codes import SourceCode
from assembly.engine.quality import ContextQuality
from assembly.engine.rendering import edited_text_cache_bytes
from assembly.engine.scopes import SOURCE_SCOPES
from assembly.engine.tokenizers import count_cache_bytes
from assembly.engine.types import Decision, EngineResult
from assembly.models import Assembly
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.records.recorded_quality import context_quality
from assembly.sources.base import SourceReport, SourceResult
from assembly.sources.external.questions import EXTERNAL_SOURCE as EXTERNAL
from assembly.sources.external.questions import ExternalAnswer
from assembly.sources.readings import ReadWhen
from assembly.sources.time_budget import ReadCost
from config.caching.cache_metrics import CacheUsage
from config.observability.tracing import Attributes, span

logger = logging.getLogger(__name__)

Metric = TypeVar("Metric", bound=MetricWrapperBase)

DURATION = Histogram(
    "memory_assembly_duration_seconds",
    "From the question to the recorded answer, cached ones included.",
    ["profile"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
TOKENS = Counter("memory_assembly_tokens_total", "Tokens of the contexts that were answered.", ["profile"])
LEFT_OUT = Counter("memory_left_out_total", "Excluded candidates, by reason code.", ["code"])
TENTHS = [tenth / 10 for tenth in range(1, 11)]
COHERENCE = Histogram(
    "memory_coherence_score",
    "How well the items of a context fit together, if that is known of any: 0 to 1.",
    buckets=TENTHS,
)
COMPLETENESS = Histogram(
    "memory_completeness", "Share of the named entities that a context names: 0 to 1.", buckets=TENTHS
)
CONTRADICTIONS = Histogram(
    "memory_contradiction_rate",
    "Share of the items of a context that are in an unresolved conflict or repeat another one: 0 to 1.",
    buckets=(0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1),
)
QUALITY = Histogram("memory_quality", "Mean relevance of what a search found for a context: 0 to 1.", buckets=TENTHS)
LATENCY = Histogram(
    "memory_source_latency",
    "Seconds until a source had returned its candidates.",
    ["layer", "source"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
)
ERRORS = Counter("memory_source_errors_total", "Sources that did not answer.", ["layer", "source", "code"])
LOOKUPS = Counter("memory_cache_lookups_total", "Questions put to the cache of assemblies: hit or miss.", ["result"])
SUMMARIES = Counter(
    "memory_summaries_total",
    ("Summaries by model: made by it, known from before, or fallback to the extractive summariser."),
    ["model", "result"],
)
HIT_RATIO = Gauge("memory_cache_hit_ratio", "Hits per lookup since this process began; NaN before the first.")
HIT_RATIO.set(math.nan)


class CacheLookups:
    """The counts of cache hits and lookups of this process, and the ratio computed from these."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._hits = self._all = 0

    def count(self, *, hit: bool) -> None:
        with self._lock:
            self._all += 1
            self._hits += hit
            HIT_RATIO.set(self._hits / self._all)
        with_labels(LOOKUPS, "hit" if hit else "miss").inc()


cache_lookups = CacheLookups()

PREASSEMBLIES = Counter(
    "memory_preassemblies_total", "Contexts whose sources were read before anybody asked, because they were expected."
)
PREASSEMBLY = Counter(
    "memory_preassembly_lookups_total",
    "New contexts, by when their sources were read: before, as expected (hit), for another one (known), now (miss).",
    ["result"],
)


SECOND_ROUNDS = Counter(
    "memory_second_rounds_total",
    "Contexts that the first round left incomplete, by the outcome of the second.",
    ["outcome"],
)


STATEMENTS = Counter("memory_source_statements_total", "Statements that read sources for contexts.")
ROWS = Counter("memory_source_rows_total", "Rows that such statements returned.")
SUMMARY_TOKENS = Counter(
    "memory_summary_tokens_total",
    "Tokens of texts for summaries: sent to the model server, or received from it.",
    ["direction"],
)


def count_cost(read: ReadCost, summaries: Mapping[str, int]) -> dict[str, int]:
    """Return what the record stores about the cost of a new context, and count it. `summaries` are those of
    `summaries_cost`.

    Source: the "cost budget" of the seed "Memory Layer", which has no number. A report takes its place.
    """
    STATEMENTS.inc(read.statements)
    ROWS.inc(read.rows)
    with_labels(SUMMARY_TOKENS, "sent").inc(summaries["tokens_sent"])
    with_labels(SUMMARY_TOKENS, "received").inc(summaries["tokens_received"])
    return {"statements": read.statements, "rows": read.rows, **summaries}


def count_second_round(outcome: str) -> None:
    """Count a context that the first round left incomplete, by what became of the second one."""
    with_labels(SECOND_ROUNDS, outcome).inc()


_PREASSEMBLY_RESULTS: Mapping[ReadWhen, str] = {"ahead": "hit", "earlier": "known", "now": "miss"}


def count_preassembly(when: ReadWhen) -> None:
    """Count a new context by when its sources were read."""
    with_labels(PREASSEMBLY, _PREASSEMBLY_RESULTS[when]).inc()


_token_counts, _rendered_texts = CacheUsage("process", "token_counts"), CacheUsage("process", "rendered_texts")


def count_context(
    *, profile: str, tokens: int, decisions: Sequence[Decision], seconds: float, quality: ContextQuality
) -> None:
    """Count an answered context in the metrics, whether new or from the cache."""
    # The engine records no metrics of its own.
    _token_counts.use(*count_cache_bytes())
    _rendered_texts.use(*edited_text_cache_bytes())
    with_labels(DURATION, profile).observe(seconds)
    with_labels(TOKENS, profile).inc(tokens)
    for code, number in Tally([decision.code for decision in decisions if not decision.included]).items():
        with_labels(LEFT_OUT, code.value).inc(number)
    COMPLETENESS.observe(quality.completeness)
    CONTRADICTIONS.observe(quality.contradiction_rate)
    if quality.coherence_score is not None:
        COHERENCE.observe(quality.coherence_score)
    if quality.quality_achieved is not None:
        QUALITY.observe(quality.quality_achieved)


@lru_cache(maxsize=1_024)
def with_labels(metric: Metric, *labels: str) -> Metric:
    """Return the metric with these labels, cached because prometheus_client's lookup takes longer than the counting."""
    return metric.labels(*labels)


Asking = ParamSpec("Asking")


def traced_assembly(assemble: Callable[Asking, AssemblyResult]) -> Callable[Asking, AssemblyResult]:
    """Return the function with a span `assemble` around it, and with metrics counted for each answer."""

    @wraps(assemble)
    def watching(*args: Asking.args, **kwargs: Asking.kwargs) -> AssemblyResult:
        started = perf_counter()
        with span("assemble") as current:
            answer = assemble(*args, **kwargs)
            if current.is_recording():
                current.set_attributes(_result_attributes(answer))
        told = answer.assembly
        count_context(
            profile=told.profile_name,
            tokens=told.tokens,
            decisions=answer.decisions,
            seconds=perf_counter() - started,
            quality=context_quality(told, answer.content, answer.decisions),
        )
        return answer

    return watching


def _result_attributes(answer: AssemblyResult) -> Attributes:
    told = answer.assembly
    return {
        "assembly": str(told.id),
        "profile": told.profile_name,
        "budget": told.budget,
        "tokens": told.tokens,
        "considered": len(answer.decisions),
        "included": len(answer.decisions) - told.left_out,
        "left_out": told.left_out,
        "cache_hit": "repeats" in told.request,
        **_budget_attributes(told),
    }


def _budget_attributes(told: Assembly) -> Attributes:
    """Return the level of detail, if the profile has any, the time in ms and the least quality that the request had."""
    lod, time_ms = told.profile.get("lod"), told.request["budgets"]["time_ms"]
    return {
        **({"lod": lod} if lod else {}),
        "time_ms": settings.ASSEMBLY_TIME_MS if time_ms is None else time_ms,
        "quality_min": float(told.profile.get("quality_min", 0)),
    }


def engine_attributes(assembled: EngineResult) -> Attributes:
    """Return the span attributes of an engine result: how many candidates were considered, included and excluded."""
    included = sum(decision.included for decision in assembled.decisions)
    considered = len(assembled.decisions)
    return {"considered": considered, "included": included, "left_out": considered - included}


def read_traced(name: str, read: Callable[[], SourceResult], waited: float = 0.0) -> SourceResult:
    """Return what `read` returns, within a span and with the source's latency counted.

    `waited` is the seconds that the source waited for the database before this call.
    """
    layer, started = SOURCE_SCOPES[name], perf_counter() - waited
    with span(f"source {name}", {"source": name, "layer": layer}) as current:
        try:
            gathered = read()
            if current.is_recording():
                current.set_attributes({"rows": len(gathered.candidates), "limit": gathered.limit})
        finally:
            with_labels(LATENCY, layer, name).observe(perf_counter() - started)
    return gathered


def count_source_failure(name: str, code: SourceCode) -> None:
    """Count a failure of a source, its own or that of a read on which it depends."""
    with_labels(ERRORS, SOURCE_SCOPES[name], name, code.value).inc()


def log_late_sources(reports: Iterable[SourceReport], elapsed_ms: int) -> None:
    """Log the names of late sources in one line: a line for each would take time from the next source."""
    late = [report.name for report in reports if report.code is SourceCode.SOURCE_TIMEOUT]
    if late:
        logger.warning("late after %d ms: %s", elapsed_ms, ", ".join(late))


def count_external_answer(told: ExternalAnswer) -> None:
    """Count the latency, and the failure if any, of a request to an external source, which ran in another thread."""
    with_labels(LATENCY, SOURCE_SCOPES[EXTERNAL], EXTERNAL).observe(told.ms / 1000)
    if told.code:
        count_source_failure(EXTERNAL, told.code)


def error_code(error: Exception) -> SourceCode:
    """Return SOURCE_TIMEOUT for a timeout or a cancelled statement, SOURCE_FAILED for any other error."""
    cancelled = isinstance(error, OperationalError) and isinstance(error.__cause__, QueryCanceled)
    return SourceCode.SOURCE_TIMEOUT if cancelled or isinstance(error, TimeoutError) else SourceCode.SOURCE_FAILED
