"""Log lines are readable text or JSON, each with the request or the job that it belongs to.

All loggers, also those of libraries, are the standard library's; structlog formats their lines.
"""

import logging
import time
from typing import Any

import structlog
from django.http import HttpRequest
from structlog.typing import EventDict, Processor, WrappedLogger

from config.observability.request_context import CURRENT_REQUEST, request_fields, route_of

TELEMETRY_INTERVAL_SECONDS = 300.0


def add_request(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    """Add id, route and principal to the log line.

    Django's own lines about a request may come after the request, so they carry it along; the route replaces the
    address in them.
    """
    attached = getattr(line.get("_record"), "request", None)
    if isinstance(attached, HttpRequest):
        event = line["event"].replace(attached.path, route_of(attached))
        return {**line, **request_fields(attached), "event": event}
    request = CURRENT_REQUEST.get()
    return {**line, **request_fields(request)} if request else line


SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    add_request,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    # No others: what libraries attach to their records is not made for a log, such as whole requests.
    structlog.stdlib.ExtraAdder(allow={"method", "status", "ms"}),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def json_lines() -> logging.Formatter:
    """Return a formatter for one JSON object per line; a traceback is in `exception`."""
    return _formatter(structlog.processors.format_exc_info, structlog.processors.JSONRenderer())


def readable_lines() -> logging.Formatter:
    """Return a formatter for people, without colours."""
    # The plain traceback: the prettier ones print local variables, and so what agents and people wrote.
    return _formatter(structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback))


def _formatter(*renderers: Processor) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=SHARED,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
    )


class TelemetryThrottle(logging.Filter):
    """A log filter that lets OpenTelemetry complain once in five minutes: without a collector, it would do so all the
    time.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.name.startswith("opentelemetry"):
            return True
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + TELEMETRY_INTERVAL_SECONDS
        return True
