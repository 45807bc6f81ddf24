"""The client of the server that writes summaries, as the operator configured it.

Several requests run at once within one deadline. They follow no redirects, use no proxies of the environment, and read
a bounded answer. No database is touched.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self

import httpx2
from django.conf import settings

from assembly.engine.codes import SourceCode
from assembly.pipeline.summaries.prompt import SummaryPrompt, parse_summary
from config.http.outbound.client import OutboundRequestFailed, read_body, request_headers, tls_context
from config.http.outbound.ssrf import resolve_host


@dataclass(frozen=True, slots=True)
class ModelServer:
    """Any that speaks OpenAI's chat completions. `concurrency` counts requests that may be under way at once."""

    url: httpx2.URL = field(repr=False)
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
            url=httpx2.URL(f"{settings.SUMMARISER_URL}/chat/completions"),
            model=settings.SUMMARISER_MODEL,
            key=settings.SUMMARISER_API_KEY,
            timeout_ms=settings.SUMMARISER_TIMEOUT_MS,
            concurrency=settings.SUMMARISER_CONCURRENCY,
        )

    @property
    def host(self) -> str:
        """As TLS names and checks it."""
        return self.url.raw_host.decode().rstrip(".")

    def at(self, address: str) -> httpx2.URL:
        """The URL that leads to this address without another look-up."""
        return self.url.copy_with(host=address)


OK = 200
REFUSED_STATUSES = {401, 403}


def client_for(server: ModelServer) -> httpx2.AsyncClient:
    """A client of that server, without a deadline of its own."""
    return httpx2.AsyncClient(
        verify=tls_context(),
        trust_env=False,
        follow_redirects=False,
        timeout=None,
        # None is used twice: the server may close it the moment the next question is sent.
        limits=httpx2.Limits(max_connections=server.concurrency, max_keepalive_connections=0),
        headers=request_headers(server.url, server.key),
    )


async def request_summary(
    client: httpx2.AsyncClient,
    server: ModelServer,
    addresses: Sequence[str],
    question: SummaryPrompt,
    *,
    seconds: float,
) -> str:
    """The summary that the server makes, asked at the first of its addresses that answers. Raises Failed.

    The addresses share the seconds: one that swallows every attempt to connect leaves the others their part.
    """
    patience = httpx2.Timeout(None, connect=seconds / max(1, len(addresses)))
    for address in addresses:
        try:
            body = await _fetch_answer(client, server, address, question, patience)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            continue
        except httpx2.TransportError:
            raise OutboundRequestFailed("It broke off, or its answer is not HTTP.") from None
        summary = parse_summary(body, question)
        if server.key and server.key in summary:
            raise OutboundRequestFailed("Its answer repeats the key that it was sent.")
        return summary
    raise OutboundRequestFailed("It could not be reached.")


async def _fetch_answer(
    client: httpx2.AsyncClient, server: ModelServer, address: str, question: SummaryPrompt, patience: httpx2.Timeout
) -> bytes:
    async with client.stream(
        "POST",
        server.at(address),
        content=json.dumps(question.body(server.model)),
        extensions={"sni_hostname": server.host},
        timeout=patience,
    ) as response:
        if response.status_code in REFUSED_STATUSES:
            raise OutboundRequestFailed(f"It answered with status {response.status_code}: it does not accept the key.")
        if response.status_code != OK:
            raise OutboundRequestFailed(f"It answered with status {response.status_code} instead of 200.")
        return await read_body(response)


CLOSING_SECONDS = 0.01
"""Kept of the deadline to break off and close what is still under way."""
MAX_ADDRESSES = 4
"""Of the server's host that are tried."""
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
    try:
        async with asyncio.timeout(seconds), client_for(server) as client:
            addresses = (await resolve_host(server.host))[:MAX_ADDRESSES]

            async def ask_one(question: SummaryPrompt) -> None:
                with told.record_failure(question):
                    said = await request_summary(client, server, addresses, question, seconds=seconds)
                    told.summaries[question.text] = said

            async with asyncio.TaskGroup() as group:
                for question in questions:
                    group.create_task(ask_one(question))
    except TimeoutError:
        return
