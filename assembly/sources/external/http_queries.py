"""One request over HTTP, and nothing but what was meant: to a judged address, no redirects, a bounded answer.

Asking several endpoints at once, within a deadline that nothing outlives. No database is touched.
"""

import asyncio
import json
import logging
import ssl
from collections.abc import Sequence
from time import perf_counter

import httpx2
from structlog.contextvars import bound_contextvars

from assembly.engine.codes import SourceCode
from assembly.engine.scoring import measures, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import Labels, path_labels, tag_labels
from assembly.sources.external.questions import SOURCE, Asking, Told
from assembly.sources.external.response import Result, answer_read
from config.http.outbound.client import OutboundRequestFailed, read_body, request_headers, tls_context
from config.http.outbound.ssrf import FOR_SOURCES, AddressRefused, Destination, find_destination

OK = 200
REDIRECTS = range(300, 400)
REFUSALS = {401, 403}
PASSING = {502, 503, 504}
"""What servers say when the same request may succeed a moment later."""


class FailedForNow(OutboundRequestFailed):
    """The same request may succeed at once: nobody was reached, or a server in between was not ready."""


async def answer_to(asking: Asking, destination: Destination, address: str, *, deadline_ms: int) -> bytes:
    """The body of the answer. Raises Failed; whoever breaks it off closes the connection."""
    try:
        async with (
            httpx2.AsyncClient(verify=tls_context(), trust_env=False, timeout=None) as client,
            client.stream(
                "POST",
                destination.at(address),
                content=json.dumps({**asking.question, "deadline_ms": deadline_ms}),
                headers={**request_headers(destination.url, asking.secret), "X-Request-ID": asking.request_id},
                extensions={"sni_hostname": destination.host},
                follow_redirects=False,
            ) as response,
        ):
            _refuse(response)
            return await read_body(response)
    except httpx2.TransportError as error:
        raise FailedForNow(trouble(error)) from None


def _refuse(response: httpx2.Response) -> None:
    """Raises Failed for what is not a plain answer, before its body is read."""
    status = response.status_code
    if status in PASSING:
        raise FailedForNow(f"It answered with status {status}: it is not ready at the moment.")
    if status in REFUSALS:
        raise OutboundRequestFailed(f"It answered with status {status}: it does not accept the secret.")
    if status in REDIRECTS:
        raise OutboundRequestFailed(f"It answered with status {status} instead of 200. Redirects are not followed.")
    if status != OK:
        raise OutboundRequestFailed(f"It answered with status {status} instead of 200.")
    if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise OutboundRequestFailed("Its answer is compressed. It must send it as it is.")


def trouble(error: httpx2.TransportError) -> str:
    """What the operator can look into. The error's own words may repeat addresses and headers."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "Its certificate is not valid for its host, or comes from nobody known."
        if isinstance(cause, ssl.SSLError):
            return "A secure connection could not be made."
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return "It could not be reached."
    return "It broke off, or its answer is not HTTP."


logger = logging.getLogger(__name__)

CLOSING_SECONDS = 0.01
"""Kept of the deadline to break off and close what is still under way."""


def ask_all(askings: Sequence[Asking], *, seconds: float) -> list[Told]:
    """What each endpoint told, in their order, after `seconds` at the latest; by then, everything is closed.

    For a thread without an event loop: it runs one of its own.
    """
    return asyncio.run(_ask_all(askings, seconds)) if askings else []


async def _ask_all(askings: Sequence[Asking], seconds: float) -> list[Told]:
    return list(await asyncio.gather(*(_ask(asking, seconds - CLOSING_SECONDS) for asking in askings)))


async def _ask(asking: Asking, seconds: float) -> Told:
    started = perf_counter()
    results: list[Result] = []
    code, fault, left_out = None, "", 0
    try:
        results, left_out = await _results(asking, min(seconds, asking.timeout_ms / 1000))
    except TimeoutError:
        code, fault = SourceCode.SOURCE_TIMEOUT, "It did not answer in time."
    except (AddressRefused, OutboundRequestFailed) as failure:
        code, fault = SourceCode.SOURCE_FAILED, str(failure)
    except Exception as error:  # noqa: BLE001 - whatever one endpoint brings about, the others and the context go on
        code, fault = SourceCode.SOURCE_FAILED, f"It could not be asked ({type(error).__name__})."
    candidates = tuple(_candidate(asking, place, result) for place, result in enumerate(results))
    ms = round((perf_counter() - started) * 1000)
    told = Told(asking.section, asking.name, candidates, asking.limit, ms, code, fault, left_out)
    _note(asking, told)
    return told


async def _results(asking: Asking, seconds: float) -> tuple[list[Result], int]:
    if asking.fault:
        raise OutboundRequestFailed(asking.fault)
    async with asyncio.timeout(seconds):
        body = await _body(asking, seconds)
    results, left_out = answer_read(body, asking.limit)
    if asking.secret and any(result.repeats(asking.secret) for result in results):
        raise OutboundRequestFailed("Its answer repeats the secret that it was sent, so nothing of it is used.")
    return results, left_out


async def _body(asking: Asking, seconds: float) -> bytes:
    """The answer; asked a second time, elsewhere if the host has several addresses, while half of the time is left."""
    ends = perf_counter() + seconds
    destination = await find_destination(asking.url, FOR_SOURCES)

    def left_ms() -> int:
        return max(0, round((ends - perf_counter()) * 1000))

    try:
        return await answer_to(asking, destination, destination.addresses[0], deadline_ms=left_ms())
    except FailedForNow:
        if ends - perf_counter() < seconds / 2:
            raise
    return await answer_to(asking, destination, destination.addresses[-1], deadline_ms=left_ms())


def _candidate(asking: Asking, place: int, result: Result) -> Candidate:
    """Scored by the endpoint, or by its place among the results: 1, 1/2, 1/3 …"""
    score = 1 / (1 + place) if result.score is None else result.score
    happened = result.occurred_at
    return Candidate(
        ref=f"{asking.name}:{result.id}",
        section=asking.section,
        text=result.text,
        kind=result.kind or SOURCE,
        occurred_at=happened,
        score=score,
        measures=measures(recency=recency_score(asking.now - happened) if happened else 0.0, relevance=score),
        labels=_labels(result),
    )


def _labels(result: Result) -> Labels:
    return {**(path_labels(result.path) if result.path else {}), **tag_labels(result.tags)}


def _note(asking: Asking, told: Told) -> None:
    """A line in the log, which names the endpoint and the request, and nothing that was sent or came back."""
    with bound_contextvars(request_id=asking.request_id, source=told.name):
        if told.code:
            logger.warning("%s: %s", told.code, told.fault, extra={"ms": told.ms})
        else:
            logger.info("external source answered", extra={"ms": told.ms})
