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

from assembly.engine.diff import SHORTENED_CODES, ContextDiff, DiffableContext, ItemKey, diff_contexts
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.engine.types import Decision, EngineResult
from assembly.records.reader import EngineInput
from assembly.why_not.changes import ChangeKind, RemedyChange, apply_changes
from assembly.why_not.fixes import Fix, FixSituation, find_fixes
from config.http.cpu_budget import TookTooLong, wall_limit


class SearchExhausted(Exception):
    """No more may be tried."""


@dataclass(frozen=True, slots=True)
class LeastSteps:
    """So many steps do it. Where the search had to end early, one less might, too."""

    steps: int
    is_least: bool


def find_least_steps(is_sufficient: Callable[[int], bool], most: int, guess: int = 0) -> LeastSteps | None:
    """The least number of steps from 1 to `most` that does it; None where neither the guess nor the most do.

    With none, it is known not to be done. `is_sufficient` may raise Spent; so does this, where nothing was found by
    then.
    """
    low, high = 0, 0
    try:
        for step in [*([guess] if 0 < guess < most else []), most]:
            if is_sufficient(step):
                high = step
                break
            low = step
        else:
            return None
        reach = 1 if high == guess else 0  # a good guess is nearly the least: first, what is just below it is tried
        while high - low > 1:
            middle = max(low + 1, high - reach) if reach else (low + high) // 2
            if is_sufficient(middle):
                high, reach = middle, 2 * reach
            else:
                low, reach = middle, 0
    except SearchExhausted:
        if not high:
            raise
        return LeastSteps(high, is_least=False)
    return LeastSteps(high, is_least=True)


MAX_RUNS = 60
SECONDS = 1.5


@dataclass(slots=True)
class TrialRuns:
    """What a context would be with these changes or those. Raises Spent where no more may be tried."""

    inputs: EngineInput
    max_runs: int = MAX_RUNS
    seconds: float = SECONDS
    clock: Callable[[], float] = time.monotonic
    runs: int = 0
    _made: dict[tuple[RemedyChange, ...], EngineResult] = field(default_factory=dict)
    _until: float = field(init=False)

    def __post_init__(self) -> None:
        self._until = self.clock() + self.seconds

    def assembled(self, changes: Sequence[RemedyChange]) -> EngineResult:
        """The context with the changes."""
        key = tuple(changes)
        if key not in self._made:
            if self.runs >= self.max_runs or self.clock() > self._until:
                raise SearchExhausted
            self.runs += 1
            self._made[key] = self._run(key)
        return self._made[key]

    def _run(self, changes: tuple[RemedyChange, ...]) -> EngineResult:
        """Run the engine. One run of a large context takes as long as sixty of a small one: it ends with the time."""
        try:
            with wall_limit(self._until - self.clock()):
                return apply_changes(self.inputs, changes).assembled()
        except TookTooLong:
            raise SearchExhausted from None

    def decided(self, changes: Sequence[RemedyChange], place: ItemKey) -> Decision:
        """What becomes of the candidate in that place; where a rule has it always included, there."""
        return decision_after(self.assembled(changes), changes, place)


def decision_after(assembled: EngineResult, changes: Sequence[RemedyChange], place: ItemKey) -> Decision:
    """What became of the candidate in a context with the changes."""
    by_place = {(decision.section, decision.ref): decision for decision in assembled.decisions}
    ruled = by_place.get((ALWAYS_INCLUDED.key, place[1]))
    if ruled and ruled.included and any(change.kind == "always_include" for change in changes):
        return ruled
    return by_place[place]


def is_whole(decision: Decision) -> bool:
    """Whether it is in with all its words."""
    return decision.included and decision.code not in SHORTENED_CODES


MAX_CHANGES = 3
"""That are tried together."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Changes that together bring the candidate in, in their order."""

    changes: tuple[RemedyChange, ...]
    insufficient_changes: tuple[RemedyChange, ...]
    """The same with the last one step less, or without it where it has no steps: with these the candidate is not in."""
    is_least: bool
    """Whether one less was tried. The time was up otherwise: less may do."""
    before: Decision
    """What became of the candidate before the last change."""
    after: Decision
    """What becomes of it."""
    whole: bool
    """Whether less would bring in a part of it: nothing short of all its words would do here."""
    comparison: ContextDiff = field(repr=False)
    """What else would be different."""
    awaits_summary: bool = False
    """It would come in as a summary that is to be made yet; its beginning stood in for it."""

    @property
    def change(self) -> RemedyChange:
        """The last one."""
        return self.changes[-1]


@dataclass(frozen=True, slots=True)
class RemedySearchResult:
    """The remedies, those of fewest changes that cost the others least first; and what there was no time to try."""

    found: tuple[Remedy, ...]
    untried: tuple[ChangeKind, ...]


def find_remedies(trials: TrialRuns, told: DiffableContext, place: ItemKey) -> RemedySearchResult:
    """What would bring in the candidate in that place of the context, or bring it in whole where it is in part."""
    return _RemedySearch(trials, told, place).done()


@dataclass(frozen=True, slots=True)
class _FixSteps:
    """So many steps of a way."""

    way: Fix
    steps: int

    @property
    def change(self) -> RemedyChange:
        return self.way.at(self.steps)


FixPath = tuple[_FixSteps, ...]
"""What is changed already, in this order."""


