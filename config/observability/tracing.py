"""Traces: what a request spent its time on, sent by OpenTelemetry where a collector is named, else free of cost.

A span holds counts, codes and ids. It never holds what anybody wrote: neither texts nor the messages of errors.
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
"""For one batch with its repeats: as long, at most, does the end of the process wait for a collector that is away."""

_tracer: trace.Tracer = trace.NoOpTracer()
_propagator = TraceContextTextMapPropagator()


def span(
    name: str, attributes: Attributes | None = None, *, within: Context | None = None
) -> AbstractContextManager[Span]:
    """A span below the current one, or below the one that `within` carries. Of an error it keeps the class alone."""
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
    """The trace that the caller's `traceparent` names, if it sent one."""
    return _propagator.extract(request.headers)


def start_tracing() -> None:
    """Send this process's traces to OTEL_EXPORTER_OTLP_ENDPOINT, from a thread of its own; without it, none are made.

    What the collector does not take is dropped: no request waits for it.
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
