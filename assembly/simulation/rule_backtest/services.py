"""A backtest runs the engine on recorded contexts with a rule among those that fired.

Candidates and request are the recorded ones. Only what a rule always includes is read from today's data, because no
record holds it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from uuid import UUID
from zoneinfo import ZoneInfo

from agents.models import Agent
from assembly.engine.codes import WarningCode
from assembly.engine.diff import ChangeEffect, diff_decisions
from assembly.engine.profile import Profile
from assembly.engine.query_signals import detect_intent
from assembly.engine.rule_effects import ALWAYS_INCLUDED, is_selected
from assembly.engine.rules import Actions, Condition, Rule, RuleFacts, Selector, sorted_rules
from assembly.engine.types import Candidate, Decision, EngineResult
from assembly.models import Assembly, AssemblyQuerySet
from assembly.records.reader import DAMAGE_ERRORS, EngineInput, RecordDamaged, load_record
from assembly.rules.evaluation import add_inclusion_section, rules_from_record
from assembly.rules.services import Owner
from assembly.sources import SOURCES
from assembly.sources.base import GatherContext
from config.http.cpu_budget import TooCostly
from teams.models import Team
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class CandidateChange:
    """What becomes of one candidate. None: it is not considered in that context at all."""

    effect: ChangeEffect
    candidate: Candidate
    before: Decision | None
    after: Decision | None

    @property
    def ref(self) -> str:
        """Names the version of the thing."""
        return self.candidate.ref


def candidate_changes(
    was: EngineInput, before: EngineResult, would: EngineInput, after: EngineResult
) -> tuple[CandidateChange, ...]:
    """What comes in, what goes, what moves and what else changes, in this order, each in the order of its context."""
    candidates = {(one.section, one.ref): one for inputs in (was, would) for one in inputs.candidates}
    return tuple(
        CandidateChange(
            change.effect, candidates[change.decision.section, change.decision.ref], change.before, change.after
        )
        for change in diff_decisions(before.decisions, after.decisions)
    )


SelectorKey = tuple[UUID, UUID | None, Selector]


@dataclass(slots=True)
class CurrentOwners:
    """The agents and teams that are still there, and what was found of theirs: each is looked for once."""

    agents: dict[UUID, Agent]
    teams: dict[UUID, Team]
    _found: dict[SelectorKey, Sequence[Candidate]] = field(default_factory=dict)

    @classmethod
    def of(cls, assemblies: Sequence[Assembly]) -> "CurrentOwners":
        """Of these contexts, by one query each for agents and teams."""
        agents = {assembly.agent_id for assembly in assemblies}
        teams = {assembly.team_id for assembly in assemblies if assembly.team_id}
        return cls(Agent.objects.in_bulk(agents), Team.objects.in_bulk(teams))

    def zone(self, assembly: Assembly) -> ZoneInfo:
        """The time zone of the context's agent; UTC where the agent is gone."""
        agent = self.agents.get(assembly.agent_id)
        return ZoneInfo(agent.timezone if agent else "UTC")

    def found(self, assembly: Assembly, selector: Selector) -> Sequence[Candidate]:
        """What the selector always includes for the context's agent and team; nothing where the agent is gone."""
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


LIMIT = 20
"""The last contexts that are looked at."""
SECONDS = 2.0
"""After this time no further context is begun."""


@dataclass(frozen=True, slots=True)
class ContextBacktest:
    """What the rule would have done to one context. Tokens and warnings are those that it would then have."""

    assembly: Assembly
    applied: bool
    """The rule of that name had fired there, as it was then."""
    applies: bool
    tokens: int
    warnings: tuple[WarningCode, ...]
    changes: tuple[CandidateChange, ...] = ()

    @property
    def misses_required_item(self) -> bool:
        """Something that is always to be in would have had no room, and there was no such warning before."""
        return WarningCode.RULE_NOT_KEPT in self.warnings and WarningCode.RULE_NOT_KEPT not in self.assembly.warnings


@dataclass(frozen=True, slots=True)
class RuleBacktest:
    """The last contexts with the rule, newest first. `damaged`: how many records could not be replayed; `untried`: for
    how many there was no time."""

    trials: tuple[ContextBacktest, ...]
    damaged: int
    untried: int

    @property
    def applying(self) -> int:
        """In how many of them the rule would have applied."""
        return sum(trial.applies for trial in self.trials)

    @property
    def changed(self) -> int:
        """How many of them would have been different."""
        return sum(bool(trial.changes) for trial in self.trials)


class RecordNotReplayable(Exception):
    """The record does not give the recorded text any more."""


