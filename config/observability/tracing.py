"""Traces show what a request spent its time on. OpenTelemetry sends them if a collector is configured; otherwise they
cost nothing.

A span has counts, codes and ids. It never has texts or error messages.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from django.conf import settings
from django.http import HttpRequest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

Attributes = Mapping[str, str | int | float | bool]

EXPORT_SECONDS = 2.0
"""The time limit of a batch with its retries, in seconds: the end of the process waits no longer for a collector."""

_tracer: trace.Tracer = trace.NoOpTracer()
_propagator = TraceContextTextMapPropagator()


def span(
    name: str, attributes: Attributes | None = None, *, within: Context | None = None
) -> AbstractContextManager[Span]:
    """Start a span below the current one, or below the one in `within`. Of an error, it only records the class."""
    return _NO_SPAN if isinstance(_tracer, trace.NoOpTracer) else _span(name, attributes, within)


_NO_SPAN: AbstractContextManager[Span] = nullcontext(trace.INVALID_SPAN)


@contextmanager
def _span(name: str, attributes: Attributes | None, within: Context | None) -> Iterator[Span]:
    with _tracer.start_as_current_span(
        name, within, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current
        except BaseException as error:
            current.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


def caller_trace(request: HttpRequest) -> Context:
    """Return the trace in the caller's `traceparent`, if any."""
    return _propagator.extract(request.headers)


def start_tracing() -> None:
    """Send this process's traces to OTEL_EXPORTER_OTLP_ENDPOINT, from a thread; without the setting, create none.

    Traces that the collector does not accept are dropped: no request waits for it.
    """
    global _tracer  # noqa: PLW0603 - one of the process, as OpenTelemetry has it
    if not settings.TRACES_ENDPOINT or not isinstance(_tracer, trace.NoOpTracer):
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - a process that sends none need not load it
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider(resource=Resource.create({"service.name": settings.TRACES_SERVICE_NAME}))
    # The exporter reads its address and the other variables of OpenTelemetry by itself.
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=EXPORT_SECONDS)))
    _tracer = provider.get_tracer("dossier")
