"""Services of proposals. Accepting a proposal changes nothing else: its change has to be published by hand."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.access import is_permitted as may_with_agent
from agents.models import Agent
from assembly.engine.types import field_values
from assembly.models import Assembly, Proposal
from assembly.notifications.services import decision_notify, suggestion_notify
from assembly.records.record import RecordOwners
from assembly.simulation.simulate import Overrides
from assembly.simulation.what_if.services import WhatIfResult, run_what_if
from config.http.errors import Conflict, Forbidden, NotFound
from teams.access import is_permitted as may_in_team
from teams.models import Team
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import lock_row


def proposal_for(principal: Principal, id_: UUID) -> Proposal:
    """Return the proposal, if the principal may see its context. Raises NotFound."""
    found = Proposal.objects.visible_to(principal).filter(id=id_).first()
    if found is None:
        raise NotFound("This proposal")
    return found


def may_propose(principal: Principal, assembly: Assembly) -> bool:
    """Return whether a principal who can see the context may save a proposal: principals who may write
    for its agent.
    """
    if principal.is_admin:
        return True
    agent = Agent.objects.filter(id=assembly.agent_id).first()
    return agent is not None and may_with_agent(principal, agent, Action.WRITE)


def may_decide(principal: Principal, proposal: Proposal) -> bool:
    """Return whether a principal who can see the proposal may accept or dismiss it: admins of its team, or of a team of
    its agent.
    """
    if principal.is_admin:
        return True
    if proposal.team_id:
        team = Team.objects.filter(id=proposal.team_id).first()
        return team is not None and may_in_team(principal, team, Action.MANAGE)
    agent = Agent.objects.filter(id=proposal.agent_id).first()
    return agent is not None and may_with_agent(principal, agent, Action.MANAGE)


def may_delete(principal: Principal, proposal: Proposal) -> bool:
    """Return whether a principal who can see the proposal may delete it: its author, and those who may decide on it."""
    return proposal.proposed_by == principal.ref or may_decide(principal, proposal)


def require_deletable(principal: Principal, proposal: Proposal) -> None:
    """Check that the principal may delete the proposal. Raises Forbidden."""
    require_allowed(
        may_delete(principal, proposal), "Only the author of a suggestion, or an admin of the team, may delete it."
    )


def require_allowed(allowed: bool, detail: str) -> None:
    """Raise Forbidden with advice on what to do instead, unless allowed."""
    if not allowed:
        raise Forbidden(detail)


MAX_OPEN = 500
"""The maximum number of open proposals of an agent."""


def proposal_create(
    *, assembly: Assembly, wishes: Overrides, note: str = "", principal: Principal
) -> tuple[Proposal, WhatIfResult]:
    """Save overrides of a recorded context as a proposal, with what they would change today.

    Raises Forbidden, Conflict if too many proposals are open, and what `run_what_if` raises.
    """
    require_allowed(
        may_propose(principal, assembly), "Your role does not allow suggestions for this agent. Ask an editor."
    )
    if Proposal.objects.filter(agent_id=assembly.agent_id, status=Proposal.Status.OPEN).count() >= MAX_OPEN:
        raise Conflict(f"{MAX_OPEN} proposals on this agent are open. Decide on some of them first.")
    found = run_what_if(assembly=assembly, overrides=wishes)
    comparison = found.beside.comparison
    with transaction.atomic():
        proposal = Proposal.objects.create(
            **field_values(RecordOwners.recorded(assembly)),
            assembly_id=assembly.id,
            sensitivity=assembly.sensitivity,
            wishes=wishes.to_dict(),
            note=note,
            basis=found.basis,
            tokens_before=comparison.tokens_before,
            tokens_after=comparison.tokens_after,
            came_in=len(comparison.newly_in),
            went=len(comparison.pushed_out),
            proposed_by=principal.ref,
            proposer_name=principal.name,
        )
        suggestion_notify(proposal)
    return proposal, found


@transaction.atomic
def proposal_decide(*, proposal: Proposal, status: str, principal: Principal) -> Proposal:
    """Accept or dismiss an open proposal. Raises Forbidden, NotFound, and Conflict if it is decided already."""
    require_allowed(
        may_decide(principal, proposal), "Only an admin of the team may decide on a suggestion. Ask one of them."
    )
    current = lock_row(proposal)
    if not current.is_open:
        raise Conflict(f"{current.decider_name or 'Someone'} decided already: it is {current.status}.")
    current.status, current.decided = status, timezone.now()
    current.decided_by, current.decider_name = principal.ref, principal.name
    current.save(force_update=True)
    decision_notify(current)
    return current


def proposal_delete(*, proposal: Proposal, principal: Principal) -> None:
    """Delete a proposal. Raises Forbidden."""
    require_deletable(principal, proposal)
    proposal.delete()


def proposal_rerun(proposal: Proposal) -> WhatIfResult | None:
    """Return what the proposal would change today; None if its context was deleted. Raises what `run_what_if` does."""
    assembly = Assembly.objects.filter(id=proposal.assembly_id).first()
    return run_what_if(assembly=assembly, overrides=Overrides.from_dict(proposal.wishes)) if assembly else None
