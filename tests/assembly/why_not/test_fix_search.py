"""Point 2 of what the audit must show: what is named is changed, exactly, and the item is in; one less, and it is not.

Tried over everything that the engine's promises are tried with: all shapes, rules, ladders, budgets, tokenizers.
"""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assembly.engine.profile import Profile, Section
from assembly.engine.types import Candidate, Decision
from assembly.records.reader import EngineInput
from assembly.why_not.fix_search import SearchExhausted, TrialRuns, is_whole
from tests.assembly.why_not.engine_inputs import check, found_for, inputs
from tests.engine.situations import Situation, situations

CALM = settings(
    max_examples=5_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def inputs_of(situation: Situation) -> EngineInput:
    """As a record would hold them: with all the summaries that were made."""
    settled = situation.settled().situation
    return EngineInput(settled.request, settled.profile, settled.candidates)


def missing(decisions: tuple[Decision, ...]) -> list[Decision]:
    """What is left out, or in with fewer words than it has."""
    return [decision for decision in decisions if not is_whole(decision)]


@CALM
@given(situation=situations(), data=st.data())
def test_exactly_what_is_named_brings_it_in_and_one_less_does_not(situation: Situation, data: st.DataObject) -> None:
    inputs = inputs_of(situation)
    out = missing(inputs.assembled().decisions)
    if not out:
        return
    decision = data.draw(st.sampled_from(out), label="decision")
    check(inputs, decision, found_for(inputs, decision))


@CALM
@given(situation=situations(), runs=st.integers(0, 12), data=st.data())
def test_with_few_runs_it_says_less_and_nothing_wrong(situation: Situation, runs: int, data: st.DataObject) -> None:
    inputs = inputs_of(situation)
    out = missing(inputs.assembled().decisions)
    if not out:
        return
    decision = data.draw(st.sampled_from(out), label="decision")
    check(inputs, decision, found_for(inputs, decision, max_runs=runs))


def test_a_run_of_the_engine_ends_with_the_time() -> None:
    profile = Profile("one", 1, (Section("files", "Files", "L1", "agent_files", "text", cap=5),), budget=5)
    given = inputs(profile, Candidate("file:1", "files", "word " * 100), budget=5)
    trials = TrialRuns(given, seconds=5, clock=iter([0.0, 5.0, 5.0]).__next__)
    with pytest.raises(SearchExhausted):
        trials.assembled(())
    assert trials.runs == 1
