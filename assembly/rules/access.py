"""Who may do what with a rule: read those of whom one sees, change those of whom one may edit."""

from django.db.models import QuerySet

from agents.access import agent_for
from agents.access import may as may_with_agent
from agents.models import Agent
from assembly.engine.rules import Scope
from assembly.models import StoredRule
from config.http.errors import Forbidden, NotFound
from teams.access import Action, require_admin, team_for
from teams.access import may as may_in_team
from teams.models import Team
from teams.principal import Principal

Owner = Agent | Team | None
"""Whom a rule is for; None: everybody."""


def rule_for(principal: Principal, name: str, action: Action = Action.READ) -> StoredRule:
    """The rule with that name. Raises NotFound or Forbidden."""
    rules = StoredRule.objects.visible_to(principal).select_related("agent", "team")
    rule = rules.filter(name=name).first()
    if rule is None:
        raise NotFound(f"The rule “{name}”")
    if action is not Action.READ and not may_edit(principal, rule):
        raise Forbidden("Your role does not allow this for this rule. Ask an admin.")
    return rule


def may_edit(principal: Principal, rule: StoredRule) -> bool:
    """Whether somebody who can see the rule may change it: who edits its agent or team, else admins alone."""
    if rule.agent:
        return may_with_agent(principal, rule.agent, Action.EDIT)
    if rule.team:
        return may_in_team(principal, rule.team, Action.EDIT)
    return principal.is_admin


def owner_for(principal: Principal, *, agent: str, team: str) -> Owner:
    """For whom a new rule is to be, by slug; "" for none. Raises NotFound and Forbidden."""
    if agent:
        return agent_for(principal, agent, Action.EDIT)
    if team:
        return team_for(principal, team, Action.EDIT)
    require_admin(principal)
    return None


def scope_of(owner: Owner) -> Scope:
    """How narrow a rule for them is."""
    return "agent" if isinstance(owner, Agent) else "team" if owner else "everywhere"


def teams_for_rules(principal: Principal) -> QuerySet[Team]:
    """The teams for which a person may write rules, by name."""
    return Team.objects.editable_by(principal).order_by("name")
