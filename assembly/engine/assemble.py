"""The engine's run ranks, selects, compacts and renders the candidates, section by section.

A new event can be appended to a finished context: as many of the lowest-scoring components as needed are dropped, and
the tokens are counted again ("Incremental Updates" of the seed "Context Assembly Specification").
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

from msgspec import structs

from assembly.engine.absent_winners import absent_winners
from assembly.engine.caller_texts import SHORTENED_CODES, assemble_with_room
from assembly.engine.codes import Code, WarningCode
from assembly.engine.distinct_texts import DistinctTexts
from assembly.engine.overflow import OverflowPolicy, wanted_summaries
from assembly.engine.priority import Priority
from assembly.engine.profile import Profile, Section
from assembly.engine.quality import quality_of
from assembly.engine.ranking import decision_relevance
from assembly.engine.reconcile import NOTHING, Reconciled, reconcile
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.engine.section_filling import NO_ROOM_CODES, SectionFiller, section_result, status_of
from assembly.engine.token_ledger import TokenLedger
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.types import (
    ESCAPED_SINCE,
    MEMORY_LAYER_SINCE,
    WHOLE_TEXTS_SINCE,
    Candidate,
    Decision,
    EngineRequest,
    EngineResult,
    InvalidAssembly,
    SectionResult,
)

LATEST_SECTION = Section("latest_activity", "Latest Activity", "L6", "recent_events", "sequence")
"""The section of appended events: right after the required sections, the newest event first."""

FAILURE_NOTE = Section("failure_note", "Unavailable Sources", "L6", "failure_note", "note", overflow="drop")
"""The section of the line about sources that failed, at the end of a context."""

EngineRun = Callable[[Sequence[Candidate], int], EngineResult]
"""A function that assembles the given candidates within a budget in tokens."""

DecisionKey = tuple[str, str]


def fit_by_dropping(
    request: EngineRequest, profile: Profile, candidates: Sequence[Candidate], run: EngineRun
) -> EngineResult:
    """Return the context of the candidates with the appended event; the weakest items are dropped whole to fit it."""
    whole = run(candidates, _unlimited_budget(request, candidates))
    weakest = _weakest_first(request, profile, whole)
    dropped: list[Decision] = []
    excess = whole.tokens - request.budget
    while True:
        while weakest and excess > 0:
            dropped.append(weakest.pop(0))
            excess -= dropped[-1].tokens
        gone = {_key(decision) for decision in dropped}
        fitted = run([item for item in candidates if (item.section, item.ref) not in gone], request.budget)
        if not weakest or not _is_budget_bound(fitted, whole):
            return _with_dropped_decisions(fitted, [_dropped_decision(decision, request) for decision in dropped])
        excess = 1


def _unlimited_budget(request: EngineRequest, candidates: Sequence[Candidate]) -> int:
    """Return a budget in tokens that all candidates fit in: tokenizers here make at most four tokens per character."""
    return request.budget + 4 * sum(len(candidate.text) + 1_000 for candidate in candidates)


def _weakest_first(request: EngineRequest, profile: Profile, whole: EngineResult) -> list[Decision]:
    shapes = {section.key: section.shape for section in profile.sections}
    may_go = [
        decision
        for decision in whole.decisions
        if decision.included
        and decision.code not in {Code.REQUIRED, Code.RULE_INCLUDED}
        and decision.ref != request.appended
    ]
    return sorted(may_go, key=lambda decision: (decision_relevance(decision, shapes[decision.section]), decision.ref))


def _is_budget_bound(fitted: EngineResult, whole: EngineResult) -> bool:
    """Whether the budget cut or excluded items of `fitted` that the sections' own caps alone would not have."""
    alone = {_key(decision): decision.code for decision in whole.decisions}
    return any(
        decision.code.is_over_budget and decision.code is not alone[_key(decision)] for decision in fitted.decisions
    )


def _dropped_decision(decision: Decision, request: EngineRequest) -> Decision:
    return Decision(
        ref=decision.ref,
        section=decision.section,
        code=Code.OVER_TOTAL_BUDGET,
        score=decision.score,
        signals=decision.signals,
        tokens_full=decision.tokens_full,
        detail={"dropped_for": request.appended},
    )


