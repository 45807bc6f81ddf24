"""Reconciliation decides which side of each known conflict a context includes, and which side is marked as disputed.

It is the step between ranking and selection. Its sentences and confidences are those of the seed "Memory Layer"
(resolveConflict); the order of precedence and the marks are decisions of this project. Of two texts that say the same,
the better one stays. Of a minor conflict, the more trusted side stays. A major conflict is flagged: by default, the
more trusted side stays with a mark. What a person decided holds before all of that.

Items that are never left out (required sections, whole files, what rules always include) never lose: the other side
does, or both stay and the context has a warning.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from assembly.engine.codes import Code
from assembly.engine.priority import ORDERED_SHAPES, PRIORITY, Priority
from assembly.engine.profile import Profile, Section
from assembly.engine.ranking import RankedCandidate
from assembly.engine.reconciliation import CONFIDENCES, Reconciliation, Span, Strategy
from assembly.engine.rule_effects import ALWAYS_INCLUDED, rule_effect
from assembly.engine.scopes import SCOPES
from assembly.engine.scoring import DEFAULT_CREDIBILITY
from assembly.engine.types import (
    ALL_PRIORITIES_SINCE,
    Candidate,
    Decision,
    Detail,
    EngineRequest,
    is_trusted_origin,
)

MARKS: Mapping[str, str] = MappingProxyType(
    {
        "number": "disputed: another text has another number",
        "date": "disputed: another text has another date",
        "time": "disputed: another text has another time",
        "negation": "disputed: another text denies this",
        "state": "disputed: another text says the opposite",
        "property": "disputed: another text has another value",
    }
)
"""What is put before the text of an item in an unresolved major conflict, by the kind of the conflict.

