"""Summaries come from the database, else from the model server; if the server fails, texts are extracted.

So are texts that are more sensitive than the server may be sent.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from structlog.contextvars import bound_contextvars

from assembly.engine.codes import SourceCode
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.types import Summary, WantedSummary
from assembly.pipeline.summaries.extractive import compress_all
from assembly.pipeline.summaries.model_server import ModelServer, ModelSummaries, request_summaries
from assembly.pipeline.summaries.prompt import SummaryPrompt
from assembly.pipeline.telemetry import SUMMARIES
from assembly.records.summaries import EXTRACTIVE, find_summaries
from config.observability.tracing import span

logger = logging.getLogger(__name__)

MIN_TOKENS = 16
"""Least tokens for a request to the model: a shorter summary would be stored and be too short for other contexts."""


@dataclass(frozen=True, slots=True)
class Summaries:
    """Summaries by section and ref of their items (text "" if nothing fits), and how they were made.

    `made`, `known` and `fell_back` add up to all: made by `model` now, made by it earlier, or extracted in its place;
    `kept_back` of these were not sent because of their sensitivity. The server was `sent` so many texts. `code` and
    `fault` say why some were not sent, or describe a failure of the server, in plain words and without its address or
    key.
    """

    by_item: Mapping[tuple[str, str], Summary] = field(repr=False)
    made: int
    known: int
    fell_back: int
    kept_back: int
    sent: int
    tokens_sent: int
    tokens_received: int
    ms: int
    code: SourceCode | None
    fault: str
    model: str
    """Name of the configured model, or "extractive"."""


def summarise(
    wants: Sequence[WantedSummary], *, tokenizer: Tokenizer, seconds: float | None, most: int | None = None
) -> Summaries:
    """Return a summary of at most `max_tokens` for each of `wants`; the server, if configured, has `seconds`, and is
    sent at most so many texts, the first ones.

    With `seconds` None, the server is not used: stored summaries are, and the rest is extracted. The database is only
    read: `store_summaries` stores new summaries later. For threads without an event loop.
    """
    started = perf_counter()
    with span("summarise", {"wanted": len(wants)}) as current:
        server = ModelServer.configured()
        known = find_summaries({want.text for want in wants}, server.model) if server and wants else {}
        kept_back = {want.text for want in wants if server and not server.may_read(want.sensitivity)} - known.keys()
        prompts, told = list[SummaryPrompt](), ModelSummaries()
        if server and seconds is not None:
            prompts = _prompts(wants, {*known, *kept_back})[:most]
            told = request_summaries(server, prompts, seconds=seconds)
        by_item = _fit_summaries(wants, {**told.summaries, **known}, server.model if server else EXTRACTIVE, tokenizer)
        summaries = Summaries(
            by_item=by_item,
            **_summary_counts(wants, known, told, server),
            kept_back=sum(want.text in kept_back for want in wants),
            sent=len(prompts),
            tokens_sent=sum(tokenizer.count(prompt.text) for prompt in prompts),
            tokens_received=sum(map(tokenizer.count, told.summaries.values())),
            ms=round((perf_counter() - started) * 1000),
            code=told.code or (SourceCode.SOURCE_NOT_ASKED if kept_back else None),
            fault=told.fault or (server.limit_sentence(len(kept_back)) if server and kept_back else ""),
            model=server.model if server else "extractive",
        )
        current.set_attributes({name: getattr(summaries, name) for name in ("model", "made", "known", "fell_back")})
    _log_summaries(summaries)
    return summaries


def _prompts(wants: Iterable[WantedSummary], without: Collection[str]) -> list[SummaryPrompt]:
    """Return a prompt for each distinct text but those of `without`, with the largest token limit requested for it."""
    room: dict[str, int] = {}
    for want in wants:
        if want.text not in without and want.max_tokens >= MIN_TOKENS:
            room[want.text] = max(want.max_tokens, room.get(want.text, 0))
    return [SummaryPrompt(text, max_tokens) for text, max_tokens in room.items()]


def _fit_summaries(
    wants: Sequence[WantedSummary], said: Mapping[str, str], model: str, tokenizer: Tokenizer
) -> dict[tuple[str, str], Summary]:
    """Return the model's summary, or else the text itself, compressed to the token limit of each item."""
    short = compress_all([(said.get(want.text, want.text), want.max_tokens) for want in wants], tokenizer)
    return {
        (want.section, want.ref): Summary(one.text, model if want.text in said and one.text else EXTRACTIVE)
        for want, one in zip(wants, short, strict=True)
    }


def _summary_counts(
    wants: Sequence[WantedSummary], known: Mapping[str, str], told: ModelSummaries, server: ModelServer | None
) -> dict[str, int]:
    if server is None:
        return {"made": len(wants), "known": 0, "fell_back": 0}
    known_count = sum(want.text in known for want in wants)
    made = sum(want.text in told.summaries for want in wants)
    return {"made": made, "known": known_count, "fell_back": len(wants) - made - known_count}


def _log_summaries(summaries: Summaries) -> None:
    """Count the summaries in the metrics and log their numbers, without any text that was sent or received."""
    counts = {"made": summaries.made, "known": summaries.known, "fallback": summaries.fell_back}
    for result, number in counts.items():
        SUMMARIES.labels(summaries.model, result).inc(number)
    with bound_contextvars(model=summaries.model, **counts):
        if summaries.code and summaries.code is not SourceCode.SOURCE_NOT_ASKED:
            logger.warning("summaries: %s: %s", summaries.code, summaries.fault, extra={"ms": summaries.ms})
        else:
            logger.info("summaries", extra={"ms": summaries.ms})
