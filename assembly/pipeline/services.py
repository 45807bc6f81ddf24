"""Recording an assembly that was asked for again: everything as it was, under a new id.

Assembling a context: the one function that REST, pages and commands call.
"""

from copy import copy
from functools import partial

from django.db import connection
from django.utils import timezone
from uuid_utils.compat import uuid7

from agents.models import Agent
from assembly.models import Assembly
from assembly.pipeline.answer_cache import Answer, Question, cache, question
from assembly.pipeline.preconditions import opening
from assembly.pipeline.prepare import Prepared, gather_for, prepare
from assembly.pipeline.request import Asked, recorded
from assembly.pipeline.summaries.resolve import settle, summaries_recorded
from assembly.pipeline.telemetry import cache_lookups, ranked, watched
from assembly.pipeline.token_counts import counts_kept, counts_learnt
from assembly.records.change_counters import Changed
from assembly.records.record import Owners, record
from assembly.records.warnings import codes_of
from assembly.rules.evaluation import rules_recorded
from assembly.sources.time_budget import TimeBudget
from config.observability.tracing import span
from teams.models import Team
from teams.principal import Principal

_NEW = {"id", "created", "requested_by", "requester_name", "assembly_ms", "body", "decided_in"}
_COLUMNS = [field.column for field in Assembly._meta.concrete_fields]  # noqa: SLF001 - Django's documented introspection

# One statement is one transaction, and one journey to the database.
REPEAT = f"""
WITH again AS (
    INSERT INTO assemblies ({", ".join(f'"{column}"' for column in _COLUMNS)})
    SELECT {", ".join(f"%({column})s" if column in _NEW else f'"{column}"' for column in _COLUMNS)}
    FROM assemblies WHERE id = %(of)s
    RETURNING id
)
INSERT INTO new_assemblies (assembly) SELECT id FROM again
"""  # noqa: S608 - only names of columns are put in


def record_again(*, of: Assembly, principal: Principal, assembly_ms: int) -> Assembly | None:
    """Record that the principal was told what the assembly `of` holds: its body and its pieces are shared.

    `now` and the sources' times stay those of the first. None where
    there is no record of the first, because retention took it or its transaction was rolled back.
    """
    again = copy(of)
    again.id, again.created, again.assembly_ms = uuid7(), timezone.now(), assembly_ms
    again.requested_by, again.requester_name = principal.ref, principal.name
    again.decided_in, again.body = of.decided_in or of.id, b""
    parameters = {name: getattr(again, name) for name in _NEW} | {"of": of.id}
    with connection.cursor() as cursor:
        cursor.execute(REPEAT, parameters)
        return again if cursor.rowcount else None


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
