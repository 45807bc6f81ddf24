"""Point 2 of what the audit must show: what is named is changed, exactly, and the item is in; one less, and it is not.

Tried over everything that the engine's promises are tried with: all shapes, rules, ladders, budgets, tokenizers.
"""

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assembly.engine.types import Decision
from assembly.recorded import Inputs
from assembly.whynot.changes import changed
from assembly.whynot.remedies import Remedies, Remedy, remedies_for
from assembly.whynot.trials import Trials, fate, is_whole
from tests.engine.situations import Situation, situations

EXAMPLES = 5_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 100
CALM = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
NO_END = 1e9
"""Seconds: what is found is not to depend on how fast the machine is."""


def inputs_of(situation: Situation) -> Inputs:
    """As a record would hold them: with all the summaries that were made."""
    settled = situation.settled().situation
    return Inputs(settled.request, settled.profile, settled.candidates)


def missing(decisions: tuple[Decision, ...]) -> list[Decision]:
    """What is left out, or in with fewer words than it has."""
    return [decision for decision in decisions if not is_whole(decision)]


def looked_for(inputs: Inputs, decision: Decision) -> Remedies:
    trials = Trials(inputs, seconds=NO_END)
    return remedies_for(trials, inputs.assembled(), (decision.section, decision.ref))


def does_it(inputs: Inputs, remedy: Remedy, decision: Decision) -> bool:
    """Whether the changes, made from scratch, bring it in."""
    return is_in(inputs, remedy, remedy.changes, decision)


def is_in(inputs: Inputs, remedy: Remedy, changes: tuple, decision: Decision) -> bool:  # type: ignore[type-arg]
    after = fate(changed(inputs, changes).assembled(), changes, (decision.section, decision.ref))
    return is_whole(after) if remedy.whole else after.included


@CALM
@given(situation=situations(), data=st.data())
def test_exactly_what_is_named_brings_it_in_and_one_less_does_not(situation: Situation, data: st.DataObject) -> None:
    inputs = inputs_of(situation)
    out = missing(inputs.assembled().decisions)
    if not out:
        return
    decision = data.draw(st.sampled_from(out), label="decision")
    for remedy in looked_for(inputs, decision).found:
        assert is_in(inputs, remedy, remedy.changes, decision), remedy
        if remedy.is_least:
            assert not is_in(inputs, remedy, remedy.one_less, decision), remedy
