"""What is seen of the program's work from outside: log lines, traces, queued jobs, messages to webhooks, e-mails."""

import io
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import orjson
from django.core import mail
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from assembly.models import WebhookDelivery
from config.observability import tracing
from config.observability.log_lines import json_lines
from memories.models import Job
from tests.rights.visits import Answer, undone

OWN_LOGGERS = ("agents", "assembly", "config", "memories", "privacy", "teams")
"""Of these, lines are read from DEBUG on; of libraries from INFO on, the lowest level that LOG_LEVEL permits."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What has been written so far."""

    lines: io.StringIO = field(default_factory=io.StringIO)
    spans: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    rows: dict[str, set[str]] = field(default_factory=dict)

    def note_rows(self) -> None:
        """Read what is about to leave: what is committed when the block ends, or would be if it were not undone."""
        found = {
            "jobs": map(repr, Job.objects.values_list("kind", "arguments", "error")),
            "webhooks": WebhookDelivery.objects.values_list("body", flat=True),
            "mails": [f"{one.subject} {one.body}" for one in getattr(mail, "outbox", [])],
        }
        for place, texts in found.items():
            self.rows.setdefault(place, set()).update(texts)

    def undone(self, request: Callable[[], Any]) -> Answer:
        """Send a request, read what it would have others do, and undo it."""

        def visit() -> Any:
            response = request()
            self.note_rows()
            return response

        return undone(visit)

    def texts(self) -> dict[str, str]:
        """Everything that was written, by its place."""
        return {
            "log": self.lines.getvalue(),
            "spans": "\n".join(span.to_json() for span in self.spans.get_finished_spans()),
            **{place: "\n".join(texts) for place, texts in self.rows.items()},
        }

    def having(self, word: str) -> list[str]:
        """The places that have the word, each with the words around it."""
        found = []
        for place, text in self.texts().items():
            if word in text:
                at = text.index(word)
                found.append(f"{place}: …{text[max(0, at - 200) : at + 100]}…")
        return found


class _Lines(logging.StreamHandler[io.StringIO]):
    """Writes each line as JSON, and behind it all that its record carries, whatever the formatter leaves out."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.name.startswith(OWN_LOGGERS) or record.levelno >= logging.INFO

    def format(self, record: logging.LogRecord) -> str:
        extras = {name: str(value) for name, value in vars(record).items() if name in {"msg", "args", "exc_text"}}
        return super().format(record) + orjson.dumps(extras).decode()


@contextmanager
def observed() -> Iterator[Observation]:
    """Observe what is done within the block."""
    observation = Observation()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(observation.spans))
    handler, root = _Lines(observation.lines), logging.getLogger()
    handler.setFormatter(json_lines())
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with patch.object(tracing, "_tracer", provider.get_tracer("test")):
            yield observation
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
