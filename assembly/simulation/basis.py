"""The basis of a simulation has its inputs: what the sources return for a request, or the candidates of a record.

Candidates are gathered as for any assembly, but nothing is recorded.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.models import Agent
from assembly.engine.profile import Profile
from assembly.engine.types import Origin
from assembly.models import Assembly
from assembly.pipeline.prepare import PreparedAssembly, prepare
from assembly.pipeline.read_plan import GatherResult
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.rounds import gather_in_rounds
from assembly.records.reader import EngineInput, StoredAssembly
from assembly.simulation.rule_overrides import CurrentOwners
from assembly.sources.base import ConversationTurn, RequestFilters, SourceReport
from assembly.sources.request_inputs import ADDITIONAL_CONTEXT_REF
from assembly.sources.time_budget import TimeBudget
from config.http.errors import DossierError, NotFound
from teams.models import Team


class OwnerDeleted(DossierError):
    """The agent or the team of a context was deleted, so nothing can be gathered for it any more."""

    status = 409
    code = "agent_deleted"
    title = "The agent or team was deleted"


@dataclass(frozen=True, slots=True)
class ContextOwners:
    """The agent of a context and its team, as they are today."""

    agent: Agent
    team: Team | None = None


def load_owners(assembly: Assembly) -> ContextOwners:
    """Return the agent and the team of a record; one query each. Raises OwnerDeleted.

    A principal who may see a record may see both of them: see `VisibleQuerySet`.
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
        f"{name} was deleted, so the request cannot be run today. The recorded context is "
        "retained: open it, or try changes that need no new reading, such as another budget."
    )


@dataclass(frozen=True, slots=True)
class SimulationBasis:
    """The inputs of the engine before overrides, and where they come from."""

    inputs: EngineInput
    time: TimeBudget
    record: StoredAssembly | None = None
    """The record whose request is simulated; None if the request has no record."""
    gathered: GatherResult | None = None
    """The results of the sources; None if the candidates are those of the record."""
    session_gone: bool = False
    """The session of the request does not exist any more, so the context is assembled without it."""
    today: CurrentOwners | None = None
    """Owners that were loaded before, for a rule that is tried on many records."""

    @classmethod
    def of(
        cls, prepared: PreparedAssembly, gathered: GatherResult, time: TimeBudget, *, session_gone: bool = False
    ) -> "SimulationBasis":
        """Return the basis of a prepared request and its gathered candidates."""
        ruled, candidates = prepared.with_gathered(gathered)
        inputs = EngineInput(ruled.request, ruled.profile, tuple(candidates))
        return cls(inputs, time, gathered=gathered, session_gone=session_gone)

    @property
    def reports(self) -> Sequence[SourceReport]:
        """The reports of the sources that were read for the basis."""
        return self.gathered.reports if self.gathered else ()


def record_basis(record: StoredAssembly, today: CurrentOwners | None = None) -> SimulationBasis:
    """Return the basis with the inputs of a recorded context."""
    return SimulationBasis(record.inputs, TimeBudget.starting_now(), record, today=today)


def gather_basis(
    owners: ContextOwners, asked: AssemblyRequest, now: datetime.datetime, time: TimeBudget | None = None
) -> SimulationBasis:
    """Return the basis with what the sources return for the request at that moment.

    Raises as `assembly.pipeline.services.assemble` does.
    """
    prepared, session_gone = prepare_without_lost_session(owners, asked, now)
    time = time or TimeBudget.starting_now()
    return SimulationBasis.of(prepared, gather_in_rounds(prepared, time), time, session_gone=session_gone)


def prepare_without_lost_session(
    owners: ContextOwners, asked: AssemblyRequest, now: datetime.datetime
) -> tuple[PreparedAssembly, bool]:
    """Prepare the request, without its session if that does not exist any more; return also whether that is so."""
    try:
        return prepare(owners.agent, owners.team, asked, now), False
    except NotFound:  # nothing but a session can be missing
        return prepare(owners.agent, owners.team, replace(asked, session=""), now), True


def request_of_record(record: StoredAssembly) -> AssemblyRequest:
    """Return the request of the record for the current time; texts that it contained are among the record's candidates.

    A budget that came from the profile comes from the profile again.
    """
    assembly, profile = record.assembly, record.inputs.profile
    additional = next((one for one in record.inputs.candidates if one.ref == ADDITIONAL_CONTEXT_REF), None)
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
        entities=tuple(stored.get("entities") or ()),
        additional_context=additional.text if additional else "",
        sender_origin=_sender_origin(record, profile),
    )


def _sender_origin(record: StoredAssembly, profile: Profile) -> Origin:
    """Return who sent the recorded request, as its additional context or a turn of the role `user` tells."""
    keys = {section.key for section in profile.sections if section.source == "turns"}
    told = (
        one.origin
        for one in record.inputs.candidates
        if one.ref == ADDITIONAL_CONTEXT_REF or (one.section in keys and one.kind == "user")
    )
    return next(filter(None, told), "agent")


def _recorded_turns(record: StoredAssembly, profile: Profile) -> tuple[ConversationTurn, ...]:
    """Return the turns of the recorded request, in their order, each once."""
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
