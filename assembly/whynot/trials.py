"""Running the engine with changes: each once, and not for ever."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assembly.comparing import SHORTENED, Place
from assembly.engine.ruling import ALWAYS_INCLUDED
from assembly.engine.types import Assembled, Decision
from assembly.recorded import Inputs
from assembly.whynot.changes import Change, changed
from assembly.whynot.searching import Spent
from config.http.cpu_budget import TookTooLong, wall_limit

MOST_RUNS = 60
SECONDS = 1.5


@dataclass(slots=True)
class Trials:
    """What a context would be with these changes or those. Raises Spent where no more may be tried."""

    inputs: Inputs
    most_runs: int = MOST_RUNS
    seconds: float = SECONDS
    clock: Callable[[], float] = time.monotonic
    runs: int = 0
    _made: dict[tuple[Change, ...], Assembled] = field(default_factory=dict)
    _until: float = field(init=False)

    def __post_init__(self) -> None:
        self._until = self.clock() + self.seconds

    def assembled(self, changes: Sequence[Change]) -> Assembled:
        """The context with the changes."""
        key = tuple(changes)
        if key not in self._made:
            if self.runs >= self.most_runs or self.clock() > self._until:
                raise Spent
            self.runs += 1
            self._made[key] = self._run(key)
        return self._made[key]

    def _run(self, changes: tuple[Change, ...]) -> Assembled:
        """Run the engine. One run of a large context takes as long as sixty of a small one: it ends with the time."""
        try:
            with wall_limit(self._until - self.clock()):
                return changed(self.inputs, changes).assembled()
        except TookTooLong:
            raise Spent from None

    def decided(self, changes: Sequence[Change], place: Place) -> Decision:
        """What becomes of the candidate in that place; where a rule has it always included, there."""
        return fate(self.assembled(changes), changes, place)


def fate(assembled: Assembled, changes: Sequence[Change], place: Place) -> Decision:
    """What became of the candidate in a context with the changes."""
    by_place = {(decision.section, decision.ref): decision for decision in assembled.decisions}
    ruled = by_place.get((ALWAYS_INCLUDED.key, place[1]))
    if ruled and ruled.included and any(change.kind == "always_include" for change in changes):
        return ruled
    return by_place[place]


def is_whole(decision: Decision) -> bool:
    """Whether it is in with all its words."""
    return decision.included and decision.code not in SHORTENED
