"""A backtest runs the engine on recorded contexts, with a rule added to those that were applied.

Candidates and request are the recorded ones. Only items that a rule always includes are read from today's data, because
no record has them.
"""

from dataclasses import dataclass
from time import perf_counter

from agents.models import Agent
from assembly.engine.codes import WarningCode
from assembly.engine.diff import ContextDiff, DecisionChange, diff_contexts
from assembly.engine.rules import Rule
from assembly.engine.types import Candidate
from assembly.models import Assembly, AssemblyQuerySet
from assembly.records.reader import DAMAGE_ERRORS, load_record
from assembly.records.record_errors import RecordDamaged
from assembly.rules.evaluation import rules_from_record
from assembly.rules.services import Owner
from assembly.simulation.basis import record_basis
from assembly.simulation.rule_overrides import CurrentOwners, recorded_facts
from assembly.simulation.simulate import Overrides, simulate
from config.http.cpu_budget import TooCostly
from teams.models import Team
from teams.principal import Principal

LIMIT = 20
"""The number of newest contexts that are tested."""
SECONDS = 2.0
"""Seconds after which no further context is started."""


@dataclass(frozen=True, slots=True)
class ContextBacktest:
    """The effect of the rule on one context. Tokens and warnings are those with the rule."""

    assembly: Assembly
    applied: bool
    """Whether an earlier version of the rule was applied in the context."""
    applies: bool
    tokens: int
    warnings: tuple[WarningCode, ...]
    comparison: ContextDiff | None = None
    """The comparison with the context without the rule, or, if only an earlier version applied, with the recorded one.

    None if no version of the rule applies, now or in the record.
    """
    candidates: tuple[Candidate, ...] = ()
    """The changed items, in the recorded context and in the one with the rule."""

    @property
    def changes(self) -> tuple[DecisionChange, ...]:
        """The changes in this order: added, removed, moved, other."""
        return self.comparison.changes if self.comparison else ()

    @property
    def misses_required_item(self) -> bool:
        """Whether a required item would have been excluded for lack of budget, without such a warning before."""
        return WarningCode.RULE_NOT_KEPT in self.warnings and WarningCode.RULE_NOT_KEPT not in self.assembly.warnings


@dataclass(frozen=True, slots=True)
class RuleBacktest:
    """The newest contexts with the rule, newest first.

    `damaged` is the number of records that could not be replayed, `untried` the number for which there was no time.
    """

    trials: tuple[ContextBacktest, ...]
    damaged: int
    untried: int

    @property
    def applying(self) -> int:
        """The number of contexts in which the rule would have applied."""
        return sum(trial.applies for trial in self.trials)

    @property
    def changed(self) -> int:
        """The number of contexts that would have been different."""
        return sum(bool(trial.changes) for trial in self.trials)


class RecordNotReplayable(Exception):
    """The record does not give the recorded text any more."""


def rule_backtest(*, rule: Rule, owner: Owner, principal: Principal, seconds: float = SECONDS) -> RuleBacktest:
    """Return the effect of the rule on the newest contexts of its owner that the principal may see. Nothing is stored.

    The rule replaces an applied rule of the same name, which is removed if the new one does not apply. Repeated
    requests with the same context count once. At least one context is tested, even if `seconds` have passed.
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
    """Return the contexts in which a rule of the owner could have applied, newest first."""
    assemblies = assemblies.filter(decided_in=None).order_by("-created", "-id")
    if isinstance(owner, Agent):
        return assemblies.filter(agent_id=owner.id)
    if isinstance(owner, Team):
        return assemblies.filter(team_id=owner.id)
    return assemblies


def _backtest_context(rule: Rule, assembly: Assembly, today: CurrentOwners) -> ContextBacktest:
    applies = rule.when.holds(recorded_facts(assembly, today.zone(assembly)))
    applied = any(fired.name == rule.name for fired in rules_from_record(assembly.request))
    if not applies and not applied:
        return ContextBacktest(assembly, applied, applies, assembly.tokens, _warnings(assembly))
    basis = record_basis(load_record(assembly), today)
    before = basis.inputs.assembled()
    if bytes.fromhex(before.sha256) != bytes(assembly.sha256):
        raise RecordNotReplayable
    # Twenty contexts share two seconds, so no extracts are made for summaries.
    after = simulate(basis, Overrides(rule=rule), extract_summaries=False)
    if applied and applies:  # a rule in force is compared with its absence, not with itself
        without = simulate(basis, Overrides(without_rules=(rule.name,)), extract_summaries=False)
        comparison = diff_contexts(without, after)
    else:
        comparison = diff_contexts(before, after)
    changed = {change.ref for change in comparison.changes}
    candidates = tuple(one for one in (*basis.inputs.candidates, *after.inputs.candidates) if one.ref in changed)
    return ContextBacktest(assembly, applied, applies, after.tokens, after.own_warnings, comparison, candidates)


def _warnings(assembly: Assembly) -> tuple[WarningCode, ...]:
    return tuple(WarningCode(code) for code in assembly.warnings)
