"""The least of many steps that does it. Pure: what a step does is tried by the caller.

Contests for room are greedy, so more of something does not always bring in more. What is found is the least in its
neighbourhood: it does it, and one step less was tried and does not. A yet smaller number that happens to do it, beyond
others that do not, may exist.
"""

from collections.abc import Callable
from dataclasses import dataclass


class Spent(Exception):
    """No more may be tried."""


@dataclass(frozen=True, slots=True)
class Found:
    """So many steps do it. Where the search had to end early, one less might, too."""

    steps: int
    is_least: bool


def least(does_it: Callable[[int], bool], most: int, guess: int = 0) -> Found | None:
    """The least number of steps from 1 to `most` that does it; None where neither the guess nor the most do.

    With none, it is known not to be done. `does_it` may raise Spent; so does this, where nothing was found by then.
    """
    low, high = 0, 0
    try:
        for step in [*([guess] if 0 < guess < most else []), most]:
            if does_it(step):
                high = step
                break
            low = step
        else:
            return None
        reach = 1 if high == guess else 0  # a good guess is nearly the least: first, what is just below it is tried
        while high - low > 1:
            middle = max(low + 1, high - reach) if reach else (low + high) // 2
            if does_it(middle):
                high, reach = middle, 2 * reach
            else:
                low, reach = middle, 0
    except Spent:
        if not high:
            raise
        return Found(high, is_least=False)
    return Found(high, is_least=True)
