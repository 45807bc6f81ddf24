"""An assembly of a profile with a second round: if the first one leaves the context incomplete, more is read for it.

A second round never makes a context late: it begins only if the first one took no more time, and no more than half as
much CPU time, than is left. If it does not end in time, the context of the first round is the answer.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import DatabaseError, connection
from msgspec import structs

from assembly.engine.types import Candidate
from assembly.pipeline.prepare import PreparedAssembly, gather_candidates
from assembly.pipeline.read_plan import GatherResult
from assembly.pipeline.second_reading import read_second_round
from assembly.pipeline.second_round import Outcome, SecondPlan, SecondRound, Shortfall
from assembly.pipeline.summaries.resolve import SummarisedResult, assemble_with_summaries
from assembly.pipeline.telemetry import count_second_round
from assembly.pipeline.token_counts import Uncounted, load_token_counts
from assembly.sources.base import GatherContext
from assembly.sources.time_budget import RoundClock, RoundCost, TimeBudget
from config.http.cpu_budget import TooCostly, TookTooLong, cpu_budget, cpu_seconds_left, wall_limit

logger = logging.getLogger(__name__)

WORK_FACTOR = 2
"""A second round has up to twice the candidates of the first, so ranking them may take twice as long."""


@dataclass(frozen=True, slots=True)
class AssembledRound:
    """The context of a round: what was gathered, the request with its rules, the result, and what it counted anew."""

    gathered: GatherResult
    ruled: PreparedAssembly
    settled: SummarisedResult
    uncounted: Uncounted


def with_second_round(
    prepared: PreparedAssembly, first: AssembledRound, cost: RoundCost, time: TimeBudget, *, ask_model: bool = True
) -> AssembledRound:
    """Return the context with what a second round adds; the first one, with the account of it, if it adds nothing.

    The first one is returned as it is if nothing is missing, or no source can have more.
    """
    profile, gathered = prepared.profile, first.gathered
    names = named_by(gathered.gather_context)
    shortfall = Shortfall.of(first.ruled.profile, first.settled.assembled, first.settled.candidates, names)
    plan = (
        SecondPlan.of(profile, shortfall, gathered.gather_context.topic, gathered.reports)
        if shortfall.is_open
        else None
    )
    if plan is None:
        return first
    begun = time.elapsed_ms
    if time.seconds_for_sources < cost.seconds or cpu_seconds_left() < WORK_FACTOR * cost.cpu:
        return _unchanged(first, shortfall, "no_time", begun, time)
    try:
        with cpu_budget(cpu_seconds_left() / WORK_FACTOR), wall_limit(time.left):
            found = read_second_round(profile, plan, gathered, time)
            if found.second_round and found.second_round.outcome == "added":
                if time.left < WORK_FACTOR * cost.engine:
                    return _unchanged(first, shortfall, "stopped", begun, time)
                return _counted(_assembled(prepared, first, found, time, ask_model=ask_model))
    except (TooCostly, TookTooLong, DatabaseError) as error:
        if connection.needs_rollback:  # the caller's transaction has failed
            raise
        logger.warning("the second round was given up: %s", type(error).__name__)
        return _unchanged(first, shortfall, "stopped", begun, time)
    return _counted(replace(first, gathered=found))


def gather_in_rounds(prepared: PreparedAssembly, time: TimeBudget) -> GatherResult:
    """Return all candidates of a context that is not recorded: of both rounds if its profile has a second one.

    No model is called for summaries. Raises as `gather_candidates` does.
    """
    clock = RoundClock()
    gathered = gather_candidates(prepared, time)
    if not prepared.profile.second_round:
        return gathered
    clock.gathered()
    ruled, candidates = prepared.with_gathered(gathered)
    settled = assemble_with_summaries(ruled.request, ruled.profile, candidates, ruled.tokenizer, time, ask_model=False)
    first = AssembledRound(gathered, ruled, settled, {})
    return with_second_round(prepared, first, clock.cost(), time, ask_model=False).gathered


def named_by(gather_context: GatherContext) -> list[str]:
    """Return the named entities, as the record has them: those that the request gives, else those in its words."""
    return [*gather_context.entities] or [one.name for one in gather_context.mentioned]


def _assembled(
    prepared: PreparedAssembly, first: AssembledRound, found: GatherResult, time: TimeBudget, *, ask_model: bool
) -> AssembledRound:
    """Return the context of all candidates of both rounds."""
    ruled, candidates = prepared.with_gathered(found)
    candidates = _with_summaries(candidates, first.settled.candidates)
    uncounted = load_token_counts(ruled.profile, candidates, ruled.tokenizer)
    sent = sum(one.sent for one in first.settled.rounds)
    settled = assemble_with_summaries(
        ruled.request, ruled.profile, candidates, ruled.tokenizer, time, ask_model=ask_model, sent=sent
    )
    settled = replace(
        settled,
        rounds=(*first.settled.rounds, *settled.rounds),
        report=first.settled.report or settled.report,
    )
    return AssembledRound(found, ruled, settled, {**first.uncounted, **uncounted})


def _with_summaries(candidates: Sequence[Candidate], known: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with the summaries that the first round made of them."""
    made: Mapping[tuple[str, str], Candidate] = {
        (one.section, one.ref): one for one in known if one.summary and one.summary.text
    }
    return [
        structs.replace(one, summary=made[one.section, one.ref].summary) if (one.section, one.ref) in made else one
        for one in candidates
    ]


def _unchanged(
    first: AssembledRound, shortfall: Shortfall, outcome: Outcome, begun: int, time: TimeBudget
) -> AssembledRound:
    """Return the first round's context with the account of a second one that was not begun or not finished."""
    ms = 0 if outcome == "no_time" else time.elapsed_ms - begun
    account = SecondRound(shortfall, outcome, len(first.gathered.candidates), begun, ms)
    return _counted(replace(first, gathered=replace(first.gathered, second_round=account)))


def _counted(done: AssembledRound) -> AssembledRound:
    if done.gathered.second_round:
        count_second_round(done.gathered.second_round.outcome)
    return done