def rule_backtest(*, rule: Rule, owner: Owner, principal: Principal, seconds: float = SECONDS) -> RuleBacktest:
    """Try the rule on the last contexts of those it is for, of those that the principal may see. Stores nothing.

    A rule of the same name that had fired is replaced; where the rule does not apply, it is taken out. A context that
    was told again is tried once. At least one is tried, however little time there is.
    """
    started, trials, damaged = perf_counter(), list[ContextBacktest](), 0
    last = list(_affected_assemblies(owner, Assembly.objects.visible_to(principal))[:LIMIT])
    today = CurrentOwners.of(last)
    for assembly in last:
        if trials and perf_counter() - started > seconds:
            break
        try:
            trials.append(_backtest_context(rule, assembly, today))
        except (RecordNotReplayable, RecordDamaged, *DAMAGE_ERRORS):
            damaged += 1
        except TooCostly:
            if not trials:
                raise
            break
    return RuleBacktest(tuple(trials), damaged, len(last) - len(trials) - damaged)


def _affected_assemblies(owner: Owner, assemblies: AssemblyQuerySet) -> AssemblyQuerySet:
    """Those in which a rule of that owner could have fired, the newest first."""
    assemblies = assemblies.filter(decided_in=None).order_by("-created", "-id")
    if isinstance(owner, Agent):
        return assemblies.filter(agent_id=owner.id)
    if isinstance(owner, Team):
        return assemblies.filter(team_id=owner.id)
    return assemblies


def _backtest_context(rule: Rule, assembly: Assembly, today: CurrentOwners) -> ContextBacktest:
    fired = rules_from_record(assembly.request)
    applies = rule.when.holds(recorded_facts(assembly, today.zone(assembly)))
    others = [other for other in fired if other.name != rule.name]
    applied = len(others) < len(fired)
    if not applies and not applied:
        return ContextBacktest(assembly, applied, applies, assembly.tokens, _warnings(assembly))
    inputs = load_record(assembly).inputs
    before = inputs.assembled()
    if bytes.fromhex(before.sha256) != bytes(assembly.sha256):
        raise RecordNotReplayable
    rules = sorted_rules([*others, rule] if applies else others)
    changed = inputs_with_rules(inputs, rules, lambda selector: today.found(assembly, selector))
    after = changed.assembled()
    return ContextBacktest(
        assembly, applied, applies, after.tokens, after.warnings, candidate_changes(inputs, before, changed, after)
    )


def recorded_facts(assembly: Assembly, zone: ZoneInfo) -> RuleFacts:
    """What the conditions of rules asked about when the context was made. `zone` is the agent's."""
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


def inputs_with_rules(
    inputs: EngineInput, rules: tuple[Rule, ...], find: Callable[[Selector], Sequence[Candidate]]
) -> EngineInput:
    """The inputs as they would be had these rules fired. `find` gives what a selector always includes today."""
    candidates = [candidate for candidate in inputs.candidates if candidate.section != ALWAYS_INCLUDED.key]
    return EngineInput(
        replace(inputs.request, rules=rules),
        _with_included_section(inputs.profile, rules),
        (*candidates, *_inclusions(inputs, rules, find)),
    )


def _with_included_section(profile: Profile, rules: tuple[Rule, ...]) -> Profile:
    """The profile with the section of what is always included, or without it, as the rules need it."""
    others = tuple(section for section in profile.sections if section.key != ALWAYS_INCLUDED.key)
    has_room, needs_room = len(others) < len(profile.sections), any(rule.then.always_include for rule in rules)
    if has_room and needs_room:
        return profile
    return add_inclusion_section(replace(profile, sections=others), rules)


def _inclusions(
    inputs: EngineInput, rules: tuple[Rule, ...], find: Callable[[Selector], Sequence[Candidate]]
) -> list[Candidate]:
    """What the rules always include, in their order. What the record knows is taken as it was then."""
    then = {_unversioned(candidate.ref): candidate for candidate in inputs.candidates}
    kept = [candidate for candidate in inputs.candidates if candidate.section == ALWAYS_INCLUDED.key]
    answered = {selector for rule in inputs.request.rules for selector in rule.then.always_include}
    found: dict[str, Candidate] = {}
    for selector in dict.fromkeys(selector for rule in rules for selector in rule.then.always_include):
        was = [candidate for candidate in kept if is_selected(selector, candidate, ALWAYS_INCLUDED)]
        for candidate in was if selector in answered else find(selector):
            known = then.get(_unversioned(candidate.ref), candidate)
            found.setdefault(known.ref, replace(candidate, ref=known.ref, text=known.text))
    return [replace(candidate, position=place) for place, candidate in enumerate(found.values())]


def _unversioned(ref: str) -> str:
    return ref.partition("@")[0]


def _warnings(assembly: Assembly) -> tuple[WarningCode, ...]:
    return tuple(WarningCode(code) for code in assembly.warnings)
