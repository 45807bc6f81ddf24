"""A recorded request is assembled again from today's data, or compared with another record.

Candidates are gathered as for any assembly, but nothing is recorded and no model is asked.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import thread_time
from typing import Any

from django.utils import timezone

from agents.models import Agent
from assembly.comparison.causes import Cause
from assembly.comparison.explain import ExplainedChanges, edits_of, explain_changes
from assembly.comparison.interval import interval_between, interval_until_now
from assembly.comparison.side_by_side import SideBySide, compared_from_record, compared_from_result
from assembly.engine.profile import Profile
from assembly.engine.tokenizers import get_tokenizer
from assembly.models import Assembly
from assembly.pipeline.prepare import PreparedAssembly, gather_candidates, prepare
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.summaries.resolve import SummarisedResult, assemble_with_summaries
from assembly.records.reader import EngineInput, StoredAssembly, load_record
from assembly.sources.base import ConversationTurn, RequestFilters, SourceReport
from assembly.sources.request_inputs import ADDITIONAL_CONTEXT_REF
from assembly.sources.time_budget import TimeBudget
from config.http.cpu_budget import check_cpu
from config.http.errors import DossierError, NotFound
from teams.models import Team


class OwnerDeleted(DossierError):
    """The agent or the team of a context is gone, so nothing can be gathered for it any more."""

    status = 409
    code = "nobody_left"
    title = "There is nobody left to tell this"


@dataclass(frozen=True, slots=True)
class ContextOwners:
    """Whom a context was for, as they are today."""

    agent: Agent
    team: Team | None


def load_owners(assembly: Assembly) -> ContextOwners:
    """The agent and the team, by one query each. Raises NobodyLeft."""
    agent = Agent.objects.filter(id=assembly.agent_id).first()
    if agent is None:
        raise _owner_deleted_error(assembly.agent_name)
    if assembly.team_id is None:
        return ContextOwners(agent, None)
    team = Team.objects.filter(id=assembly.team_id).first()
    if team is None:
        raise _owner_deleted_error(assembly.team_name)
    return ContextOwners(agent, team)


def request_of_record(told: StoredAssembly) -> AssemblyRequest:
    """The request once more, for the present moment; the texts that it brought along are among its candidates.

    A budget that was the profile's is the profile's again.
    """
    assembly, profile = told.assembly, told.inputs.profile
    kept: Mapping[str, Any] = assembly.request
    return AssemblyRequest(
        topic=assembly.topic,
        profile=assembly.profile_name,
        max_tokens=None if assembly.budget == profile.budget else assembly.budget,
        tokenizer=assembly.tokenizer,
        session=kept.get("session") or "",
        history=_recorded_turns(told, profile),
        filters=_filters(kept.get("filters") or {}),
        budgets=RequestBudgets(**(kept.get("budgets") or {})),
        strategy=kept.get("strategy") or {},
        additional_context=next((one.text for one in told.inputs.candidates if one.ref == ADDITIONAL_CONTEXT_REF), ""),
    )


def _recorded_turns(told: StoredAssembly, profile: Profile) -> tuple[ConversationTurn, ...]:
    """The turns that came with the request, in their order, each once."""
    keys = {section.key for section in profile.sections if section.source == "turns"}
    turns = {
        one.position or 0: ConversationTurn(one.kind, one.text) for one in told.inputs.candidates if one.section in keys
    }
    return tuple(turns[place] for place in sorted(turns))


def _filters(kept: Mapping[str, Any]) -> RequestFilters:
    since = kept.get("since")
    return RequestFilters(
        since=datetime.datetime.fromisoformat(since) if since else None,
        event_types=_optional_names(kept.get("event_types")),
        entity_types=_optional_names(kept.get("entity_types")),
        exclude=tuple(kept.get("exclude") or ()),
    )


def _optional_names(kept: list[str] | None) -> frozenset[str] | None:
    return None if kept is None else frozenset(kept)


def _owner_deleted_error(name: str) -> OwnerDeleted:
    return OwnerDeleted(
        f"{name} was deleted, so nothing can be put together today. What was told stays as it was: open the context, "
        "or try changes that need no new reading, as another budget."
    )


@dataclass(frozen=True, slots=True)
class RerunInputs:
    """What the sources have for the request today. `session_gone`: the one that it named is not there any more."""

    inputs: EngineInput
    reports: Sequence[SourceReport]
    session_gone: bool


def gather_rerun_inputs(whom: ContextOwners, asked: AssemblyRequest, now: datetime.datetime) -> RerunInputs:
    """What the request would be made of at that moment. Raises as `assembly.pipeline.services.assemble` does."""
    prepared, session_gone = _prepare_rerun(whom, asked, now)
    gathered = gather_candidates(prepared, TimeBudget.starting_now())
    ruled = prepared.with_fired_rules(gathered.gather_context)
    return RerunInputs(
        EngineInput(ruled.request, ruled.profile, tuple(gathered.candidates)), gathered.reports, session_gone
    )


def assemble_without_model(inputs: EngineInput) -> SummarisedResult:
    """The engine's result for them; what a model would be asked to summarise is extracted."""
    request = inputs.request
    tokenizer = get_tokenizer(request.tokenizer)
    return assemble_with_summaries(
        request, inputs.profile, inputs.candidates, tokenizer, TimeBudget.starting_now(), ask_model=False
    )


