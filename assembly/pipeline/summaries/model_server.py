"""This client requests summaries from the model server that the operator configured.

Several requests run at once within one deadline. The database is not used.
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
from teams.sensitivity import DEFAULT_LEVEL, LEVEL_WORDS, Sensitivity


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A server with OpenAI's chat completions API.

    `concurrency` is the most requests at once, `highest` the highest level of texts that it may be sent.
    """

    url: str = field(repr=False)
    model: str
    key: str = field(repr=False)
    timeout_ms: int
    concurrency: int
    highest: Sensitivity = DEFAULT_LEVEL

    @classmethod
    def configured(cls) -> Self | None:
        """Return the server from the settings; None if none is configured, so that all summaries are extractive."""
        if not settings.SUMMARISER_URL:
            return None
        return cls(
            url=f"{settings.SUMMARISER_URL}/chat/completions",
            model=settings.SUMMARISER_MODEL,
            key=settings.SUMMARISER_API_KEY,
            timeout_ms=settings.SUMMARISER_TIMEOUT_MS,
            concurrency=settings.SUMMARISER_CONCURRENCY,
            highest=LEVEL_WORDS[settings.SUMMARISER_SENSITIVITY],
        )

    def may_read(self, level: int) -> bool:
        """Return whether the server may be sent a text of this sensitivity."""
        return level <= self.highest

    def limit_sentence(self, texts: int) -> str:
        """Return the sentence that so many texts were not sent."""
        return f"It is sent nothing above {self.highest.word}, which {texts} texts are."


REFUSED_STATUSES = {401, 403}


async def request_summary(client: OutboundClient, server: ModelServer, question: SummaryPrompt) -> str:
    """Return the summary from the server's answer. Raises OutboundRequestFailed."""
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
"""Seconds before the deadline that are reserved for cancelling and closing requests."""
TOO_LATE = "It did not answer in time"


@dataclass(slots=True)
class ModelSummaries:
    """The summaries and the faults that came in time, each by its text; all other texts were not answered in time."""

    summaries: dict[str, str] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    late: int = 0

    @contextmanager
    def record_failure(self, question: SummaryPrompt) -> Iterator[None]:
        """Record an exception of the block as the fault of this text, so that other requests and the context go on."""
        try:
            yield
        except OutboundRequestFailed as failure:
            self.faults[question.text] = str(failure)
        except Exception as error:  # noqa: BLE001
            self.faults[question.text] = f"It could not be reached ({type(error).__name__})."

    @property
    def code(self) -> SourceCode | None:
        """The code of the failure: timeout before other faults; None without any."""
        if self.late:
            return SourceCode.SOURCE_TIMEOUT
        return SourceCode.SOURCE_FAILED if self.faults else None

    @property
    def fault(self) -> str:
        """A sentence on the failure, with the number of texts concerned; "" without any."""
        asked = len(self.summaries) + len(self.faults) + self.late
        if self.late:
            return f"{TOO_LATE} ({self.late} of {asked} texts)."
        if not self.faults:
            return ""
        return f"{next(iter(self.faults.values()))} ({len(self.faults)} of {asked} texts failed.)"


def request_summaries(server: ModelServer, questions: Sequence[SummaryPrompt], *, seconds: float) -> ModelSummaries:
    """Return the summaries that the server returns within `seconds`; all connections are closed by then.

    For threads without an event loop: the function runs its own.
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
