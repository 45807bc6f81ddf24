"""The engine runs, the summaries that it needs are made, and it runs again until none is missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from assembly.engine import assemble
from assembly.engine.codes import SourceCode
from assembly.engine.profile import Profile
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.types import Candidate, EngineRequest, EngineResult, Summary
from assembly.pipeline.levels import with_levels
from assembly.pipeline.shared_memos import share_memos
from assembly.pipeline.summaries.services import Summaries, summarise
from assembly.records.warnings import SUMMARISER
from assembly.sources.base import SourceReport
from assembly.sources.time_budget import TimeBudget
from config.http.cpu_budget import wall_limit

MAX_ROUNDS = 3
NOT_SUMMARISED = Summary("", "none")
"""An empty summary, given to items that are still too long after the last round."""


@dataclass(frozen=True, slots=True)
class SummarisedResult:
    """The engine's result, the candidates with the summaries used, and how each round made its summaries."""

    assembled: EngineResult
    candidates: Sequence[Candidate]
    rounds: tuple[Summaries, ...] = ()
    report: SourceReport | None = None
    """A report on the summariser, like that of a source, if the server failed, or was not sent sensitive texts,
    and extraction replaced it; else None."""


def assemble_with_summaries(
    request: EngineRequest,
    profile: Profile,
    candidates: Sequence[Candidate],
    tokenizer: Tokenizer,
    time: TimeBudget,
    *,
    ask_model: bool = True,
    sent: int = 0,
) -> SummarisedResult:
    """Return the engine's result, with levels of detail and summaries where the profile uses them.

    A summary frees tokens for other items, which may need summaries in turn; after three rounds, no more are made.
    Without `ask_model`, the server is not used: stored summaries are, and the rest is extracted. `sent` texts of
    this context were sent to the server before, which counts for the profile's limit. Raises TookTooLong if a busy
    processor needs more time than a context may take, and TooCostly.
    """
    with wall_limit(time.hard_limit):
        if profile.lod:
            candidates = with_levels(profile, candidates)
        if profile.lod or request.topic:  # otherwise rows come from their cache, with their memos
            share_memos(candidates)
        return _assemble_in_rounds(request, profile, candidates, tokenizer, time, ask_model=ask_model, sent=sent)


def _assemble_in_rounds(
    request: EngineRequest,
    profile: Profile,
    candidates: Sequence[Candidate],
    tokenizer: Tokenizer,
    time: TimeBudget,
    *,
    ask_model: bool,
    sent: int,
) -> SummarisedResult:
    rounds: list[Summaries] = []
    report = None
    assembled = assemble.assemble(request, profile, candidates, tokenizer)
    while assembled.wanted:
        if len(rounds) < MAX_ROUNDS:
            # A server that failed once gets no further requests: remaining summaries are extracted.
            begun, seconds = time.elapsed_ms, 0.0 if _has_failed(report) else time.seconds_for_sources
            allowed = seconds if ask_model else None
            most = None if profile.summaries_max is None else max(0, profile.summaries_max - sent)
            rounds.append(summarise(assembled.wanted, tokenizer=tokenizer, seconds=allowed, most=most))
            sent += rounds[-1].sent
            if not _has_failed(report):
                report = _failure_report(rounds[-1], begun, begun + round(seconds * 1000)) or report
            made = rounds[-1].by_item
            candidates = [_with_summary(item, made.get((item.section, item.ref))) for item in candidates]
        else:
            candidates = [item if item.summary else _with_summary(item, NOT_SUMMARISED) for item in candidates]
        assembled = assemble.assemble(request, profile, candidates, tokenizer)
    return SummarisedResult(assembled, candidates, tuple(rounds), report)


def _with_summary(candidate: Candidate, summary: Summary | None) -> Candidate:
    return structs.replace(candidate, summary=summary) if summary else candidate


def summaries_document(rounds: Sequence[Summaries]) -> dict[str, Any]:
    """Return what the record stores about the summaries: the model, and how many were made, known or extracted."""
    if not rounds:
        return {}
    counts = {name: sum(getattr(one, name) for one in rounds) for name in ("made", "known", "fell_back")}
    return {"summaries": {"model": rounds[0].model, **counts}}


def summaries_cost(rounds: Sequence[Summaries]) -> dict[str, int]:
    """Return how many texts the model server was sent, their tokens and those of its summaries, as the context's
    tokenizer counts; the server may count otherwise.
    """
    names = {"texts_sent": "sent", "tokens_sent": "tokens_sent", "tokens_received": "tokens_received"}
    return {name: sum(getattr(one, member) for one in rounds) for name, member in names.items()}


def _has_failed(report: SourceReport | None) -> bool:
    """Return whether the server failed; one that was not sent sensitive texts may be sent others."""
    return report is not None and report.code is not SourceCode.SOURCE_NOT_ASKED


def _failure_report(one: Summaries, begun: int, deadline: int) -> SourceReport | None:
    if not one.code:
        return None
    made = one.made + one.known
    return SourceReport(SUMMARISER, made, len(one.by_item), one.ms, begun, deadline, one.code, one.fault)
