"""Appending: a finished context takes in a new event, and gives up its weakest parts where it has no room for all.

Source: "Incremental Updates" of the seed "Context Assembly Specification", with the design's fine print: as many of the
lowest-scoring components go as needed, and the tokens are counted anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec import structs

from assembly.engine.codes import Code
from assembly.engine.filling import status_of
from assembly.engine.profile import Profile, Section
from assembly.engine.scoring import relevance
from assembly.engine.types import Assembled, Candidate, Decision, Request, SectionResult

LATEST = Section("latest_activity", "Latest Activity", "L6", "recent_events", "sequence")
"""Where appended events stand: right after what is required, the newest first."""

Run = Callable[[Sequence[Candidate], int], Assembled]
"""Assembles these candidates within a budget in tokens."""

Key = tuple[str, str]


def fit_by_dropping(request: Request, profile: Profile, candidates: Sequence[Candidate], run: Run) -> Assembled:
    """The context of the candidates and the appended event; the weakest are left out whole, none is cut for it."""
    whole = run(candidates, _without_limit(request, candidates))
    weakest = _weakest_first(request, profile, whole)
    dropped: list[Decision] = []
    excess = whole.tokens - request.budget
    while True:
        while weakest and excess > 0:
            dropped.append(weakest.pop(0))
            excess -= dropped[-1].tokens
        gone = {_key(decision) for decision in dropped}
        fitted = run([item for item in candidates if (item.section, item.ref) not in gone], request.budget)
        if not weakest or not _crowded(fitted, whole):
            return _with_dropped(fitted, [_dropped(decision, request) for decision in dropped])
        excess = 1


def _without_limit(request: Request, candidates: Sequence[Candidate]) -> int:
    """A budget that all of them fit in: no tokenizer of ours makes more tokens of a text than four per character."""
    return request.budget + 4 * sum(len(candidate.text) + 1_000 for candidate in candidates)


def _weakest_first(request: Request, profile: Profile, whole: Assembled) -> list[Decision]:
    shapes = {section.key: section.shape for section in profile.sections}
    may_go = [
        decision
        for decision in whole.decisions
        if decision.included
        and decision.code not in {Code.REQUIRED, Code.RULE_INCLUDED}
        and decision.ref != request.appended
    ]
    return sorted(may_go, key=lambda decision: (relevance(decision, shapes[decision.section]), decision.ref))


def _crowded(fitted: Assembled, whole: Assembled) -> bool:
    """Whether the budget cut or left out more than the sections' own caps do."""
    alone = {_key(decision): decision.code for decision in whole.decisions}
    return any(
        decision.code.for_want_of_room and decision.code is not alone[_key(decision)] for decision in fitted.decisions
    )


def _dropped(decision: Decision, request: Request) -> Decision:
    return Decision(
        ref=decision.ref,
        section=decision.section,
        code=Code.OVER_TOTAL_BUDGET,
        score=decision.score,
        signals=decision.signals,
        tokens_full=decision.tokens_full,
        detail={"dropped_for": request.appended},
    )


def _with_dropped(fitted: Assembled, dropped: list[Decision]) -> Assembled:
    decisions: list[Decision] = []
    sections: list[SectionResult] = []
    for section in fitted.sections:
        mine = [decision for decision in (*fitted.decisions, *dropped) if decision.section == section.key]
        unranked = sorted((item for item in mine if item.rank is None), key=lambda item: item.ref)
        decisions += [*(item for item in mine if item.rank is not None), *unranked]
        status = status_of({decision.code for decision in mine})
        sections.append(structs.replace(section, status=status, considered=len(mine)))
    return replace(
        fitted,
        truncated=any(decision.code.for_want_of_room for decision in decisions),
        sections=tuple(sections),
        decisions=tuple(decisions),
    )


def _key(decision: Decision) -> Key:
    return decision.section, decision.ref
