"""The engine runs until no summary is missing: between runs, the summaries that it asked for are fetched."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from assembly.engine import assemble
from assembly.engine.profile import Profile
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.types import Candidate, EngineRequest, EngineResult, Summary
from assembly.pipeline.summaries.services import Summaries, summarise
from assembly.records.warnings import SUMMARISER
from assembly.sources.base import SourceReport
from assembly.sources.time_budget import TimeBudget
from config.http.cpu_budget import wall_limit

MAX_ROUNDS = 3
NOT_SUMMARISED = Summary("", "none")
"""Of what nobody is asked to summarise any more."""


@dataclass(frozen=True, slots=True)
class SummarisedResult:
    """The finished context, the candidates with the summaries that it rests on, and how these came about."""

    assembled: EngineResult
    candidates: Sequence[Candidate]
    rounds: tuple[Summaries, ...] = ()
    report: SourceReport | None = None
    """On the summariser, as one more source, where it did not answer: then the extractive one stood in for it."""


def assemble_with_summaries(
    request: EngineRequest,
    profile: Profile,
    candidates: Sequence[Candidate],
    tokenizer: Tokenizer,
    time: TimeBudget,
    *,
    ask_model: bool = True,
) -> SummarisedResult:
    """The context of the candidates, with summaries where its profile wants them.

    A summary makes room that others may use, so that more are wanted; after three rounds, none is made any more.
    Where no model is to be asked, what it has not said before is extracted. Raises TookTooLong where the processor is
    so busy that all this takes longer than a whole context may, and TooCostly.
    """
    with wall_limit(time.hard_limit):
        return _assemble_in_rounds(request, profile, candidates, tokenizer, time, ask_model=ask_model)


def _assemble_in_rounds(
    request: EngineRequest,
    profile: Profile,
    candidates: Sequence[Candidate],
    tokenizer: Tokenizer,
    time: TimeBudget,
    *,
    ask_model: bool,
) -> SummarisedResult:
    rounds: list[Summaries] = []
    report = None
    assembled = assemble.assemble(request, profile, candidates, tokenizer)
    while assembled.wanted:
        if len(rounds) < MAX_ROUNDS:
            # A server that failed once is not asked again: what is still wanted is extracted.
            begun, seconds = time.elapsed_ms, 0.0 if report else time.seconds_for_sources
            allowed = seconds if ask_model else None
            rounds.append(summarise(assembled.wanted, tokenizer=tokenizer, seconds=allowed))
            report = report or _failure_report(rounds[-1], begun, begun + round(seconds * 1000))
            made = rounds[-1].by_item
            candidates = [_with_summary(item, made.get((item.section, item.ref))) for item in candidates]
        else:
            candidates = [item if item.summary else _with_summary(item, NOT_SUMMARISED) for item in candidates]
        assembled = assemble.assemble(request, profile, candidates, tokenizer)
    return SummarisedResult(assembled, candidates, tuple(rounds), report)


def _with_summary(candidate: Candidate, summary: Summary | None) -> Candidate:
    return replace(candidate, summary=summary) if summary else candidate


def summaries_document(rounds: Sequence[Summaries]) -> dict[str, Any]:
    """What the record keeps of how the summaries came about."""
    if not rounds:
        return {}
    counts = {name: sum(getattr(one, name) for one in rounds) for name in ("made", "known", "fell_back")}
    return {"summaries": {"model": rounds[0].model, **counts}}


def _failure_report(one: Summaries, begun: int, deadline: int) -> SourceReport | None:
    if not one.code:
        return None
    made = one.made + one.known
    return SourceReport(SUMMARISER, made, len(one.by_item), one.ms, begun, deadline, one.code, one.fault)
