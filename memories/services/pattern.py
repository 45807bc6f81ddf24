"""Patterns: how often they were applied, and with success."""

from collections.abc import Iterator, Mapping

from memories.models import Pattern
from memories.services.flaws import Flaw
from memories.services.preparation import prepares


@prepares(Pattern)
def prepare_patterns(patterns: Mapping[int, Pattern]) -> Iterator[Flaw]:
    """A pattern has no more successes than applications."""
    for place, pattern in patterns.items():
        if pattern.successes > pattern.applications:
            yield Flaw(place, "successes", "There are more successes than applications. Change both together.")
