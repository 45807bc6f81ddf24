"""The smallest changes that would bring a candidate in, each proved by running the engine.

What "smallest" means. Of one number (a budget, a cap, places, a score …) it is the least in its neighbourhood: with it
the candidate is in, and with one step less (a token, a place, a ten-thousandth of a score, the next smaller factor) it
was tried and is not; see `searching`. Where no single change is enough, one that gives the candidate another reason is
kept, and the next is looked for from there: then the last is the least, given those before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from assembly.comparing import Comparison, Context, Place, compare
from assembly.engine.types import Decision
from assembly.whynot.changes import Change, Kind, changed
from assembly.whynot.room import more_room
from assembly.whynot.searching import Found, Spent, least
from assembly.whynot.standpoint import Standpoint, Way
from assembly.whynot.trials import Trials, is_whole
from assembly.whynot.ways import ways_of

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


@dataclass(slots=True)
class _Search:
    trials: Trials
    told: Context
    place: Place
    found: list[Remedy] = field(default_factory=list)
    untried: dict[Kind, None] = field(default_factory=dict)

    def done(self) -> Remedies:
        stages: list[tuple[Change, ...]] = [()]
        for _ in range(MOST_CHANGES):
            stages = [further for stage in stages for further in self._look_from(stage)]
            if self.found:
                break
        ordered = sorted(self.found, key=lambda one: (len(one.changes), _cost(one)))
        return Remedies(tuple(ordered), tuple(self.untried))

    def _look_from(self, changes: tuple[Change, ...]) -> list[tuple[Change, ...]]:
        """Find what one more change does; where it does not do yet, the changes from which to look further."""
        try:
            stand = self._standpoint(changes)
        except Spent:
            return []
        further: list[tuple[Change, ...]] = []
        for way in ways_of(stand):
            try:
                remedy = self._remedy(changes, stand, way)
                if remedy is None:
                    further += self._with_other_reason(changes, stand, way)
                else:
                    self.found.append(remedy)
                    self.found += self._all_of_it(changes, stand, remedy)
            except Spent:
                self.untried[way.kind] = None
        return further

    def _standpoint(self, changes: tuple[Change, ...]) -> Standpoint:
        inputs, assembled = changed(self.trials.inputs, changes), self.trials.assembled(changes)
        return Standpoint.of(inputs, assembled, self.trials.decided(changes, self.place))

    def _remedy(self, changes: tuple[Change, ...], stand: Standpoint, way: Way) -> Remedy | None:
        def does_it(steps: int) -> bool:
            decision = self.trials.decided((*changes, way.at(steps)), self.place)
            return is_whole(decision) if way.whole else decision.included

        found = least(does_it, way.most, way.guess)
        return self._made(changes, stand, way, found) if found else None

    def _made(self, changes: tuple[Change, ...], stand: Standpoint, way: Way, found: Found) -> Remedy:
        made = (*changes, way.at(found.steps))
        assembled = self.trials.assembled(made)
        after = self.trials.decided(made, self.place)
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

    def _all_of_it(self, changes: tuple[Change, ...], stand: Standpoint, remedy: Remedy) -> Iterator[Remedy]:
        """Where so much room brings in a part, how much would bring in all of it."""
        if is_whole(remedy.after) or remedy.whole:
            return
        for way in more_room(stand, whole=True):
            if way.kind == remedy.change.kind and (whole := self._remedy(changes, stand, way)):
                yield whole

    def _with_other_reason(
        self, changes: tuple[Change, ...], stand: Standpoint, way: Way
    ) -> Iterator[tuple[Change, ...]]:
        """The changes with this one, where it is past what keeps the candidate out, and something else is not."""
        made = (*changes, way.at(way.guess or way.most))
        if self.trials.decided(made, self.place).code is not stand.decision.code:
            yield made


def _cost(remedy: Remedy) -> int:
    """How many others would go, or be told with fewer words."""
    return len(remedy.comparison.pushed_out) + len(remedy.comparison.newly_cut)
