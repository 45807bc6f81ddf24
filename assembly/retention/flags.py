"""Flags: a person wants a record to be kept, whatever the retention says."""

from django.db import IntegrityError, transaction

from agents.access import may as may_with_agent
from agents.models import Agent
from assembly.models import Assembly, AssemblyFlag
from config.http.errors import Forbidden, NotFound
from teams.access import Action, may
from teams.models import Team
from teams.principal import Principal


def may_flag(principal: Principal, assembly: Assembly) -> bool:
    """Whether somebody who sees the record may flag it: who may write in its team, or for its agent where it has none.

    Once these are gone, admins of the organisation alone.
    """
    if principal.is_admin:
        return True
    if assembly.team_id:
        team = Team.objects.filter(id=assembly.team_id).first()
        return bool(team and may(principal, team, Action.WRITE))
    agent = Agent.objects.filter(id=assembly.agent_id).first()
    return bool(agent and may_with_agent(principal, agent, Action.WRITE))


def assembly_flag(*, assembly: Assembly, note: str = "", principal: Principal) -> AssemblyFlag:
    """Keep this record; one that is flagged stays as it is. Raises Forbidden, and NotFound where it was just pruned."""
    _require(principal, assembly)
    flag = AssemblyFlag(assembly=assembly, by_ref=principal.ref, by_name=principal.name, note=note)
    try:
        with transaction.atomic():
            flag.save(force_insert=True)
    except IntegrityError:
        found = AssemblyFlag.objects.filter(assembly=assembly).first()
        if found is None:
            raise NotFound("This context") from None
        return found
    return flag


def assembly_unflag(*, assembly: Assembly, principal: Principal) -> None:
    """It need not be kept any longer than others. Raises Forbidden."""
    _require(principal, assembly)
    AssemblyFlag.objects.filter(assembly=assembly).delete()


def _require(principal: Principal, assembly: Assembly) -> None:
    if not may_flag(principal, assembly):
        raise Forbidden("Your role does not allow this. Ask an editor or an admin of the team.")
