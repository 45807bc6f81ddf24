"""Summaries are taken from the store, else asked of the model; where it fails, the text is shortened by extraction."""

import logging
from collections.abc import Iterable, Mapping, Sequence
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
"""For less room, no model is asked: what it said would be kept, and be too short for whoever has more."""


@dataclass(frozen=True, slots=True)
class Summaries:
    """A summary for each want, by section and ref, its text "" where nothing fits; and how they came about.

    `made`, `known` and `fell_back` add up to the wants: by `model` now, by it before, or by the extractive summariser
    in its place. `code` and `fault` say what went wrong with the server, in plain words and without its address or key.
    """

    by_item: Mapping[tuple[str, str], Summary] = field(repr=False)
    made: int
    known: int
    fell_back: int
    ms: int
    code: SourceCode | None
    fault: str
    model: str
    """"extractive", or the configured model's name."""


def summarise(wants: Sequence[WantedSummary], *, tokenizer: Tokenizer, seconds: float | None) -> Summaries:
    """A summary of at most `max_tokens` for every want; the server, if there is one, has so many seconds.

    Without seconds it is not asked: what it has not said before is extracted.

    It reads the database and writes nothing: what is new, `store_summaries` keeps. For a thread without an event loop.
    """
    started = perf_counter()
    with span("summarise", {"wanted": len(wants)}) as current:
        server = ModelServer.configured()
        known = find_summaries({want.text for want in wants}, server.model) if server and wants else {}
        told = (
            request_summaries(server, _prompts(wants, known), seconds=seconds)
            if server and seconds is not None
            else ModelSummaries()
        )
        by_item = _fit_summaries(wants, {**told.summaries, **known}, server.model if server else EXTRACTIVE, tokenizer)
        summaries = Summaries(
            by_item=by_item,
            **_summary_counts(wants, known, told, server),
            ms=round((perf_counter() - started) * 1000),
            code=told.code,
            fault=told.fault,
            model=server.model if server else "extractive",
        )
        current.set_attributes({name: getattr(summaries, name) for name in ("model", "made", "known", "fell_back")})
    _log_summaries(summaries)
    return summaries


def _prompts(wants: Iterable[WantedSummary], known: Mapping[str, str]) -> list[SummaryPrompt]:
    """Equal texts are asked for once, as long as the one with the most room may be."""
    room: dict[str, int] = {}
    for want in wants:
        if want.text not in known and want.max_tokens >= MIN_TOKENS:
            room[want.text] = max(want.max_tokens, room.get(want.text, 0))
    return [SummaryPrompt(text, max_tokens) for text, max_tokens in room.items()]


def _fit_summaries(
    wants: Sequence[WantedSummary], said: Mapping[str, str], model: str, tokenizer: Tokenizer
) -> dict[tuple[str, str], Summary]:
    """What the model said, or else the text itself, compressed to what each want has room for."""
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
    """Counts, and a line in the log that holds nothing of what was sent or came back."""
    counts = {"made": summaries.made, "known": summaries.known, "fallback": summaries.fell_back}
    for result, number in counts.items():
        SUMMARIES.labels(summaries.model, result).inc(number)
    with bound_contextvars(model=summaries.model, **counts):
        if summaries.code:
            logger.warning("summaries: %s: %s", summaries.code, summaries.fault, extra={"ms": summaries.ms})
        else:
            logger.info("summaries", extra={"ms": summaries.ms})
