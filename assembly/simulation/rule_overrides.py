"""A what-if leaves rules out or tries a new one, a backtest tries a rule on records: both change the applied rules
here.

Only items that a rule always includes are read from today's data, because no record has them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID
from zoneinfo import ZoneInfo

from msgspec import structs

from agents.models import Agent
from assembly.engine.profile import Profile
from assembly.engine.query_signals import detect_intent
from assembly.engine.refs import Ref
from assembly.engine.rule_effects import ALWAYS_INCLUDED, is_selected
from assembly.engine.rules import Actions, Condition, Rule, RuleFacts, Selector, sorted_rules
from assembly.engine.types import Candidate
from assembly.models import Assembly
from assembly.records.reader import EngineInput
from assembly.rules.evaluation import add_inclusion_section
from assembly.sources import SOURCES
from assembly.sources.base import GatherContext
from teams.models import Team

SelectorKey = tuple[UUID, UUID | None, Selector]


@dataclass(slots=True)
class CurrentOwners:
    """The agents and teams that still exist, with a cache of the items that were found for them."""

    agents: dict[UUID, Agent]
    teams: dict[UUID, Team]
    _found: dict[SelectorKey, Sequence[Candidate]] = field(default_factory=dict)

    @classmethod
    def of(cls, assemblies: Sequence[Assembly]) -> "CurrentOwners":
        """Return the owners of these contexts; one query each for agents and teams."""
        agents = {assembly.agent_id for assembly in assemblies}
        teams = {assembly.team_id for assembly in assemblies if assembly.team_id}
        return cls(Agent.objects.in_bulk(agents), Team.objects.in_bulk(teams))

    def zone(self, assembly: Assembly) -> ZoneInfo:
        """Return the time zone of the context's agent; UTC if the agent was deleted."""
        agent = self.agents.get(assembly.agent_id)
        return ZoneInfo(agent.timezone if agent else "UTC")

    def found(self, assembly: Assembly, selector: Selector) -> Sequence[Candidate]:
        """Return the items that the selector includes for the context's agent and team; none if the
        agent was deleted.
        """
        asked = (assembly.agent_id, assembly.team_id, selector)
        if asked not in self._found:
            self._found[asked] = self._look(assembly, selector)
        return self._found[asked]

    def _look(self, assembly: Assembly, selector: Selector) -> Sequence[Candidate]:
        agent = self.agents.get(assembly.agent_id)
        if agent is None:
            return ()
        team = self.teams.get(assembly.team_id) if assembly.team_id else None
        rule = Rule("", 1, "everywhere", Condition(), Actions(always_include=(selector,)))
        gather_context = GatherContext(agent=agent, team=team, now=assembly.now, rules=(rule,))
        return SOURCES[ALWAYS_INCLUDED.source].gather(gather_context, [ALWAYS_INCLUDED]).candidates


def recorded_facts(assembly: Assembly, zone: ZoneInfo) -> RuleFacts:
    """Return the facts for rule conditions when the context was recorded. `zone` is the agent's time zone."""
    task = assembly.request.get("query", assembly.topic)
    signals = assembly.request.get("signals") or {}
    return RuleFacts(
        at=assembly.now.astimezone(zone),
        task=task,
        intent=signals.get("intent") or detect_intent(task),
        agent=assembly.agent_slug,
        team=assembly.team_slug,
        profile=assembly.profile_name,
    )


def facts_today(inputs: EngineInput, assembly: Assembly, zone: ZoneInfo) -> RuleFacts:
    """Return the facts for rule conditions if the record's request is gathered today, maybe with another topic."""
    then, topic = recorded_facts(assembly, zone), inputs.request.topic
    intent = then.intent if topic == assembly.topic else detect_intent(topic)
    at = inputs.request.now.astimezone(zone)
    return replace(then, at=at, task=topic or then.task, intent=intent, profile=inputs.profile.name)


def override_rules(
    inputs: EngineInput,
    *,
    without: Sequence[str],
    rule: Rule | None,
    facts: RuleFacts,
    find: Callable[[Selector], Sequence[Candidate]],
) -> EngineInput:
    """Return the inputs without the rules of those names, and with the other rule if its condition is met.

    The new rule replaces one of the same name. `find` returns the items that a selector always includes today.
    """
    gone = {*without, *([rule.name] if rule else [])}
    others = [fired for fired in inputs.request.rules if fired.name not in gone]
    rules = sorted_rules([*others, rule] if rule and rule.when.holds(facts) else others)
    candidates = [candidate for candidate in inputs.candidates if candidate.section != ALWAYS_INCLUDED.key]
    return EngineInput(
        replace(inputs.request, rules=rules),
        _with_included_section(inputs.profile, rules),
        (*candidates, *_inclusions(inputs, rules, find)),
    )


def _with_included_section(profile: Profile, rules: tuple[Rule, ...]) -> Profile:
    """Return the profile with or without the section of rule inclusions, as the rules need it."""
    others = tuple(section for section in profile.sections if section.key != ALWAYS_INCLUDED.key)
    has_room, needs_room = len(others) < len(profile.sections), any(rule.then.always_include for rule in rules)
    if has_room and needs_room:
        return profile
    return add_inclusion_section(replace(profile, sections=others), rules)


def _inclusions(
    inputs: EngineInput, rules: tuple[Rule, ...], find: Callable[[Selector], Sequence[Candidate]]
) -> list[Candidate]:
    """Return the items that the rules always include, in their order. Items in the record are taken from there."""
    then = {Ref.parse(candidate.ref).item: candidate for candidate in inputs.candidates}
    kept = [candidate for candidate in inputs.candidates if candidate.section == ALWAYS_INCLUDED.key]
    answered = {selector for rule in inputs.request.rules for selector in rule.then.always_include}
    found: dict[str, Candidate] = {}
    for selector in dict.fromkeys(selector for rule in rules for selector in rule.then.always_include):
        was = [candidate for candidate in kept if is_selected(selector, candidate, ALWAYS_INCLUDED)]
        for candidate in was if selector in answered else find(selector):
            known = then.get(Ref.parse(candidate.ref).item, candidate)
            found.setdefault(known.ref, structs.replace(candidate, ref=known.ref, text=known.text))
    return [structs.replace(candidate, position=place) for place, candidate in enumerate(found.values())]
