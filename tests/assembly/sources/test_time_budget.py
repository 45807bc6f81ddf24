"""The time of an assembly begins when its request comes in, not when its turn does."""

import time
from contextvars import copy_context

from assembly.sources.time_budget import TimeBudget
from config.http.cpu_budget import note_arrival


def test_waiting_for_a_turn_counts() -> None:
    def waited() -> TimeBudget:
        note_arrival()
        time.sleep(0.05)
        return TimeBudget.running(40)

    budget = copy_context().run(waited)
    assert budget.elapsed_ms >= 50
    assert budget.is_over
    assert budget.left == budget.seconds_for_sources == 0


def test_without_a_request_it_begins_now() -> None:
    assert not TimeBudget.running(60_000).is_over
