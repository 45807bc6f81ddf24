"""The basis of a simulation is what its context is chosen from: what the sources have for a request, or a record.

Candidates are gathered as for any assembly, but nothing is recorded.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.models import Agent
from assembly.engine.profile import Profile
from assembly.models import Assembly
from assembly.pipeline.prepare import PreparedAssembly, gather_candidates, prepare
from assembly.pipeline.read_plan import GatherResult
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.records.reader import EngineInput, StoredAssembly
from assembly.simulation.rule_overrides import CurrentOwners
from assembly.sources.base import ConversationTurn, RequestFilters, SourceReport
from assembly.sources.request_inputs import ADDITIONAL_CONTEXT_REF
from assembly.sources.time_budget import TimeBudget
from config.http.errors import DossierError, NotFound
from teams.models import Team


class OwnerDeleted(DossierError):
    """The agent or the team of a context is gone, so nothing can be gathered for it any more."""

    status = 409
    code = "nobody_left"
    title = "There is nobody left to tell this"


@dataclass(frozen=True, slots=True)
class ContextOwners:
    """The agent of a context and its team, as they are today."""

    agent: Agent
    team: Team | None = None


def load_owners(assembly: Assembly) -> ContextOwners:
    """Return the agent and the team of a record, by one query each. Raises OwnerDeleted.

    Whoever may see a record may see both of them: see `VisibleQuerySet`.
    """
    agent = Agent.objects.filter(id=assembly.agent_id).first()
    if agent is None:
        raise _owner_deleted_error(assembly.agent_name)
    if assembly.team_id is None:
        return ContextOwners(agent)
    team = Team.objects.filter(id=assembly.team_id).first()
    if team is None:
        raise _owner_deleted_error(assembly.team_name)
    return ContextOwners(agent, team)


def _owner_deleted_error(name: str) -> OwnerDeleted:
    return OwnerDeleted(
        f"{name} was deleted, so nothing can be put together today. What was told stays as it was: open the context, "
        "or try changes that need no new reading, as another budget."
    )


@dataclass(frozen=True, slots=True)
class SimulationBasis:
    """The inputs of the engine before anything is overridden, and where they are from."""

    inputs: EngineInput
    time: TimeBudget
    record: StoredAssembly | None = None
    """The record whose request is simulated; None: the request is on no record."""
    gathered: GatherResult | None = None
    """What the sources gave; None: the candidates are those on record."""
    session_gone: bool = False
    """The request named a session that is not there any more: the context is without it."""
    today: CurrentOwners | None = None
    """Owners that were loaded before, where one rule is tried on many records."""

    @classmethod
    def of(
        cls, prepared: PreparedAssembly, gathered: GatherResult, time: TimeBudget, *, session_gone: bool = False
    ) -> "SimulationBasis":
        """The basis of what was gathered for a prepared request."""
        ruled = prepared.with_fired_rules(gathered.gather_context)
        inputs = EngineInput(ruled.request, ruled.profile, tuple(gathered.candidates))
        return cls(inputs, time, gathered=gathered, session_gone=session_gone)

    @property
    def reports(self) -> Sequence[SourceReport]:
        """How the sources did that were read for it."""
        return self.gathered.reports if self.gathered else ()


def record_basis(record: StoredAssembly, today: CurrentOwners | None = None) -> SimulationBasis:
    """Return what the recorded context was chosen from."""
    return SimulationBasis(record.inputs, TimeBudget.starting_now(), record, today=today)


def gather_basis(
    owners: ContextOwners, asked: AssemblyRequest, now: datetime.datetime, time: TimeBudget | None = None
) -> SimulationBasis:
    """Return what the sources have for the request at that moment.

    Raises as `assembly.pipeline.services.assemble` does.
    """
    prepared, session_gone = prepare_without_lost_session(owners, asked, now)
    time = time or TimeBudget.starting_now()
    return SimulationBasis.of(prepared, gather_candidates(prepared, time), time, session_gone=session_gone)


def prepare_without_lost_session(
    owners: ContextOwners, asked: AssemblyRequest, now: datetime.datetime
) -> tuple[PreparedAssembly, bool]:
    """Prepare the request, outside any session where its own is not there; return whether that is so, too."""
    try:
        return prepare(owners.agent, owners.team, asked, now), False
    except NotFound:  # nothing but a session can be missing
        return prepare(owners.agent, owners.team, replace(asked, session=""), now), True


def request_of_record(record: StoredAssembly) -> AssemblyRequest:
    """Return the request once more, for the present moment; the texts that it brought along are among its candidates.

    A budget that was the profile's is the profile's again.
    """
    assembly, profile = record.assembly, record.inputs.profile
    stored: Mapping[str, Any] = assembly.request
    return AssemblyRequest(
        topic=assembly.topic,
        profile=assembly.profile_name,
        max_tokens=None if assembly.budget == profile.budget else assembly.budget,
        tokenizer=assembly.tokenizer,
        session=stored.get("session") or "",
        history=_recorded_turns(record, profile),
        filters=_filters(stored.get("filters") or {}),
        budgets=RequestBudgets(**(stored.get("budgets") or {})),
        strategy=stored.get("strategy") or {},
        additional_context=next(
            (one.text for one in record.inputs.candidates if one.ref == ADDITIONAL_CONTEXT_REF), ""
        ),
    )


def _recorded_turns(record: StoredAssembly, profile: Profile) -> tuple[ConversationTurn, ...]:
    """The turns that came with the request, in their order, each once."""
    keys = {section.key for section in profile.sections if section.source == "turns"}
    turns = {
        one.position or 0: ConversationTurn(one.kind, one.text)
        for one in record.inputs.candidates
        if one.section in keys
    }
    return tuple(turns[place] for place in sorted(turns))


def _filters(stored: Mapping[str, Any]) -> RequestFilters:
    since = stored.get("since")
    return RequestFilters(
        since=datetime.datetime.fromisoformat(since) if since else None,
        event_types=_optional_names(stored.get("event_types")),
        entity_types=_optional_names(stored.get("entity_types")),
        exclude=tuple(stored.get("exclude") or ()),
    )


def _optional_names(stored: list[str] | None) -> frozenset[str] | None:
    return None if stored is None else frozenset(stored)
