"""Assembling a context: the one function that REST, pages and commands call."""

from functools import partial

from agents.models import Agent
from assembly.asked import Asked, recorded
from assembly.cache import Answer, Question, cache, question
from assembly.changes import Changed
from assembly.counted import counts_kept, counts_learnt
from assembly.metrics import cache_lookups
from assembly.opening import opening
from assembly.preparation import Prepared, gather_for, prepare
from assembly.record import Owners, record
from assembly.repetition import record_again
from assembly.rules.firing import rules_recorded
from assembly.settling import settle, summaries_recorded
from assembly.time_budget import TimeBudget
from assembly.warnings import codes_of
from assembly.watching import ranked, watched
from config.http.tracing import span
from teams.models import Team
from teams.principal import Principal


@watched
def assemble(*, agent: Agent, team: Team | None = None, asked: Asked, principal: Principal) -> Answer:
    """Assemble and record the context of an agent, in one of its teams or in none.

    What was asked within the last half minute, with nothing changed since, is answered from the cache, under a record
    of its own. Raises Invalid for an unknown profile or tokenizer, a strategy that the profile cannot follow, turns
    that it has no place for, or a team that the agent does not work in; NotFound for a session that is not the
    agent's. Whether the principal may do this is for the caller to decide.
    """
    time = TimeBudget.running(asked.budgets.time_ms)
    wanted = question(agent=agent, team=team, now=asked.now, asked=asked.facts())
    known = cache.recall(wanted, opening(agent, team).changes) if cache.knows(wanted) else None
    if known and (again := record_again(of=known.assembly, principal=principal, assembly_ms=time.elapsed_ms)):
        cache_lookups.count(hit=True)
        return Answer(again, known.content, known.decisions)
    cache_lookups.count(hit=False)
    assembled = partial(_assembled, prepare(agent, team, asked, wanted.now), wanted, asked, time, principal)
    try:
        return assembled(unproved=True)
    except Changed:  # since it was read, so that nothing was recorded
        return assembled(unproved=False)


def _assembled(
    prepared: Prepared, wanted: Question, asked: Asked, time: TimeBudget, principal: Principal, *, unproved: bool
) -> Answer:
    """Assembled and recorded; where it may be `unproved` what it is made of, raises Changed if it did."""
    with span("query"):
        gathered = gather_for(prepared, time, unproved=unproved)
    ruled = prepared.under_rules(gathered.situation)
    uncounted = counts_learnt(ruled.profile, gathered.candidates, ruled.tokenizer)
    with span("rank") as ranking:
        settled = settle(ruled.request, ruled.profile, gathered.candidates, ruled.tokenizer, time)
        if ranking.is_recording():
            ranking.set_attributes(ranked(settled.assembled))
    assembled, reports = settled.assembled, [*gathered.reports, *([settled.report] if settled.report else [])]
    with span("record"):
        assembly = record(
            request=ruled.request,
            profile=ruled.profile,
            candidates=settled.candidates,
            reports=reports,
            assembled=assembled,
            warnings=codes_of(assembled, reports, time),
            wishes={
                **recorded(asked, ruled.request, ruled.situation),
                **rules_recorded(ruled.situation, assembled.decisions),
                **summaries_recorded(settled.rounds),
                "quality": assembled.quality,
            },
            assembly_ms=time.elapsed_ms,
            owners=Owners.of(ruled.situation.agent, ruled.situation.team),
            principal=principal,
            rests_on=gathered.rests_on,
        )
    counts_kept(uncounted, ruled.tokenizer)
    answer = Answer(assembly, assembled.content, assembled.decisions)
    if gathered.may_be_kept and not settled.report and not time.is_over:
        cache.remember(wanted, gathered.opening.changes, answer)
    return answer
