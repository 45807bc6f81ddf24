"""This module answers a MemoryRequest.v0 by an assembly like any other, or by the one that it got before."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agents.access import agent_for, own_agent
from agents.models import Agent
from assembly.access import assembly_for
from assembly.contract.assembled_context import AnsweredAssembly, assembled_context
from assembly.contract.request_ids import AlreadyAssembled, RequestId
from assembly.contract.translation import to_assembly_request
from assembly.engine.profile import Profile
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.services import assemble
from assembly.records.reader import content_of, load_record
from config.http.errors import DossierError, Invalid
from config.http.problems import as_dossier_error
from config.observability.tracing import span
from teams.access import team_for
from teams.models import Team
from teams.principal import Action, Principal

logger = logging.getLogger(__name__)


class AnswerDeleted(DossierError):
    status = 409
    code = "answer_deleted"
    title = "The answer to this request was deleted"


class UnrecoverableAssembly(DossierError):
    status = 500
    code = "unrecoverable_assembly"
    title = "Unrecoverable memory assembly failure"


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """A memory answer has an AssembledContext.v0, the id of its assembly, and whether it was given before."""

    document: dict[str, Any]
    assembly: UUID
    repeated: bool


def memory_assemble(*, memory_request: Mapping[str, Any], principal: Principal) -> MemoryAnswer:
    """Return the answer to the valid request `memory_request`, whose assembly is recorded.

    The same request_id with the same body gets the same answer for 24 hours, from the record of the first. Raises
    RequestIdReused for another body; NotFound for an agent, team, session or record that the principal may not see;
    Invalid for an unknown profile or tokenizer, a team in which the agent does not work, or a missing agent;
    AnswerDeleted if the record of the first was deleted in the same moment; UnrecoverableAssembly for an error that
    nobody expected, after which nothing is recorded.
    """
    with span("memory_request", {"memory.request_id": memory_request["request_id"]}):
        try:
            return _answer_once(memory_request, principal)
        except Exception as error:
            if as_dossier_error(error) is not None:
                raise
            logger.exception("unexpected error in the assembly of memory")
            raise UnrecoverableAssembly("Unrecoverable memory assembly failure. Nothing was recorded.") from None


def _answer_once(memory_request: Mapping[str, Any], principal: Principal) -> MemoryAnswer:
    request_id = RequestId.of(memory_request, principal)
    if before := request_id.find_assembly():
        return _answer_of_record(memory_request, before, principal)
    agent = _agent_of(memory_request, principal)
    team = _team_of(memory_request, agent, principal)
    try:
        result = assemble(
            agent=agent,
            team=team,
            asked=to_assembly_request(memory_request),
            principal=principal,
            recorded=request_id.claim,
        )
    except AlreadyAssembled:
        if (first := request_id.find_assembly()) is None:
            raise AnswerDeleted(
                "The record of the answer to this request_id was deleted in the same moment. Send the request again."
            ) from None
        return _answer_of_record(memory_request, first, principal)
    return MemoryAnswer(assembled_context(memory_request, _answered(result)), result.assembly.id, repeated=False)


def _answer_of_record(memory_request: Mapping[str, Any], id_: UUID, principal: Principal) -> MemoryAnswer:
    """Return the answer that the request got before, built from its record."""
    record = load_record(assembly_for(principal, id_))
    answered = AnsweredAssembly(record.assembly, content_of(record), record.inputs.profile, [*record.decided])
    return MemoryAnswer(assembled_context(memory_request, answered), id_, repeated=True)


def _answered(result: AssemblyResult) -> AnsweredAssembly:
    """Return a new assembly as the answer needs it; one from the cache is read from its record."""
    if result.candidates is None:
        record = load_record(result.assembly)
        return AnsweredAssembly(record.assembly, result.content, record.inputs.profile, [*record.decided])
    offered = {(candidate.section, candidate.ref): candidate for candidate in result.candidates}
    decided = [(decision, offered[decision.section, decision.ref]) for decision in result.decisions]
    return AnsweredAssembly(result.assembly, result.content, Profile.from_dict(result.assembly.profile), decided)


def _agent_of(memory_request: Mapping[str, Any], principal: Principal) -> Agent:
    if "agent" in memory_request:
        return agent_for(principal, memory_request["agent"], Action.READ)
    agent = own_agent(principal)
    if agent is None:
        raise Invalid("agent", "Name the agent: only a key of an agent speaks for one by itself.", "required")
    return agent


def _team_of(memory_request: Mapping[str, Any], agent: Agent, principal: Principal) -> Team | None:
    """Return the team of the request; without one, the agent's only team, if the principal sees it."""
    if "team" in memory_request:
        return team_for(principal, memory_request["team"]) if memory_request["team"] is not None else None
    teams = Team.objects.filter(agent_links__agent=agent)[:2]
    if len(teams) != 1:
        return None
    if principal.is_admin or teams[0].id in principal.team_ids:
        return teams[0]
    return Team.objects.visible_to(principal).filter(id=teams[0].id).first()
