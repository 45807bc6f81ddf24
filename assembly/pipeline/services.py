"""This service assembles a context; the REST API, pages and commands call it.

The same request within 30 seconds is answered from the cache, with a record of its own that shares the body and the
pieces of the first record.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import replace
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from agents.models import Agent
from assembly.engine.codes import WarningCode
from assembly.models import Assembly, Purpose
from assembly.pipeline.answer_cache import AssemblyResult, CacheKey, cache_key
from assembly.pipeline.prepare import (
    PreparedAssembly,
    gather_candidates,
    prepare,
    request_clearances,
    require_clearance,
)
from assembly.pipeline.request import AssemblyRequest, request_document
from assembly.pipeline.rounds import AssembledRound, with_second_round
from assembly.pipeline.shared_answers import recall, remember_answer
from assembly.pipeline.shared_readings import decode_readings, readings_key
from assembly.pipeline.summaries.resolve import assemble_with_summaries, summaries_cost, summaries_document
from assembly.pipeline.telemetry import cache_lookups, count_cost, count_preassembly, engine_attributes, traced_assembly
from assembly.pipeline.token_counts import load_token_counts, store_token_counts
from assembly.records.change_counters import StaleRead
from assembly.records.record import RecordOwners, record, warning_codes
from assembly.records.warnings import UNREAD_CONFLICTS
from assembly.rules.evaluation import rules_document
from assembly.sources.base import origin_of
from assembly.sources.time_budget import RoundClock, TimeBudget
from config.db.statements import execute_sql
from config.observability.tracing import span
from teams.models import Team
from teams.principal import Principal
from teams.readings.collector import note_written
from teams.sensitivity import reading_as

OnRecord = Callable[[Assembly], None]
"""A function that is called with a new record, in its transaction."""

_REPLACED_COLUMNS = {
    *("id", "created", "requested_by", "requester_name", "purpose", "assembly_ms", "body", "decided_in"),
}
_COLUMNS = [field.column for field in Assembly._meta.concrete_fields]  # noqa: SLF001 - Django's documented introspection

# A single statement, so that one round trip to the database is also the transaction.
REPEAT_SQL = f"""
WITH again AS (
    INSERT INTO assemblies ({", ".join(f'"{column}"' for column in _COLUMNS)})
    SELECT {", ".join(f"%({column})s" if column in _REPLACED_COLUMNS else f'"{column}"' for column in _COLUMNS)}
    FROM assemblies WHERE id = %(of)s
    RETURNING id
)
INSERT INTO new_assemblies (assembly) SELECT id FROM again
"""  # noqa: S608 - only names of columns are put in


def record_cache_hit(*, of: Assembly, principal: Principal, purpose: Purpose, assembly_ms: int) -> Assembly | None:
    """Record an answer from the cache, which shares the body and the pieces of the assembly `of`.

    `now` and the sources' times stay those of the first record. Returns None if the first record does not exist,
    because retention deleted it or its transaction was rolled back.
    """
    again = copy(of)
    again.id, again.created, again.assembly_ms = uuid7(), timezone.now(), assembly_ms
    again.requested_by, again.requester_name, again.purpose = principal.ref, principal.name, purpose
    again.decided_in, again.body = of.decided_in or of.id, b""
    parameters = {name: getattr(again, name) for name in _REPLACED_COLUMNS} | {"of": of.id}
    return again if execute_sql(REPEAT_SQL, parameters) else None


@traced_assembly
def assemble(
    *,
    agent: Agent,
    team: Team | None = None,
    asked: AssemblyRequest,
    principal: Principal,
    recorded: OnRecord | None = None,
) -> AssemblyResult:
    """Assemble and record the context of an agent, in one of its teams or in none.

    The same request within the last 30 seconds, with nothing changed since, is answered from the cache, with a record
    of its own. `recorded` is called with each new row, in the transaction that writes it: an exception that it raises
    passes through, and nothing is recorded. Raises Invalid for an unknown profile or tokenizer, a strategy that the
    profile cannot follow, or a team in which the agent does not work; NotFound for a session that is not the agent's;
    Forbidden for texts of the request that are more sensitive than the agent or who asks may read.
    The caller must check that the principal may do this.
    """
    asked = asked.for_agent(agent)
    if asked.additional_context or asked.history:
        asked = replace(asked, sender_origin=origin_of(principal.author))
    time, purpose = TimeBudget.running(asked.budgets.time_ms), asked.purpose or Purpose.default_for(principal)
    with reading_as(principal):
        clearances = request_clearances(agent, team)
    require_clearance(asked, clearances, team)
    wanted = cache_key(agent=agent, team=team, now=asked.now, asked=asked.facts(), clearances=clearances)
    recalled = recall(wanted, agent, team, readings_key(agent, team, asked) if settings.PREASSEMBLY else None)
    if known := recalled.answer:
        repeat = partial(record_cache_hit, of=known.assembly, principal=principal, purpose=purpose)
        with _transaction_for(recorded):
            again = repeat(assembly_ms=time.elapsed_ms)
            if again and recorded:
                recorded(again)
        if again:
            cache_lookups.count(hit=True)
            note_written(again)
            return AssemblyResult(again, known.content, known.decisions)
    cache_lookups.count(hit=False)
    prepared = prepare(agent, team, asked, wanted.now, clearances=clearances)
    if recalled.readings:
        prepared = replace(prepared, readings=decode_readings(recalled.readings))
    assembled = partial(_assemble_and_record, prepared, wanted, asked, time, principal, recorded=recorded)
    try:
        return assembled(trust_cache=True)
    except StaleRead:  # cached rows were out of date, so nothing was recorded
        return assembled(trust_cache=False)


def _transaction_for(recorded: OnRecord | None) -> AbstractContextManager[None]:
    """Return the transaction of a record and of what `recorded` writes; the record alone is a single statement."""
    return transaction.atomic() if recorded else nullcontext()


def _assemble_and_record(
    prepared: PreparedAssembly,
    wanted: CacheKey,
    asked: AssemblyRequest,
    time: TimeBudget,
    principal: Principal,
    *,
    recorded: OnRecord | None,
    trust_cache: bool,
) -> AssemblyResult:
    """Assemble and record a prepared request; with `trust_cache`, raises StaleRead if cached rows were out of date."""
    clock = RoundClock()
    with span("query"):
        gathered = gather_candidates(prepared, time, trust_cache=trust_cache)
    clock.gathered()
    ruled, candidates = prepared.with_gathered(gathered)
    uncounted = load_token_counts(ruled.profile, candidates, ruled.tokenizer)
    with span("rank") as ranking:
        settled = assemble_with_summaries(ruled.request, ruled.profile, candidates, ruled.tokenizer, time)
        if ranking.is_recording():
            ranking.set_attributes(engine_attributes(settled.assembled))
    if ruled.profile.second_round:
        done = with_second_round(prepared, AssembledRound(gathered, ruled, settled, uncounted), clock.cost(), time)
        gathered, ruled, settled, uncounted = done.gathered, done.ruled, done.settled, done.uncounted
    assembled, reports = settled.assembled, [*gathered.reports, *([settled.report] if settled.report else [])]
    if gathered.conflicts is None:
        assembled = replace(assembled, warnings=(*assembled.warnings, WarningCode.COHERENCE_FAILURE))
    with span("record"), _transaction_for(recorded):
        assembly = record(
            request=ruled.request,
            profile=ruled.profile,
            candidates=settled.candidates,
            reports=reports,
            assembled=assembled,
            warnings=warning_codes(assembled, reports, time),
            wishes={
                **request_document(asked, ruled.request, ruled.gather_context),
                **rules_document(ruled.gather_context, assembled.decisions),
                **summaries_document(settled.rounds),
                **({"second_round": gathered.second_round.to_dict()} if gathered.second_round else {}),
                **({"placeholders": ruled.fingerprints} if ruled.fingerprints else {}),
                **({UNREAD_CONFLICTS: True} if gathered.conflicts is None else {}),
                "quality": assembled.quality,
                "cost": count_cost(gathered.cost, summaries_cost(settled.rounds)),
            },
            assembly_ms=time.elapsed_ms,
            owners=RecordOwners.of(ruled.gather_context.agent, ruled.gather_context.team),
            principal=principal,
            purpose=asked.purpose or Purpose.default_for(principal),
            expected_counts=gathered.expected_counts,
            least_sensitivity=asked.sensitivity,
            seconds_left=time.left,
        )
        if recorded:
            recorded(assembly)
    if settings.PREASSEMBLY:
        count_preassembly(gathered.read_when)
    note_written(assembly)
    store_token_counts(uncounted, ruled.tokenizer)
    answer = AssemblyResult(assembly, assembled.content, assembled.decisions)
    is_coherent = WarningCode.COHERENCE_FAILURE not in assembled.warnings
    if gathered.is_cacheable and is_coherent and not settled.report and not time.is_over:
        remember_answer(wanted, gathered.preconditions.changes, answer)
    return replace(answer, candidates=settled.candidates)
