"""What was asked for when a context was recorded, so that the same can be asked as of another moment."""

from dataclasses import replace

from assembly.again.asking import asked_again
from assembly.asked import Asked
from assembly.recorded import Recorded


def asked_then(told: Recorded) -> Asked:
    """The wishes of its request, for any moment: without `now`, and with the budget that it had."""
    return replace(asked_again(told), max_tokens=told.assembly.budget)
