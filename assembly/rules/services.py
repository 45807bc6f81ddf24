"""This module finds, creates, saves and deletes rules. A text that cannot be parsed is refused with its line.

People who see an agent or team may read its rules; people who edit it may write them.
"""

from django.db import transaction
from django.db.models import QuerySet

from agents.access import agent_for
from agents.access import is_permitted as may_with_agent
from agents.models import Agent
from assembly.engine.rules import Scope
from assembly.models import StoredRule
from assembly.profiles.catalogue import known_sources
from assembly.profiles.documents import document_create, refuse_name
from assembly.rules.parser import parse_rule
from config.http.errors import Conflict, Forbidden, NotFound
from teams.access import is_permitted as may_in_team
from teams.access import require_admin, require_change_allowed, team_for
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.models import Team
from teams.principal import Action, Principal
from teams.services import erase
from teams.versioned_text.versioned_file import StaleVersion, lock_row

Owner = Agent | Team | None
"""The owner of a rule; None means all agents."""


def rule_for(principal: Principal, name: str, action: Action = Action.READ) -> StoredRule:
    """Return the rule with this name. Raises NotFound or Forbidden."""
    rules = StoredRule.objects.visible_to(principal).select_related("agent", "team")
    rule = rules.filter(name=name).first()
    if rule is None:
        raise NotFound(f"The rule “{name}”")
    if action is not Action.READ and not may_edit(principal, rule):
        raise Forbidden("Your role does not allow this for this rule. Ask an admin.")
    return rule


def may_edit(principal: Principal, rule: StoredRule) -> bool:
    """Return whether a principal who can see the rule may change it: by editing its agent or team; rules for all agents
    need an admin.
    """
    if rule.agent:
        return may_with_agent(principal, rule.agent, Action.EDIT)
    if rule.team:
        return may_in_team(principal, rule.team, Action.EDIT)
    return principal.is_admin


def rule_owner_for(principal: Principal, *, agent: str, team: str) -> Owner:
    """Return the owner of a new rule, by slug; "" for none. Raises NotFound and Forbidden."""
    if agent:
        return agent_for(principal, agent, Action.EDIT)
    if team:
        return team_for(principal, team, Action.EDIT)
    require_admin(principal)
    return None


def owner_scope(owner: Owner) -> Scope:
    """Return the scope of a rule of this owner."""
    return "agent" if isinstance(owner, Agent) else "team" if owner else "everywhere"


def teams_for_rules(principal: Principal) -> QuerySet[Team]:
    """Return the teams for which the person may write rules, by name."""
    return Team.objects.editable_by(principal).order_by("name")


MAX_RULES = 100
"""The maximum number of rules of an agent, of a team, and for all agents."""
RESERVED_NAMES = {"new", "check", "try", "backtest", "recall-tests"}
"""Names that no rule can have, because they are parts of URLs."""


@transaction.atomic
def rule_create(
    *, name: str, content: str, owner: Owner, enabled: bool = True, principal: Principal, note: str = ""
) -> StoredRule:
    """Create a rule for an agent, a team or all agents (None). Raises Conflict, and Invalid, which names the line.

    The caller checks whether the principal may do this.
    """
    refuse_name(name, RESERVED_NAMES)
    agent = owner if isinstance(owner, Agent) else None
    team = owner if isinstance(owner, Team) else None
    row = StoredRule(name=name, content=content, agent=agent, team=team, enabled=enabled)
    _refuse_unreadable(content, name, 1, row.scope)
    if StoredRule.objects.filter(agent=agent, team=team).count() >= MAX_RULES:
        raise Conflict(f"There are {MAX_RULES} rules here already. Delete one first.")
    return document_create(row=row, principal=principal, note=note)


@transaction.atomic
def rule_save(
    *, rule: StoredRule, content: str, enabled: bool, expected_version: int, principal: Principal, note: str = ""
) -> StoredRule:
    """Save the next version of a rule, also where it is only switched on or off; the same again makes none.

    Raises StaleVersion, NotFound where it was deleted meanwhile, Invalid, which names the line, and Forbidden for an
    agent's key where a person wrote the rule and its team does not allow it.
    """
    current = lock_row(rule)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    if (content, enabled) == (current.content, current.enabled):
        return current
    require_change_allowed(principal, current.team, current.versions.all())
    if content != current.content:  # one that cannot be read any more can still be switched off
        _refuse_unreadable(content, current.name, current.version + 1, current.scope)
    current.content, current.enabled = content, enabled
    current.version += 1
    current.signed_by(principal.author)
    current.save(force_update=True)
    current.as_version(note).save(force_insert=True)
    return current


@transaction.atomic
def rule_delete(*, rule: StoredRule, principal: Principal) -> None:
    """Delete a rule with its history. Contexts in which it was applied remain, with its effects.

    Raises Forbidden for an agent's key if a person wrote the rule and its team does not allow it.
    """
    require_change_allowed(principal, rule.team, rule.versions.all())
    erase("rules", rule.id, principal)
    activity_record(principal, ActivityAction.RULE_DELETED, rule.name, team_ids=[rule.team_id])


def _refuse_unreadable(content: str, name: str, version: int, scope: Scope) -> None:
    parse_rule(content, name=name, version=version, scope=scope, sources=known_sources())