@dataclass(slots=True)
class _RemedySearch:
    trials: TrialRuns
    told: DiffableContext
    place: ItemKey
    found: list[Remedy] = field(default_factory=list)
    untried: dict[ChangeKind, None] = field(default_factory=dict)

    @property
    def is_in(self) -> bool:
        """Whether it is in already: then it is all of its words that are missed, whatever keeps it out on the way."""
        return any((one.section, one.ref) == self.place and one.included for one in self.told.decisions)

    def done(self) -> RemedySearchResult:
        paths: list[FixPath] = [()]
        for _ in range(MAX_CHANGES):
            paths = [further for path in paths for further in self._extend_path(path)]
            if any(one.change.kind != "shorter" for one in self.found):  # to write less is not for everybody to do
                break
        ordered = sorted(self.found, key=lambda one: (len(one.changes), _cost(one)))
        return RemedySearchResult(tuple(ordered), tuple(self.untried))

    def _extend_path(self, path: FixPath) -> list[FixPath]:
        """Find what one more change does; where it does not do yet, the paths on which to look further."""
        further: list[FixPath] = []
        try:
            situation = self._fix_situation(path)
        except SearchExhausted:
            return further
        enough = {one.change.kind for one in self.found if len(one.changes) <= len(path)}
        for way in (way for way in find_fixes(situation) if way.kind not in enough):
            try:
                remedy = self._remedy(path, situation, way)
                if remedy is None:
                    further += self._paths_past_obstacle(path, situation, way)
                else:
                    self.found.append(remedy)
                    self.found += self._all_of_it(path, situation, way, remedy)
            except SearchExhausted:
                self.untried[way.kind] = None
        return further

    def _fix_situation(self, path: FixPath) -> FixSituation:
        changes = _path_changes(path)
        inputs, assembled = apply_changes(self.trials.inputs, changes), self.trials.assembled(changes)
        return FixSituation.of(inputs, assembled, self.trials.decided(changes, self.place))

    def _remedy(self, path: FixPath, situation: FixSituation, way: Fix) -> Remedy | None:
        way = replace(way, whole=way.whole or self.is_in)
        found = self._least(path, way, (), whole=way.whole)
        if found is None:
            return None
        try:
            tight = self._shortened_path(path, _FixSteps(way, found.steps), whole=way.whole)
            again = self._least(tight, replace(way, guess=found.steps), (), whole=way.whole) if path else found
            return self._made(tight, situation, way, again or found)
        except SearchExhausted:
            return self._made(path, situation, way, replace(found, is_least=False))

    def _least(self, before: FixPath, way: Fix, after: FixPath, *, whole: bool) -> LeastSteps | None:
        def is_sufficient(steps: int) -> bool:
            decision = self.trials.decided(_path_changes((*before, _FixSteps(way, steps), *after)), self.place)
            return is_whole(decision) if whole else decision.included

        return find_least_steps(is_sufficient, way.most, way.guess)

    def _shortened_path(self, path: FixPath, last: _FixSteps, *, whole: bool) -> FixPath:
        """The path as short as it may be before that last step: it was taken as far as it went."""
        for place, taken in enumerate(path):
            found = self._least(path[:place], taken.way, (*path[place + 1 :], last), whole=whole)
            steps = found.steps if found else taken.steps
            path = (*path[:place], replace(taken, steps=steps), *path[place + 1 :])
        return path

    def _made(self, path: FixPath, situation: FixSituation, way: Fix, found: LeastSteps) -> Remedy:
        changes, made = _path_changes(path), _path_changes((*path, _FixSteps(way, found.steps)))
        assembled, after = self.trials.assembled(made), self.trials.decided(made, self.place)
        return Remedy(
            changes=made,
            insufficient_changes=(*changes, way.at(found.steps - 1)) if found.steps > 1 else changes,
            is_least=found.is_least,
            before=situation.decision,
            after=after,
            whole=way.whole,
            comparison=diff_contexts(self.told, assembled),
            awaits_summary=any((want.section, want.ref) == (after.section, after.ref) for want in assembled.wanted),
        )

    def _all_of_it(self, path: FixPath, situation: FixSituation, way: Fix, part: Remedy) -> Iterator[Remedy]:
        """Where the least brings in a part, how much more brings in all of it."""
        if way.most > 1 and not part.whole and not is_whole(part.after):
            whole = self._remedy(path, situation, replace(way, whole=True))
            yield from [whole] if whole else []

    def _paths_past_obstacle(self, path: FixPath, situation: FixSituation, way: Fix) -> Iterator[FixPath]:
        """The path with this way, if it leads on: past what keeps the candidate out, to something else that does."""
        for steps in dict.fromkeys((way.most, way.guess or way.most)):
            further = (*path, _FixSteps(way, steps))
            if _is_progress(situation.decision, self.trials.decided(_path_changes(further), self.place)):
                yield further
                return


def _path_changes(path: FixPath) -> tuple[RemedyChange, ...]:
    return tuple(taken.change for taken in path)


def _is_progress(before: Decision, after: Decision) -> bool:
    """Whether it has another reason, or more of it is in."""
    another = (before.code, before.detail.get("by")) != (after.code, after.detail.get("by"))
    return another or (after.included and after.tokens > before.tokens)


def _cost(remedy: Remedy) -> int:
    """How many others would go, or be told with fewer words."""
    return len(remedy.comparison.pushed_out) + len(remedy.comparison.newly_cut)