The words are fixed, because the other text is data and must not be quoted outside of its own item. They do not change,
so that recorded contexts replay: those from before there was `time` have `date` for times of day.
"""
OTHER_MARK = "disputed: another text contradicts this"
DECIDED_MARK = "decided: this holds against another text"
"""The mark of an item that a person decided for, beside a text that is never left out."""

TOLD_STATEMENTS_SINCE = 9
"""The first version of the engine in which a side that won leaves its place to the other one if its statement was cut
away, or if it is a whole text that found no room.
"""

_OLDEST = dt.datetime.min.replace(tzinfo=dt.UTC)
_STRATEGIES: tuple[Strategy, ...] = ("user_choice", "merge", "precedence", "flag")


@dataclass(frozen=True, slots=True)
class Loss:
    """The code and the numbers behind it of an item that lost, and the place of the winner's statement in its text."""

    code: Code
    detail: Detail
    statement: Span | tuple[()] = ()


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What reconciliation decided: the items that lost and the marks of those that stay, by ref."""

    lost: Mapping[str, Loss] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    flagged: tuple[Reconciliation, ...] = ()
    """The unresolved major conflicts of which a side stays, or would without them."""
    both_stand: tuple[Reconciliation, ...] = ()
    """The other conflicts of which both sides stay, because neither may be left out."""

    def is_flagged(self, decisions: Iterable[Decision], *, withholds: bool) -> bool:
        """Return whether a conflict concerns the context.

        One that is flagged does if a side is included, or was withheld; another one does if both sides are included.
        """
        if not self.flagged and not self.both_stand:
            return False
        included = {decision.ref for decision in decisions if decision.included}
        return any(withholds or not included.isdisjoint((one.left, one.right)) for one in self.flagged) or any(
            included.issuperset((one.left, one.right)) for one in self.both_stand
        )


NOTHING = Reconciled()
"""The outcome without any conflict."""


@dataclass(frozen=True, slots=True)
class _Item:
    """An item of a conflict: its candidate and section, and whether it is never left out."""

    candidate: Candidate
    section: Section
    is_fixed: bool


def reconcile(
    request: EngineRequest, profile: Profile, candidates: Iterable[Candidate], absent: frozenset[str] = frozenset()
) -> Reconciled:
    """Return what becomes of the candidates that the request's reconciliations name.

    A conflict counts if both sides may be included by everything else: rules, filters, origin, archive. `absent` holds
    winners that an earlier run did not tell: in duplicates and unresolved conflicts, the other side then wins. The
    result does not depend on the order of candidates and reconciliations.
    """
    if not request.reconciliations or profile.conflicts == "off":
        return NOTHING
    items = _eligible_items(request, profile, candidates)
    active = sorted(
        (one for one in request.reconciliations if one.left in items and one.right in items),
        key=lambda one: (_STRATEGIES.index(one.strategy(profile.conflict_sensitivity)), one.left, one.right, one.id),
    )
    return _Contest(request, profile, items, absent).decided(active) if active else NOTHING


def _eligible_items(request: EngineRequest, profile: Profile, candidates: Iterable[Candidate]) -> dict[str, _Item]:
    """Return the named items that may be included, by ref; of one in several sections, that which is never left out."""
    named = {ref for one in request.reconciliations for ref in (one.left, one.right)}
    sections = {section.key: section for section in profile.sections}
    found: dict[str, _Item] = {}
    for candidate in candidates:
        if candidate.ref not in named:
            continue
        section = sections[candidate.section]
        item = _Item(candidate, section, _is_never_left_out(section))
        if not _may_be_included(request, item):
            continue
        known = found.get(candidate.ref)
        if known is None or (not known.is_fixed, known.section.key) > (not item.is_fixed, item.section.key):
            found[candidate.ref] = item
    return found


def _is_never_left_out(section: Section) -> bool:
    return section.required or section.shape == "text" or section.key == ALWAYS_INCLUDED.key


def _may_be_included(request: EngineRequest, item: _Item) -> bool:
    candidate, section = item.candidate, item.section
    if not candidate.text.strip():
        return False
    if section.required:
        return True
    if request.excludes(candidate.ref) or candidate.superseded_by is not None or candidate.retired is not None:
        return False
    if section.least_origin and not is_trusted_origin(candidate.origin, section.least_origin):
        return False
    return rule_effect(candidate, section, request.rules).code is None


@dataclass(slots=True)
class _Contest:
    """The state of one reconciliation."""

    request: EngineRequest
    profile: Profile
    items: Mapping[str, _Item]
    absent: frozenset[str]
    lost: dict[str, Loss] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    flagged: list[Reconciliation] = field(default_factory=list)
    both_stand: list[Reconciliation] = field(default_factory=list)

    def decided(self, active: Sequence[Reconciliation]) -> Reconciled:
        """Return the outcome of the conflicts, given those that people decided first."""
        for one in active:
            if one.strategy(self.profile.conflict_sensitivity) == "user_choice":
                self._keep_decision(one)
        if self.profile.conflicts == "warn":
            return self._warned(active)
        rest = [one for one in active if one.strategy(self.profile.conflict_sensitivity) != "user_choice"]
        for one in self._best_first([one for one in rest if one.is_duplicate]):
            self._settle(one)
        for one in self._best_first(self._of_representatives([one for one in rest if not one.is_duplicate])):
            self._settle(one)
        return Reconciled(self.lost, self.marks, tuple(self.flagged), tuple(self.both_stand))

    def _warned(self, active: Sequence[Reconciliation]) -> Reconciled:
        """Return the outcome where nothing is marked, and only what a person decided against is left out."""
        conflicts = [one for one in active if not one.is_duplicate and not one.resolution]
        major = {one.id for one in conflicts if one.strategy(self.profile.conflict_sensitivity) == "flag"}
        minor = [one for one in conflicts if one.id not in major]
        flagged = tuple(one for one in conflicts if one.id in major)
        return Reconciled(self.lost, flagged=flagged, both_stand=(*self.both_stand, *minor))

    def _keep_decision(self, one: Reconciliation) -> None:
        if one.resolution not in {"left", "right"}:
            return
        winner, loser = (one.left, one.right) if one.resolution == "left" else (one.right, one.left)
        if not self.items[loser].is_fixed:
            self._lose(loser, winner, one)
        else:
            self.both_stand.append(one)
            self._mark(winner, DECIDED_MARK)

    def _of_representatives(self, conflicts: Sequence[Reconciliation]) -> list[Reconciliation]:
        """Return the conflicts of the items that stay for their duplicates: they say the same, so they conflict too."""
        found = []
        for one in conflicts:
            left, right = self._representative(one.left), self._representative(one.right)
            if left != right:
                found.append(one.between(left, right))
        return found

    def _representative(self, ref: str) -> str:
        """Return the item that stays for the duplicate; one that has lost if what people decided goes in a circle."""
        passed = set[str]()
        while ref not in passed and (loss := self.lost.get(ref)) and loss.code is Code.DUPLICATE:
            passed.add(ref)
            ref = str(loss.detail["by"])
        return ref

    def _best_first(self, conflicts: Sequence[Reconciliation]) -> list[Reconciliation]:
        """Return the conflicts by their winners, the best first, so that nothing loses to an item that has lost."""
        order = sorted(
            {ref for one in conflicts for ref in (one.left, one.right)},
            key=lambda ref: (*self._standing(ref), *self._precedence(ref)),
        )
        places = {ref: place for place, ref in enumerate(order)}
        return sorted(
            conflicts, key=lambda one: (min(places[one.left], places[one.right]), one.left, one.right, one.id)
        )

    def _settle(self, one: Reconciliation) -> None:
        """Decide an unresolved conflict, unless one of its sides has lost already: then at most one side is told."""
        if one.left in self.lost or one.right in self.lost:
            return
        winner, loser = self._winner(one)
        strategy = one.strategy(self.profile.conflict_sensitivity)
        if strategy == "flag":
            self._flag(one, winner, loser)
        elif not self.items[loser].is_fixed:
            self._lose(loser, winner, one)
        elif strategy == "precedence":
            self.both_stand.append(one)

    def _flag(self, one: Reconciliation, winner: str, loser: str) -> None:
        """Handle an unresolved major conflict as the profile says; the winner is never left out if the loser is not."""
        self.flagged.append(one)
        mode, mark = self.profile.conflicts, MARKS.get(one.kind, OTHER_MARK)
        if mode == "withhold":
            for ref, other in ((winner, loser), (loser, winner)):
                if self.items[ref].is_fixed:
                    self._mark(ref, mark)
                else:
                    self._lose(ref, other, one)
            return
        self._mark(winner, mark)
        if mode == "tell" or self.items[loser].is_fixed:
            self._mark(loser, mark)
        else:
            self._lose(loser, winner, one)

    def _lose(self, loser: str, winner: str, one: Reconciliation) -> None:
        strategy = one.strategy(self.profile.conflict_sensitivity)
        facts = {
            "by": winner,
            "strategy": strategy,
            "confidence": CONFIDENCES[strategy],
            "reasoning": one.reasoning(strategy),
            "conflict": one.id,
        }
        code = Code.DUPLICATE if one.is_duplicate else Code.CONFLICT_LOST
        self.lost.setdefault(loser, Loss(code, facts, one.left_span if winner == one.left else one.right_span))

    def _mark(self, ref: str, mark: str) -> None:
        """Mark the item, unless its section is required: that stays as its owner wrote it.

        What is disputed with one text is so, even if it was decided to hold against another one.
        """
        if not self.items[ref].section.required and self.marks.get(ref, DECIDED_MARK) == DECIDED_MARK:
            self.marks[ref] = mark

    def _winner(self, one: Reconciliation) -> tuple[str, str]:
        """Return the side that stays and the other one: by how they stand, then by precedence."""

        def order(ref: str) -> tuple[object, ...]:
            better = self._quality(ref) if one.is_duplicate else ()
            return *self._standing(ref), ref in self.absent, *better, *self._precedence(ref)

        first, second = sorted((one.left, one.right), key=order)
        return first, second

    def _standing(self, ref: str) -> tuple[bool, ...]:
        """Return the key that puts what is never left out first, since TOLD_STATEMENTS_SINCE what is absent last."""
        is_absent = ref in self.absent and self.request.engine_version >= TOLD_STATEMENTS_SINCE
        return is_absent, not self.items[ref].is_fixed

    def _precedence(self, ref: str) -> tuple[object, ...]:
        """Return the key by scope, credibility and age, the most trusted first."""
        item = self.items[ref]
        scope = item.section.scope
        candidate = item.candidate
        credibility = candidate.measures.get("credibility", DEFAULT_CREDIBILITY)
        moment = candidate.occurred_at or (
            dt.datetime.combine(candidate.date, dt.time.min, dt.UTC) if candidate.date else _OLDEST
        )
        return -1 if scope is None else SCOPES.index(scope), -credibility, -(moment - _OLDEST).total_seconds(), ref

    def _quality(self, ref: str) -> tuple[object, ...]:
        """Return the key by which the better of two equal statements is chosen: pinned, then by its priority."""
        candidate = self.items[ref].candidate
        return not candidate.pinned, -round(self._priority_of(self.items[ref]) or 0.0, 4)

    def _priority_of(self, item: _Item) -> float | None:
        """Return the priority of a block, and since ALL_PRIORITIES_SINCE of other items, too; else the similarity."""
        section, ranked = item.section, RankedCandidate(item.candidate)
        priority = Priority(self.request, self.profile, {section.key: section.scope}, frozenset())
        if section.shape == "blocks":
            return priority.scored(section, ranked).score
        if section.shape in ORDERED_SHAPES and self.request.engine_version >= ALL_PRIORITIES_SINCE:
            return dict(priority.prioritised(section, ranked).signals)[PRIORITY]
        return item.candidate.similarity
