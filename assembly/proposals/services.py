"""Writing proposals. To accept one changes nothing else: what it proposes is published where such things are."""

from django.db import transaction
from django.utils import timezone

from assembly.again.what_if import WhatIf, what_if
from assembly.again.wishes import Wishes
from assembly.engine.flat import flat
from assembly.models import Assembly, Proposal
from assembly.proposals.access import may_decide, may_propose, require, require_deletable
from assembly.record import Owners
from config.http.errors import Conflict
from teams.files import locked
from teams.principal import Principal

MAX_OPEN = 500
"""Of one agent."""


def proposal_create(
    *, assembly: Assembly, wishes: Wishes, note: str = "", principal: Principal
) -> tuple[Proposal, WhatIf]:
    """Keep what the wishes would change in a recorded context, and what that is today.

    Raises Forbidden, Conflict where too many are open, and what `what_if` raises.
    """
    require(may_propose(principal, assembly), "Your role does not allow proposals for this agent. Ask an editor.")
    if Proposal.objects.filter(agent_id=assembly.agent_id, status=Proposal.Status.OPEN).count() >= MAX_OPEN:
        raise Conflict(f"{MAX_OPEN} proposals on this agent are open. Decide on some of them first.")
    found = what_if(assembly=assembly, wishes=wishes)
    comparison = found.beside.comparison
    proposal = Proposal.objects.create(
        **flat(Owners.recorded(assembly)),
        assembly_id=assembly.id,
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
    return proposal, found


@transaction.atomic
def proposal_decide(*, proposal: Proposal, status: str, principal: Principal) -> Proposal:
    """Accept or dismiss an open proposal. Raises Forbidden, NotFound, and Conflict where somebody decided already."""
    require(may_decide(principal, proposal), "Only an admin of the team may decide on a proposal. Ask one of them.")
    current = locked(proposal)
    if not current.is_open:
        raise Conflict(f"{current.decider_name or 'Somebody'} decided already: it is {current.status}.")
    current.status, current.decided = status, timezone.now()
    current.decided_by, current.decider_name = principal.ref, principal.name
    current.save(force_update=True)
    return current


def proposal_delete(*, proposal: Proposal, principal: Principal) -> None:
    """Take a proposal away. Raises Forbidden."""
    require_deletable(principal, proposal)
    proposal.delete()


def proposal_again(proposal: Proposal) -> WhatIf | None:
    """What the proposal would change by now; None where its context is no longer kept. Raises what `what_if` does."""
    assembly = Assembly.objects.filter(id=proposal.assembly_id).first()
    return what_if(assembly=assembly, wishes=Wishes.from_dict(proposal.wishes)) if assembly else None
