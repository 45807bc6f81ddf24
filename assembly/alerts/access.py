"""Who may read an alert, and who may say that it is seen or settled."""

from uuid import UUID

from agents.access import may as may_with_agent
from agents.models import Agent
from assembly.models import Alert
from config.http.errors import Forbidden, NotFound
from teams.access import Action
from teams.access import may as may_with_team
from teams.models import Team
from teams.principal import Principal


def alert_for(principal: Principal, id_: UUID) -> Alert:
    """The alert, if the principal may see its agent and its team. Raises NotFound."""
    found = Alert.objects.visible_to(principal).filter(id=id_).first()
    if found is None:
        raise NotFound("This alert")
    return found


def alert_to_settle(principal: Principal, id_: UUID) -> Alert:
    """The same, to be settled. Raises Forbidden for those who may not change what it is about."""
    alert = alert_for(principal, id_)
    if not may_settle(principal, alert):
        raise Forbidden("Your role does not allow this for this agent. Ask an editor of its team.")
    return alert


def may_settle(principal: Principal, alert: Alert) -> bool:
    """Whether somebody who sees it may: editors of its team, or of a team of its agent where it has none."""
    if principal.is_admin:
        return True
    if alert.team_id:
        team = Team.objects.filter(id=alert.team_id).first()
        return team is not None and may_with_team(principal, team, Action.EDIT)
    agent = Agent.objects.filter(id=alert.agent_id).first()
    return agent is not None and may_with_agent(principal, agent, Action.EDIT)
