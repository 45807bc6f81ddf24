"""This module finds the fewest steps of a change that are sufficient; the caller tries each.

Selection is greedy, so more tokens do not always include more. The result is a local minimum: it is sufficient, and one
step less was tried and is not.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from assembly.engine.diff import SHORTENED_CODES, ContextDiff, DiffableContext, ItemKey, diff_contexts
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.engine.types import Decision, EngineResult
from assembly.records.reader import EngineInput
from assembly.why_not.changes import ChangeKind, RemedyChange, apply_changes
from assembly.why_not.fix_situation import Fix, FixSituation
from assembly.why_not.fixes import find_fixes
from config.http.cpu_budget import TookTooLong, wall_limit


class SearchExhausted(Exception):
    """The limit of trials is reached."""


@dataclass(frozen=True, slots=True)
class LeastSteps:
    """A sufficient number of steps. If the search had to stop early, one less may also be sufficient."""

    steps: int
    is_least: bool


def find_least_steps(is_sufficient: Callable[[int], bool], most: int, guess: int = 0) -> LeastSteps | None:
    """Return a least sufficient number of steps from 1 to `most`; None if neither the guess nor `most` is sufficient.

    0 steps are known to be insufficient. `is_sufficient` may raise SearchExhausted; this function raises it if nothing
    was found before.
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
        reach = 1 if high == guess else 0  # a good guess is nearly the least, so the steps just below are tried first
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
    """The contexts with different changes, computed within a limit of trials. Raises SearchExhausted at the limit."""

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
        """Return the context with the changes."""
        key = tuple(changes)
        if key not in self._made:
            if self.runs >= self.max_runs or self.clock() > self._until:
                raise SearchExhausted
            self.runs += 1
            self._made[key] = self._run(key)
        return self._made[key]

    def _run(self, changes: tuple[RemedyChange, ...]) -> EngineResult:
        """Run the engine. The run of a large context takes as long as sixty of a small one, so it has a time limit."""
        try:
            with wall_limit(self._until - self.clock()):
                return apply_changes(self.inputs, changes).assembled()
        except TookTooLong:
            raise SearchExhausted from None

    def decided(self, changes: Sequence[RemedyChange], place: ItemKey) -> Decision:
        """Return the decision on the item at this place; if a rule always includes it, the one there."""
        return decision_after(self.assembled(changes), changes, place)


def decision_after(assembled: EngineResult, changes: Sequence[RemedyChange], place: ItemKey) -> Decision:
    """Return the decision on the item in a context with the changes."""
    by_place = {(decision.section, decision.ref): decision for decision in assembled.decisions}
    ruled = by_place.get((ALWAYS_INCLUDED.key, place[1]))
    if ruled and ruled.included and any(change.kind == "always_include" for change in changes):
        return ruled
    return by_place[place]


def is_whole(decision: Decision) -> bool:
    """Return whether the item is included in full."""
    return decision.included and decision.code not in SHORTENED_CODES


MAX_CHANGES = 3
"""The maximum number of changes that are combined."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Changes that together include the item, in their order."""

    changes: tuple[RemedyChange, ...]
    insufficient_changes: tuple[RemedyChange, ...]
    """The changes with one step less of the last one, or without it: with these the item is not included."""
    is_least: bool
    """Whether one step less was tried. Otherwise the time was up, and fewer steps may be sufficient."""
    before: Decision
    """The decision on the item before the last change."""
    after: Decision
    """The decision on the item with all changes."""
    whole: bool
    """Whether fewer steps would include a part of the item, while these include it in full."""
    comparison: ContextDiff = field(repr=False)
    """The differences from the recorded context."""
    awaits_summary: bool = False
    """Whether the item would be included as a summary that does not exist yet; its beginning was used instead."""

    @property
    def change(self) -> RemedyChange:
        """The last change."""
        return self.changes[-1]


@dataclass(frozen=True, slots=True)
class RemedySearchResult:
    """The remedies, those with the fewest changes and the least effect on others first; and the kinds of changes that
    were not tried for lack of time.
    """

    found: tuple[Remedy, ...]
    untried: tuple[ChangeKind, ...]


def find_remedies(trials: TrialRuns, told: DiffableContext, place: ItemKey) -> RemedySearchResult:
    """Return the changes that would include the item, or include it in full if it is truncated."""
    return _RemedySearch(trials, told, place).done()


@dataclass(frozen=True, slots=True)
class _FixSteps:
    """A fix with a number of steps."""

    way: Fix
    steps: int

    @property
    def change(self) -> RemedyChange:
        return self.way.at(self.steps)


FixPath = tuple[_FixSteps, ...]
"""The changes that were applied already, in order."""


@dataclass(slots=True)
class _RemedySearch:
    trials: TrialRuns
    told: DiffableContext
    place: ItemKey
    found: list[Remedy] = field(default_factory=list)
    untried: dict[ChangeKind, None] = field(default_factory=dict)

    @property
    def is_in(self) -> bool:
        """Whether the item is included but truncated, so that remedies have to include it in full."""
        return any((one.section, one.ref) == self.place and one.included for one in self.told.decisions)

    def done(self) -> RemedySearchResult:
        paths: list[FixPath] = [()]
        for _ in range(MAX_CHANGES):
            paths = [further for path in paths for further in self._extend_path(path)]
            if any(one.change.kind != "shorter" for one in self.found):  # not everyone may shorten the text
                break
        ordered = sorted(self.found, key=lambda one: (len(one.changes), _cost(one)))
        return RemedySearchResult(tuple(ordered), tuple(self.untried))

    def _extend_path(self, path: FixPath) -> list[FixPath]:
        """Return remedies with one more change; return the paths that need further changes."""
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
        """Return the path with the fewest steps before its last one, because each step before was taken as far as
        possible.
        """
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
        """Yield the remedy that includes all of the item, if the smallest one includes only a part."""
        if way.most > 1 and not part.whole and not is_whole(part.after):
            whole = self._remedy(path, situation, replace(way, whole=True))
            yield from [whole] if whole else []

    def _paths_past_obstacle(self, path: FixPath, situation: FixSituation, way: Fix) -> Iterator[FixPath]:
        """Yield the path with this fix if it makes progress: the item is then missing for another reason."""
        for steps in dict.fromkeys((way.most, way.guess or way.most)):
            further = (*path, _FixSteps(way, steps))
            if _is_progress(situation.decision, self.trials.decided(_path_changes(further), self.place)):
                yield further
                return


def _path_changes(path: FixPath) -> tuple[RemedyChange, ...]:
    return tuple(taken.change for taken in path)


def _is_progress(before: Decision, after: Decision) -> bool:
    """Return whether the item is missing for another reason, or more of it is included."""
    another = (before.code, before.detail.get("by")) != (after.code, after.detail.get("by"))
    return another or (after.included and after.tokens > before.tokens)


def _cost(remedy: Remedy) -> int:
    """Return how many other items would be removed or truncated."""
    return len(remedy.comparison.pushed_out) + len(remedy.comparison.newly_cut)
