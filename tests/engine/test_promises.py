"""The promises about the engine, each tried on every situation: one run serves them all."""

from tests.engine.promises.misfits import what_is_left_out_for_want_of_room_has_none
from tests.engine.promises.no_overrun import no_context_is_over_its_budget
from tests.engine.promises.nothing_silent import every_candidate_has_one_decision_and_it_is_true
from tests.engine.promises.over_budget import what_is_over_its_room_goes_down_the_ladder
from tests.engine.promises.same_bytes import the_same_gives_the_same
from tests.engine.situations import Situation, with_examples


@with_examples
def test_every_promise_is_kept(situation: Situation) -> None:
    settled = situation.settled()
    no_context_is_over_its_budget(settled)
    every_candidate_has_one_decision_and_it_is_true(settled)
    the_same_gives_the_same(settled)
    what_is_left_out_for_want_of_room_has_none(settled)
    what_is_over_its_room_goes_down_the_ladder(settled)
