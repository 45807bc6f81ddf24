"""Watching an assembly from outside: its spans and its counts. The engine knows nothing of it."""

from collections.abc import Callable
from functools import wraps
from time import perf_counter
from typing import ParamSpec

from django.db import OperationalError
from psycopg.errors import QueryCanceled

from assembly.cache import Answer
from assembly.engine.codes import SourceCode
from assembly.engine.types import Assembled
from assembly.external import SOURCE as EXTERNAL
from assembly.external import Told
from assembly.metrics import ERRORS, LATENCY, count_context, labelled
from assembly.sources import SOURCES, Gathered
from config.http.tracing import Attributes, span

Asking = ParamSpec("Asking")


def watched(assemble: Callable[Asking, Answer]) -> Callable[Asking, Answer]:
    """A span `assemble` around the whole, and its counts once there is an answer."""

    @wraps(assemble)
    def watching(*args: Asking.args, **kwargs: Asking.kwargs) -> Answer:
        started = perf_counter()
        with span("assemble") as current:
            answer = assemble(*args, **kwargs)
            if current.is_recording():
                current.set_attributes(_facts(answer))
        told = answer.assembly
        count_context(
            profile=told.profile_name,
            tokens=told.tokens,
            decisions=answer.decisions,
            seconds=perf_counter() - started,
        )
        return answer

    return watching


def _facts(answer: Answer) -> Attributes:
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
    }


def ranked(assembled: Assembled) -> Attributes:
    """What the engine made of the candidates."""
    included = sum(decision.included for decision in assembled.decisions)
    considered = len(assembled.decisions)
    return {"considered": considered, "included": included, "left_out": considered - included}


def source_watched(name: str, read: Callable[[], Gathered], waited: float = 0.0) -> Gathered:
    """What the source reads, with a span and its latency; it `waited` so many seconds for the database before."""
    layer, started = SOURCES[name].scope, perf_counter() - waited
    with span(f"source {name}", {"source": name, "layer": layer}) as current:
        try:
            gathered = read()
            if current.is_recording():
                current.set_attributes({"rows": len(gathered.candidates), "limit": gathered.limit})
        finally:
            labelled(LATENCY, layer, name).observe(perf_counter() - started)
    return gathered


def source_failed(name: str, code: SourceCode) -> None:
    """Count a source that returned nothing, whether it failed itself or what it builds on did."""
    labelled(ERRORS, SOURCES[name].scope, name, code.value).inc()


def told_watched(told: Told) -> None:
    """Count what came of asking an external source, which was done elsewhere."""
    labelled(LATENCY, SOURCES[EXTERNAL].scope, EXTERNAL).observe(told.ms / 1000)
    if told.code:
        source_failed(EXTERNAL, told.code)


def code_of(error: Exception) -> SourceCode:
    """Whether a source failed for want of time, or otherwise."""
    cancelled = isinstance(error, OperationalError) and isinstance(error.__cause__, QueryCanceled)
    return SourceCode.SOURCE_TIMEOUT if cancelled or isinstance(error, TimeoutError) else SourceCode.SOURCE_FAILED
