"""External sources are queried concurrently over HTTP, within one deadline and without the database.

Each request goes to a checked address, follows no redirects, and reads a limited response.
"""

import asyncio
import json
import logging
from collections.abc import Sequence
from time import perf_counter

from structlog.contextvars import bound_contextvars

from assembly.engine.codes import SourceCode
from assembly.engine.scoring import candidate_measures, recency_score
from assembly.engine.types import Candidate
from assembly.sources.base import Labels, path_labels, tag_labels
from assembly.sources.external.questions import EXTERNAL_SOURCE, ExternalAnswer, ExternalQuery
from assembly.sources.external.response import ExternalResult, parse_answer
from config.http.outbound.client import (
    Interrupted,
    OutboundClient,
    OutboundRequestFailed,
    UnexpectedStatus,
    Unreachable,
)
from config.http.outbound.ssrf import FOR_SOURCES, AddressRefused

REDIRECT_STATUSES = range(300, 400)
REFUSED_STATUSES = {401, 403}
TRANSIENT_STATUSES = {502, 503, 504}
"""The HTTP statuses after which the same request may succeed a moment later."""

logger = logging.getLogger(__name__)

CLOSING_SECONDS = 0.01
"""The part of the deadline, in seconds, that is reserved for cancelling and closing open requests."""


def query_all(
    askings: Sequence[ExternalQuery], *, seconds: float, arrived: dict[int, ExternalAnswer] | None = None
) -> list[ExternalAnswer]:
    """Return the answer of each endpoint, in their order, after at most `seconds`; by then, everything is closed.

    Each answer is put into `arrived` at once, by its position, for who cannot wait for the others. The function runs an
    event loop, so it must be called in a thread without one.
    """
    return asyncio.run(_query_all(askings, seconds, {} if arrived is None else arrived)) if askings else []


async def _query_all(
    askings: Sequence[ExternalQuery], seconds: float, arrived: dict[int, ExternalAnswer]
) -> list[ExternalAnswer]:
    async def query(place: int) -> ExternalAnswer:
        arrived[place] = await _query_one(askings[place], seconds - CLOSING_SECONDS)
        return arrived[place]

    return list(await asyncio.gather(*map(query, range(len(askings)))))


async def _query_one(asking: ExternalQuery, seconds: float) -> ExternalAnswer:
    started = perf_counter()
    results: list[ExternalResult] = []
    code, fault, left_out = None, "", 0
    try:
        if asking.fault:
            code, fault = asking.fault_code, asking.fault
        else:
            results, left_out = await _results(asking, min(seconds, asking.timeout_ms / 1000))
    except TimeoutError:
        code, fault = SourceCode.SOURCE_TIMEOUT, "It did not answer in time."
    except UnexpectedStatus as failure:
        code, fault = SourceCode.SOURCE_FAILED, _status_fault(failure.status)
    except (AddressRefused, OutboundRequestFailed) as failure:
        code, fault = SourceCode.SOURCE_FAILED, str(failure)
    except Exception as error:  # noqa: BLE001 - whatever one endpoint brings about, the others and the context go on
        code, fault = SourceCode.SOURCE_FAILED, f"It could not be reached ({type(error).__name__})."
    # Before the positions are counted, so that what is withheld changes no score.
    told = [result for result in results if result.level(asking.sensitivity) <= asking.clearance]
    candidates = tuple(_candidate(asking, place, result) for place, result in enumerate(told))
    ms = round((perf_counter() - started) * 1000)
    answer = ExternalAnswer(
        asking.section, asking.name, candidates, asking.limit, ms, code, fault, left_out, len(results) - len(told)
    )
    _log_answer(asking, answer)
    return answer


async def _results(asking: ExternalQuery, seconds: float) -> tuple[list[ExternalResult], int]:
    results, left_out = parse_answer(await _fetch_body(asking, seconds), asking.limit)
    if asking.secret and any(result.repeats(asking.secret) for result in results):
        raise OutboundRequestFailed("Its answer repeats the secret that it was sent, so nothing of it is used.")
    return results, left_out


async def _fetch_body(asking: ExternalQuery, seconds: float) -> bytes:
    """Return the response body.

    A failed request is repeated once, with another address if the host has several, while half of the time is left.
    """
    ends = perf_counter() + seconds

    async def post(client: OutboundClient, address: str) -> bytes:
        left_ms = max(0, round((ends - perf_counter()) * 1000))
        body = json.dumps({**asking.question, "deadline_ms": left_ms})
        return await client.post(body, address=address, headers={"X-Request-ID": asking.request_id})

    async with OutboundClient.open(asking.url, allowed=FOR_SOURCES, seconds=seconds, secret=asking.secret) as client:
        try:
            return await post(client, client.destination.addresses[0])
        except OutboundRequestFailed as failure:
            if not _is_transient(failure) or ends - perf_counter() < seconds / 2:
                raise
        return await post(client, client.destination.addresses[-1])


def _is_transient(failure: OutboundRequestFailed) -> bool:
    """Return whether the same request may succeed at once: no server was reached, or a proxy was not ready."""
    if isinstance(failure, UnexpectedStatus):
        return failure.status in TRANSIENT_STATUSES
    return isinstance(failure, Unreachable | Interrupted)


def _status_fault(status: int) -> str:
    if status in TRANSIENT_STATUSES:
        return f"It answered with status {status}: it is not ready at the moment."
    if status in REFUSED_STATUSES:
        return f"It answered with status {status}: it does not accept the secret."
    if status in REDIRECT_STATUSES:
        return f"It answered with status {status} instead of 200. Redirects are not followed."
    return f"It answered with status {status} instead of 200."


def _candidate(asking: ExternalQuery, place: int, result: ExternalResult) -> Candidate:
    """Return the result as a candidate, scored by the endpoint or by its position: 1, 1/2, 1/3 …"""
    score = 1 / (1 + place) if result.score is None else result.score
    happened = result.occurred_at
    return Candidate(
        ref=f"{asking.name}:{result.id}",
        section=asking.section,
        text=result.text,
        kind=result.kind or EXTERNAL_SOURCE,
        occurred_at=happened,
        score=score,
        measures=candidate_measures(recency=recency_score(asking.now - happened) if happened else 0.0, relevance=score),
        labels=_labels(result),
        origin="external",
        sensitivity=result.level(asking.sensitivity),
    )


def _labels(result: ExternalResult) -> Labels:
    return {**(path_labels(result.path) if result.path else {}), **tag_labels(result.tags)}


def _log_answer(asking: ExternalQuery, told: ExternalAnswer) -> None:
    """Log a line with the endpoint and the request, without any data that was sent or received."""
    with bound_contextvars(request_id=asking.request_id, source=told.name):
        if told.code:
            logger.warning("%s: %s", told.code, told.fault, extra={"ms": told.ms})
        else:
            logger.info("external source answered", extra={"ms": told.ms})
