"""A backtest runs the engine on recorded contexts with a rule among those that fired.

Candidates and request are the recorded ones. Only what a rule always includes is read from today's data, because no
record holds it.
"""

from dataclasses import dataclass
from time import perf_counter

from agents.models import Agent
from assembly.engine.codes import WarningCode
from assembly.engine.diff import ContextDiff, DecisionChange, diff_contexts
from assembly.engine.rules import Rule
from assembly.engine.types import Candidate
from assembly.models import Assembly, AssemblyQuerySet
from assembly.records.reader import DAMAGE_ERRORS, RecordDamaged, load_record
from assembly.rules.evaluation import rules_from_record
from assembly.rules.services import Owner
from assembly.simulation.basis import record_basis
from assembly.simulation.rule_overrides import CurrentOwners, recorded_facts
from assembly.simulation.simulate import Overrides, simulate
from config.http.cpu_budget import TooCostly
from teams.models import Team
from teams.principal import Principal

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
    comparison: ContextDiff | None = None
    """None where the rule has no say."""
    candidates: tuple[Candidate, ...] = ()
    """Those that changed, of the context on record and of the one with the rule."""

    @property
    def changes(self) -> tuple[DecisionChange, ...]:
        """What comes in, what goes, what moves and what else changes, in this order."""
        return self.comparison.changes if self.comparison else ()

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
    applies = rule.when.holds(recorded_facts(assembly, today.zone(assembly)))
    applied = any(fired.name == rule.name for fired in rules_from_record(assembly.request))
    if not applies and not applied:
        return ContextBacktest(assembly, applied, applies, assembly.tokens, _warnings(assembly))
    basis = record_basis(load_record(assembly), today)
    before = basis.inputs.assembled()
    if bytes.fromhex(before.sha256) != bytes(assembly.sha256):
        raise RecordNotReplayable
    # Twenty contexts have two seconds together: nothing is summarised.
    after = simulate(basis, Overrides(rule=rule), extract_summaries=False)
    comparison = diff_contexts(before, after)
    changed = {change.ref for change in comparison.changes}
    candidates = tuple(one for one in (*basis.inputs.candidates, *after.inputs.candidates) if one.ref in changed)
    return ContextBacktest(assembly, applied, applies, after.tokens, after.own_warnings, comparison, candidates)


def _warnings(assembly: Assembly) -> tuple[WarningCode, ...]:
    return tuple(WarningCode(code) for code in assembly.warnings)