def _prepare_rerun(
    whom: ContextOwners, asked: AssemblyRequest, now: datetime.datetime
) -> tuple[PreparedAssembly, bool]:
    try:
        return prepare(whom.agent, whom.team, asked, now), False
    except NotFound:  # nothing but a session can be missing
        return prepare(whom.agent, whom.team, replace(asked, session=""), now), True


@dataclass(frozen=True, slots=True)
class RerunResult:
    """The context then and today. `changes` are those of the comparison, each with its causes."""

    assembly: Assembly
    now: datetime.datetime
    beside: SideBySide
    changes: tuple[ExplainedChanges, ...]
    session_gone: bool
    """The request named a session that is not there any more: today's context is without it."""

    @property
    def causes(self) -> tuple[Cause, ...]:
        """What was changed since, each once."""
        return edits_of(self.changes)


def rerun_today(assembly: Assembly) -> RerunResult:
    """Assemble the recorded request for this moment. Nothing is recorded, no model is asked, no agent notices.

    Raises NobodyLeft where the agent or its team was deleted, RecordDamaged, and what
    `assembly.pipeline.services.assemble` does: Invalid for a profile or a tokenizer that is not there any more, or a
    team in which the agent works no longer.
    """
    told, now = load_record(assembly), timezone.now()
    before, whom = compared_from_record(told), load_owners(assembly)
    anew = gather_rerun_inputs(whom, request_of_record(told), now)
    after = compared_from_result(anew.inputs, assemble_without_model(anew.inputs), anew.reports)
    beside = SideBySide.of(before, after)
    return RerunResult(assembly, now, beside, explain_changes(beside, interval_until_now(assembly)), anew.session_gone)


@dataclass(frozen=True, slots=True)
class RecordComparison:
    """Two contexts in the order in which they are looked at, whichever is older."""

    beside: SideBySide
    changes: tuple[ExplainedChanges, ...]
    """Those of the comparison, each with its causes."""

    @property
    def causes(self) -> tuple[Cause, ...]:
        """What was changed between the making of the one and of the other, each once."""
        return edits_of(self.changes)


def compare_records(before: Assembly, after: Assembly) -> RecordComparison:
    """Compare them. Raises RecordDamaged, and TooCostly. Whether somebody may look is for the caller to decide."""
    begun = thread_time()
    side = compared_from_record(load_record(before))
    check_cpu(thread_time() - begun)  # the other one takes about as long, and no replay is stopped
    beside = SideBySide.of(side, compared_from_record(load_record(after)))
    return RecordComparison(beside, explain_changes(beside, interval_between(before, after)))


def original_request(told: StoredAssembly) -> AssemblyRequest:
    """The wishes of its request, for any moment: without `now`, and with the budget that it had."""
    return replace(request_of_record(told), max_tokens=told.assembly.budget)