def _with_dropped_decisions(fitted: EngineResult, dropped: list[Decision]) -> EngineResult:
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
        truncated=fitted.truncated or bool(dropped),
        sections=tuple(sections),
        decisions=tuple(decisions),
    )


def _key(decision: Decision) -> DecisionKey:
    return decision.section, decision.ref


def assemble(
    request: EngineRequest, profile: Profile, candidates: Iterable[Candidate], tokenizer: Tokenizer
) -> EngineResult:
    """Return a context of at most request.budget tokens, with one decision for every candidate.

    Only required sections that are larger than the budget by themselves exceed it: they are then the whole context,
    with the warning BUDGET_EXCEEDED. Raises InvalidAssembly for a candidate of an unknown section, a ref
    given twice in one section, two candidates for a section that is one text, an entry without a date, or a
    tokenizer that is not the request's.
    """
    if tokenizer.name != request.tokenizer:
        raise InvalidAssembly(f"The request names tokenizer {request.tokenizer}, but got {tokenizer.name}.")
    capped = _with_section_caps(profile_for_version(profile, request.engine_version), request.budget)
    offered = list(candidates)
    if request.appended:
        # Items of the finished context stay unchanged or are dropped; none is shortened now.
        plain = replace(capped, over_budget=(), fill=False)
        return fit_by_dropping(
            request, plain, offered, lambda kept, budget: _run_with_room(request, plain, kept, tokenizer, budget)
        )
    return _run_with_room(request, capped, offered, tokenizer, request.budget)


def profile_for_version(profile: Profile, engine_version: int) -> Profile:
    """Return the profile as the engine of that version renders its sections."""
    return profile.formatted() if engine_version >= ESCAPED_SINCE else profile.as_written()


def _with_section_caps(profile: Profile, budget: int) -> Profile:
    """Return the profile with each section's share of the budget turned into a cap in tokens."""
    if all(section.share is None for section in profile.sections):
        return profile
    sections = [replace(section, cap=section.cap_within(budget), share=None) for section in profile.sections]
    return replace(profile, sections=tuple(sections))


def _run_with_room(
    request: EngineRequest, profile: Profile, candidates: Sequence[Candidate], tokenizer: Tokenizer, budget: int
) -> EngineResult:
    def run(capped: Profile) -> EngineResult:
        return _run_engine(request, capped, candidates, tokenizer, budget)

    return (
        assemble_with_room(profile, request.budget, run)
        if request.engine_version >= WHOLE_TEXTS_SINCE
        else run(profile)
    )


def _run_engine(
    request: EngineRequest, profile: Profile, candidates: Sequence[Candidate], tokenizer: Tokenizer, budget: int
) -> EngineResult:
    filling, reconciled, is_reconciled = _reconciled_sections(request, profile, candidates, tokenizer, budget)
    ledger, decisions = filling.ledger, _decisions_of(filling)
    content = ledger.text
    quality = quality_of(decisions) if request.topic.strip() else None
    return EngineResult(
        content=content,
        tokens=ledger.tokens,
        budget=request.budget,
        truncated=_is_truncated(decisions, request.engine_version),
        sections=tuple(section_result(filled) for filled in filling.filled),
        decisions=tuple(decisions),
        warnings=_warnings(
            ledger.tokens > budget,
            decisions,
            weak=quality is not None and quality < profile.quality_min,
            incoherent=not is_reconciled or coherence_of(decisions) < profile.coherence_min,
            flagged=reconciled is not NOTHING
            and reconciled.is_flagged(decisions, withholds=profile.conflicts == "withhold"),
        ),
        sha256=hashlib.sha256(content.encode()).hexdigest(),
        quality=quality,
        wanted=wanted_summaries(profile, candidates, decisions, tokenizer),
    )


