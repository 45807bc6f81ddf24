"""What the tests look at: inputs of the engine made by hand, and what was found for them."""

from collections.abc import Sequence
from typing import Any

from assembly.engine.profile import Profile
from assembly.engine.types import Candidate, Decision, EngineRequest
from assembly.records.reader import EngineInput
from assembly.why_not.changes import apply_changes
from assembly.why_not.fix_search import Remedy, RemedySearchResult, TrialRuns, decision_after, find_remedies, is_whole
from tests.engine.factories import NOW

NO_END = 1e9
"""Seconds: what is found is not to depend on how fast the machine is."""


def inputs(profile: Profile, *candidates: Candidate, budget: int = 16_000, **wishes: Any) -> EngineInput:
    return EngineInput(EngineRequest(budget, "", wishes.pop("tokenizer", "chars4"), NOW, **wishes), profile, candidates)


def decision_of(given: EngineInput, ref: str) -> Decision:
    return next(one for one in given.assembled().decisions if one.ref == ref)


def found_for(given: EngineInput, decision: Decision, *, max_runs: int = 60) -> RemedySearchResult:
    trials = TrialRuns(given, max_runs=max_runs, seconds=NO_END)
    return find_remedies(trials, given.assembled(), (decision.section, decision.ref))


def is_in(given: EngineInput, remedy: Remedy, changes: Sequence[Any], decision: Decision) -> bool:
    """Whether the changes, made from scratch, bring it in as the remedy says."""
    after = decision_after(apply_changes(given, changes).assembled(), changes, (decision.section, decision.ref))
    return is_whole(after) if remedy.whole else after.included


def check(given: EngineInput, decision: Decision, found: RemedySearchResult) -> None:
    """Exactly what is named brings it in, and one less does not where it is the least."""
    for remedy in found.found:
        assert remedy.whole or not decision.included, "what is in has a remedy only for all of its words"
        assert is_in(given, remedy, remedy.changes, decision), remedy
        if remedy.is_least:
            assert not is_in(given, remedy, remedy.insufficient_changes, decision), remedy
