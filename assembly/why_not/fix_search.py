"""The least of many steps that does it. Pure: what a step does is tried by the caller.

Contests for room are greedy, so more of something does not always bring in more. What is found is the least in its
neighbourhood: it does it, and one step less was tried and does not. A yet smaller number that happens to do it, beyond
others that do not, may exist.

Running the engine with changes: each once, and not for ever.

The smallest changes that would bring a candidate in, each proved by running the engine.

What "smallest" means. Of one number (a budget, a cap, places, a score …) it is the least in its neighbourhood: with it
the candidate is in, and with one step less (a token, a place, a ten-thousandth of a score, the next smaller factor) it
was tried and is not; see `searching`. Where no single change is enough, one that gives the candidate another reason is
kept, and the next is looked for from there: then the last is the least, given those before it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from assembly.engine.diff import SHORTENED, Comparison, Context, Place, compare
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.engine.types import Assembled, Decision
from assembly.records.reader import Inputs
from assembly.why_not.changes import Change, Kind, changed
from assembly.why_not.fixes import Standpoint, Way, ways_of
from config.http.cpu_budget import TookTooLong, wall_limit


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


MOST_CHANGES = 3
"""That are tried together."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Changes that together bring the candidate in, in their order."""

    changes: tuple[Change, ...]
    one_less: tuple[Change, ...]
    """The same with the last one step less, or without it where it has no steps: with these the candidate is not in."""
    is_least: bool
    """Whether one less was tried. The time was up otherwise: less may do."""
    before: Decision
    """What became of the candidate before the last change."""
    after: Decision
    """What becomes of it."""
    whole: bool
    """Whether less would bring in a part of it: nothing short of all its words would do here."""
    comparison: Comparison = field(repr=False)
    """What else would be different."""
    awaits_summary: bool = False
    """It would come in as a summary that is to be made yet; its beginning stood in for it."""

    @property
    def change(self) -> Change:
        """The last one."""
        return self.changes[-1]


@dataclass(frozen=True, slots=True)
class Remedies:
    """The remedies, those of fewest changes that cost the others least first; and what there was no time to try."""

    found: tuple[Remedy, ...]
    untried: tuple[Kind, ...]


def remedies_for(trials: Trials, told: Context, place: Place) -> Remedies:
    """What would bring in the candidate in that place of the context, or bring it in whole where it is in part."""
    return _Search(trials, told, place).done()


@dataclass(frozen=True, slots=True)
class _Taken:
    """So many steps of a way."""

    way: Way
    steps: int

    @property
    def change(self) -> Change:
        return self.way.at(self.steps)


Path = tuple[_Taken, ...]
"""What is changed already, in this order."""


@dataclass(slots=True)
class _Search:
    trials: Trials
    told: Context
    place: Place
    found: list[Remedy] = field(default_factory=list)
    untried: dict[Kind, None] = field(default_factory=dict)

    @property
    def is_in(self) -> bool:
        """Whether it is in already: then it is all of its words that are missed, whatever keeps it out on the way."""
        return any((one.section, one.ref) == self.place and one.included for one in self.told.decisions)

    def done(self) -> Remedies:
        paths: list[Path] = [()]
        for _ in range(MOST_CHANGES):
            paths = [further for path in paths for further in self._look_from(path)]
            if any(one.change.kind != "shorter" for one in self.found):  # to write less is not for everybody to do
                break
        ordered = sorted(self.found, key=lambda one: (len(one.changes), _cost(one)))
        return Remedies(tuple(ordered), tuple(self.untried))

    def _look_from(self, path: Path) -> list[Path]:
        """Find what one more change does; where it does not do yet, the paths on which to look further."""
        further: list[Path] = []
        try:
            stand = self._standpoint(path)
        except Spent:
            return further
        enough = {one.change.kind for one in self.found if len(one.changes) <= len(path)}
        for way in (way for way in ways_of(stand) if way.kind not in enough):
            try:
                remedy = self._remedy(path, stand, way)
                if remedy is None:
                    further += self._past(path, stand, way)
                else:
                    self.found.append(remedy)
                    self.found += self._all_of_it(path, stand, way, remedy)
            except Spent:
                self.untried[way.kind] = None
        return further

    def _standpoint(self, path: Path) -> Standpoint:
        changes = _changes(path)
        inputs, assembled = changed(self.trials.inputs, changes), self.trials.assembled(changes)
        return Standpoint.of(inputs, assembled, self.trials.decided(changes, self.place))

    def _remedy(self, path: Path, stand: Standpoint, way: Way) -> Remedy | None:
        way = replace(way, whole=way.whole or self.is_in)
        found = self._least(path, way, (), whole=way.whole)
        if found is None:
            return None
        try:
            tight = self._tightened(path, _Taken(way, found.steps), whole=way.whole)
            again = self._least(tight, replace(way, guess=found.steps), (), whole=way.whole) if path else found
            return self._made(tight, stand, way, again or found)
        except Spent:
            return self._made(path, stand, way, replace(found, is_least=False))

    def _least(self, before: Path, way: Way, after: Path, *, whole: bool) -> Found | None:
        def does_it(steps: int) -> bool:
            decision = self.trials.decided(_changes((*before, _Taken(way, steps), *after)), self.place)
            return is_whole(decision) if whole else decision.included

        return least(does_it, way.most, way.guess)

    def _tightened(self, path: Path, last: _Taken, *, whole: bool) -> Path:
        """The path as short as it may be before that last step: it was taken as far as it went."""
        for place, taken in enumerate(path):
            found = self._least(path[:place], taken.way, (*path[place + 1 :], last), whole=whole)
            steps = found.steps if found else taken.steps
            path = (*path[:place], replace(taken, steps=steps), *path[place + 1 :])
        return path

    def _made(self, path: Path, stand: Standpoint, way: Way, found: Found) -> Remedy:
        changes, made = _changes(path), _changes((*path, _Taken(way, found.steps)))
        assembled, after = self.trials.assembled(made), self.trials.decided(made, self.place)
        return Remedy(
            changes=made,
            one_less=(*changes, way.at(found.steps - 1)) if found.steps > 1 else changes,
            is_least=found.is_least,
            before=stand.decision,
            after=after,
            whole=way.whole,
            comparison=compare(self.told, assembled),
            awaits_summary=any((want.section, want.ref) == (after.section, after.ref) for want in assembled.wanted),
        )

    def _all_of_it(self, path: Path, stand: Standpoint, way: Way, part: Remedy) -> Iterator[Remedy]:
        """Where the least brings in a part, how much more brings in all of it."""
        if way.most > 1 and not part.whole and not is_whole(part.after):
            whole = self._remedy(path, stand, replace(way, whole=True))
            yield from [whole] if whole else []

    def _past(self, path: Path, stand: Standpoint, way: Way) -> Iterator[Path]:
        """The path with this way, if it leads on: past what keeps the candidate out, to something else that does."""
        for steps in dict.fromkeys((way.most, way.guess or way.most)):
            further = (*path, _Taken(way, steps))
            if _leads_on(stand.decision, self.trials.decided(_changes(further), self.place)):
                yield further
                return


def _changes(path: Path) -> tuple[Change, ...]:
    return tuple(taken.change for taken in path)


def _leads_on(before: Decision, after: Decision) -> bool:
    """Whether it has another reason, or more of it is in."""
    another = (before.code, before.detail.get("by")) != (after.code, after.detail.get("by"))
    return another or (after.included and after.tokens > before.tokens)


def _cost(remedy: Remedy) -> int:
    """How many others would go, or be told with fewer words."""
    return len(remedy.comparison.pushed_out) + len(remedy.comparison.newly_cut)