def _reconciled_sections(
    request: EngineRequest, profile: Profile, candidates: Sequence[Candidate], tokenizer: Tokenizer, budget: int
) -> tuple[SectionFiller, Reconciled, bool]:
    """Return the filled sections, what reconciliation decided, and whether it could.

    If a side won and is not told where the other one might be, the sections are filled again with that one as the
    winner; that counts if it then is included. If reconciliation fails, nothing is reconciled.
    """
    fill = partial(_filled_sections, request, profile, candidates, TokenLedger(tokenizer), {}, budget=budget)
    if not request.reconciliations:
        return fill(reconciled=NOTHING), NOTHING, True
    try:
        first = reconcile(request, profile, candidates)
    except Exception:  # noqa: BLE001 - whatever is wrong with a conflict, a context without reconciliation is of use
        return fill(reconciled=NOTHING), NOTHING, False
    filling = fill(reconciled=first)
    absent = absent_winners(request, first, candidates, _decisions_of(filling), filling.ledger.text)
    if not absent:
        return filling, first, True
    second = reconcile(request, profile, candidates, absent)
    again = fill(reconciled=second)
    included = {decision.ref for decision in _decisions_of(again) if decision.included}
    is_better = any(ref in included and str(loss.detail["by"]) in absent for ref, loss in first.lost.items())
    return (again, second, True) if is_better else (filling, first, True)


def _filled_sections(
    request: EngineRequest,
    profile: Profile,
    candidates: Sequence[Candidate],
    ledger: TokenLedger,
    priorities: dict[str, Priority],
    *,
    budget: int,
    reconciled: Reconciled,
) -> SectionFiller:
    ladder = OverflowPolicy.of(profile, request, ledger.tokenizer)
    offered = _candidates_by_section(profile, _with_marks(candidates, reconciled))
    filling = SectionFiller(request, profile, offered, ledger, budget, ladder, DistinctTexts(), reconciled, priorities)
    for section in profile.sections:
        filling.add(section)
    return filling


def _with_marks(candidates: Sequence[Candidate], reconciled: Reconciled) -> Sequence[Candidate]:
    if not reconciled.marks:
        return candidates
    marks = reconciled.marks
    return [structs.replace(one, mark=marks[one.ref]) if one.ref in marks else one for one in candidates]


def _decisions_of(filling: SectionFiller) -> list[Decision]:
    return [decision for filled in filling.filled for decision in filled.decisions]


def coherence_of(decisions: Iterable[Decision]) -> float:
    """Return the mean coherence, 0 to 1, of the included items that have one; 1 if none has."""
    signals = [dict(decision.signals) for decision in decisions if decision.included]
    known = [mine["coherence"] for mine in signals if "coherence" in mine]
    return fmean(known) if known else 1.0


def _is_truncated(decisions: Iterable[Decision], engine_version: int) -> bool:
    """Return whether an item was cut, shortened, or excluded for lack of budget.

    Before MEMORY_LAYER_SINCE, items that were shortened to some of their sentences or to a summary did not count.
    """
    shortened = SHORTENED_CODES if engine_version >= MEMORY_LAYER_SINCE else frozenset()
    return any(decision.code.is_over_budget or decision.code in shortened for decision in decisions)


def _warnings(
    exceeded: bool, decisions: Iterable[Decision], *, weak: bool, incoherent: bool, flagged: bool
) -> tuple[WarningCode, ...]:
    broken = any(decision.section == ALWAYS_INCLUDED.key and decision.code in NO_ROOM_CODES for decision in decisions)
    given = {
        WarningCode.BUDGET_EXCEEDED: exceeded,
        WarningCode.QUALITY_BELOW_MINIMUM: weak,
        WarningCode.COHERENCE_FAILURE: incoherent,
        WarningCode.RULE_NOT_KEPT: broken,
        WarningCode.CONFLICT_FLAGGED: flagged,
    }
    return tuple(code for code, applies in given.items() if applies)


def _candidates_by_section(profile: Profile, candidates: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    grouped: dict[str, dict[str, Candidate]] = {section.key: {} for section in profile.sections}
    for candidate in candidates:
        if candidate.section not in grouped:
            raise InvalidAssembly(f"{candidate.ref} is for {candidate.section}, no section of {profile.name}.")
        if candidate.ref in grouped[candidate.section]:
            raise InvalidAssembly(f"{candidate.ref} was given twice for section {candidate.section}.")
        grouped[candidate.section][candidate.ref] = candidate
    for section in profile.sections:
        if section.shape == "text" and len(grouped[section.key]) > 1:
            raise InvalidAssembly(f"Section {section.key} is one text: {', '.join(grouped[section.key])}.")
    return {key: list(by_ref.values()) for key, by_ref in grouped.items()}


RESERVED_SECTION_KEYS = {ALWAYS_INCLUDED.key, LATEST_SECTION.key, FAILURE_NOTE.key}
"""Keys of the sections that rules, appended events and failed sources add to a profile."""
