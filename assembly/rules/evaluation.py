"""Evaluation finds the rules in force for an agent and tells which of them fire; the record gets what they did."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from agents.models import Agent
from assembly.engine.codes import Code
from assembly.engine.profile import Profile
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.engine.rules import Rule, RuleFacts, fired_rules
from assembly.engine.types import Decision
from assembly.models import StoredRule
from assembly.rules.catalogue import RuleEntry, entry_of_row
from assembly.sources.base import GatherContext
from config.db.statements import Rows, Statement
from teams.models import Team


def add_fired_rules(profile: Profile, gather_context: GatherContext, rows: Rows) -> GatherContext:
    """Return the context with the rules in the rows of `rules_statement` whose conditions are met, and the names of
    rules that cannot be parsed any more.
    """
    if not rows:
        return gather_context
    rules, unreadable = parse_rules(rows)
    faults = {entry.name: entry.fault.detail for entry in unreadable if entry.fault}
    fired = fired_rules(rules, rule_facts(profile, gather_context))
    return replace(gather_context, rules=fired, unreadable_rules=faults)


def rule_facts(profile: Profile, gather_context: GatherContext) -> RuleFacts:
    """Return the facts on which the conditions of rules depend."""
    return RuleFacts(
        at=gather_context.now.astimezone(ZoneInfo(gather_context.agent.timezone)),
        task=gather_context.topic,
        intent=gather_context.signals.intent,
        agent=gather_context.agent.slug,
        team=gather_context.team.slug if gather_context.team else "",
        profile=profile.name,
    )


def add_inclusion_section(profile: Profile, rules: Sequence[Rule]) -> Profile:
    """Return the profile with a section for items that rules always include, after the required sections, if a rule
    needs it.
    """
    if not any(rule.then.always_include for rule in rules):
        return profile
    required = [section for section in profile.sections if section.required]
    others = [section for section in profile.sections if not section.required]
    return replace(profile, sections=(*required, ALWAYS_INCLUDED, *others))


def rules_document(gather_context: GatherContext, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Return what the record stores about rules: the applied rules with their effects, and those that could not be
    parsed.
    """
    told = decisions if gather_context.rules else ()
    done = Counter((label, deed) for decision in told for label, deed in _rule_actions(decision))
    recorded = [
        {**rule.to_dict(), "did": {deed: done[rule.label, deed] for deed in ("included", "boosted", "excluded")}}
        for rule in gather_context.rules
    ]
    unreadable = [{"name": name, "fault": fault} for name, fault in gather_context.unreadable_rules.items()]
    return {"rules": recorded, **({"unreadable_rules": unreadable} if unreadable else {})}


def rules_from_record(request: Mapping[str, Any]) -> tuple[Rule, ...]:
    """Return the rules that were applied, from the recorded request."""
    return tuple(Rule.from_dict(rule) for rule in request.get("rules", ()))


def _rule_actions(decision: Decision) -> list[tuple[str, str]]:
    """Return what each rule did to the item, with the label of the rule."""
    labels = str(decision.detail.get("rule", "")).split(", ")
    if decision.code is Code.RULE_EXCLUDED:
        return [(labels[0], "excluded")]
    if decision.section == ALWAYS_INCLUDED.key:
        return [(labels[0], "included")] if decision.included else []
    return [(label, "boosted") for label in labels if label]


# As StoredRuleQuerySet.in_force.
RULES_SQL = """
SELECT name, version, agent_id, team_id, content FROM rules
WHERE enabled AND (agent_id IS NULL AND team_id IS NULL OR agent_id = %(agent)s OR team_id = %(team)s) ORDER BY name
"""


def rules_statement(agent: Agent, team: Team | None) -> Statement:
    """Return the statement that reads the enabled rules for the agent in the team, for `parse_rules`."""
    return Statement(RULES_SQL, {"agent": agent.id, "team": team.id if team else None})


def parse_rules(rows: Rows) -> tuple[list[Rule], list[RuleEntry]]:
    """Return the rules in rows of `rules_statement`, and separately those that cannot be parsed any more."""
    columns = ("name", "version", "agent_id", "team_id", "content")
    entries = [entry_of_row(StoredRule(**dict(zip(columns, row, strict=True)))) for row in rows]
    return [entry.described.rule for entry in entries if entry.described], [
        entry for entry in entries if not entry.described
    ]
