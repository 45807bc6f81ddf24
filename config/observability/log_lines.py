"""How log lines look: readable or JSON, each with the request or the job that it belongs to.

Every logger of Dossier and of its libraries is one of the standard library; structlog gives their lines their form.
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
    """Adds id, route and principal. Django's own lines on a request, which may come when it is over, carry it along,
    and name its whole address: the route stands in its place."""
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
    """One JSON object per line; a traceback stands in it as `exception`."""
    return _formatter(structlog.processors.format_exc_info, structlog.processors.JSONRenderer())


def readable_lines() -> logging.Formatter:
    """For people, without colours."""
    # The plain traceback: the prettier ones print local variables, and so what agents and people wrote.
    return _formatter(structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback))


def _formatter(*renderers: Processor) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=SHARED,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
    )


class TelemetryThrottle(logging.Filter):
    """Lets OpenTelemetry complain once in five minutes: while its collector is away it would do so all the time."""

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
