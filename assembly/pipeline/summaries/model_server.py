"""The client of the server that writes summaries, as the operator configured it.

Several requests run at once within one deadline. No database is touched.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self

from django.conf import settings

from assembly.engine.codes import SourceCode
from assembly.pipeline.summaries.prompt import SummaryPrompt, parse_summary
from config.http.outbound.client import OutboundClient, OutboundRequestFailed, UnexpectedStatus
from config.http.outbound.ssrf import FOR_MODEL_SERVERS, AddressRefused


@dataclass(frozen=True, slots=True)
class ModelServer:
    """Any that speaks OpenAI's chat completions. `concurrency` counts requests that may be under way at once."""

    url: str = field(repr=False)
    model: str
    key: str = field(repr=False)
    timeout_ms: int
    concurrency: int

    @classmethod
    def configured(cls) -> Self | None:
        """The server of the settings; None where the extractive summariser makes all summaries."""
        if not settings.SUMMARISER_URL:
            return None
        return cls(
            url=f"{settings.SUMMARISER_URL}/chat/completions",
            model=settings.SUMMARISER_MODEL,
            key=settings.SUMMARISER_API_KEY,
            timeout_ms=settings.SUMMARISER_TIMEOUT_MS,
            concurrency=settings.SUMMARISER_CONCURRENCY,
        )


REFUSED_STATUSES = {401, 403}


async def request_summary(client: OutboundClient, server: ModelServer, question: SummaryPrompt) -> str:
    """Return the summary that the server makes. Raises OutboundRequestFailed."""
    try:
        answer = await client.post_to_any(json.dumps(question.body(server.model)))
    except UnexpectedStatus as failure:
        if failure.status not in REFUSED_STATUSES:
            raise
        raise OutboundRequestFailed(f"It answered with status {failure.status}: it does not accept the key.") from None
    summary = parse_summary(answer, question)
    if server.key and server.key in summary:
        raise OutboundRequestFailed("Its answer repeats the key that it was sent.")
    return summary


CLOSING_SECONDS = 0.01
"""Kept of the deadline to break off and close what is still under way."""
TOO_LATE = "It did not answer in time"


@dataclass(slots=True)
class ModelSummaries:
    """What came in time: summaries and faults, each by its text. Texts that are in neither were not answered."""

    summaries: dict[str, str] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    late: int = 0

    @contextmanager
    def record_failure(self, question: SummaryPrompt) -> Iterator[None]:
        """Takes down why there is no summary: whatever one answer brings about, the others and the context go on."""
        try:
            yield
        except OutboundRequestFailed as failure:
            self.faults[question.text] = str(failure)
        except Exception as error:  # noqa: BLE001
            self.faults[question.text] = f"It could not be asked ({type(error).__name__})."

    @property
    def code(self) -> SourceCode | None:
        """What went wrong, if anything did: time first."""
        if self.late:
            return SourceCode.SOURCE_TIMEOUT
        return SourceCode.SOURCE_FAILED if self.faults else None

    @property
    def fault(self) -> str:
        """The same in plain words, "" where nothing did, and of how many texts it is true."""
        asked = len(self.summaries) + len(self.faults) + self.late
        if self.late:
            return f"{TOO_LATE} ({self.late} of {asked} texts)."
        if not self.faults:
            return ""
        return f"{next(iter(self.faults.values()))} ({len(self.faults)} of {asked} texts failed.)"


def request_summaries(server: ModelServer, questions: Sequence[SummaryPrompt], *, seconds: float) -> ModelSummaries:
    """What the server told within so many seconds; by then, everything is closed.

    For a thread without an event loop: it runs one of its own.
    """
    told = ModelSummaries()
    seconds = min(seconds, server.timeout_ms / 1000) - CLOSING_SECONDS
    if questions and seconds > 0:
        asyncio.run(_request_all(server, questions, seconds, told))
    told.late = len(questions) - len(told.summaries) - len(told.faults)
    return told


async def _request_all(
    server: ModelServer, questions: Sequence[SummaryPrompt], seconds: float, told: ModelSummaries
) -> None:
    opened = OutboundClient.open(
        server.url, allowed=FOR_MODEL_SERVERS, seconds=seconds, secret=server.key, concurrency=server.concurrency
    )

    async def request_one(client: OutboundClient, question: SummaryPrompt) -> None:
        with told.record_failure(question):
            told.summaries[question.text] = await request_summary(client, server, question)

    try:
        async with opened as client, asyncio.TaskGroup() as group:
            for question in questions:
                group.create_task(request_one(client, question))
    except AddressRefused:
        told.faults.update({question.text: "It could not be reached." for question in questions})
    except TimeoutError:
        return
