"""The whole run: rank, select, render, section by section."""

import hashlib
from collections.abc import Iterable

from assembly.engine.codes import Code, WarningCode
from assembly.engine.profile import Profile, Section
from assembly.engine.rendering import SECTION_SEPARATOR
from assembly.engine.scoring import rank
from assembly.engine.selection import fill
from assembly.engine.tokens import Ledger
from assembly.engine.types import Assembled, Candidate, Decision, InvalidAssembly, Request, SectionResult, Status
from config.tokens import Tokenizer


def assemble(request: Request, profile: Profile, candidates: Iterable[Candidate], tokenizer: Tokenizer) -> Assembled:
    """The context of at most request.budget tokens, and one decision for every candidate.

    Only required sections that are larger than the budget by themselves go over it: they then stand alone,
    with the warning BUDGET_EXCEEDED. Raises InvalidAssembly for a candidate of an unknown section, a ref
    given twice in one section, two candidates for a section that is one text, an entry without a date, or a
    tokenizer that is not the request's.
    """
    if tokenizer.name != request.tokenizer:
        raise InvalidAssembly(f"The request names tokenizer {request.tokenizer}, but got {tokenizer.name}.")
    by_section = _by_section(profile, candidates)
    ledger, sections, decisions = Ledger(tokenizer), [], []
    for section in profile.sections:
        ranked = rank(section, by_section[section.key], profile.similarity_threshold)
        grown, decided = fill(section, ranked, ledger, request.budget)
        sections.append(_section_result(section, decided, ledger, grown))
        decisions += decided
        ledger = grown
    return Assembled(
        content=ledger.text,
        tokens=ledger.tokens,
        budget=request.budget,
        truncated=any(decision.code.for_want_of_room for decision in decisions),
        sections=tuple(sections),
        decisions=tuple(decisions),
        warnings=(WarningCode.BUDGET_EXCEEDED,) if ledger.tokens > request.budget else (),
        sha256=hashlib.sha256(ledger.text.encode()).hexdigest(),
    )


def _by_section(profile: Profile, candidates: Iterable[Candidate]) -> dict[str, list[Candidate]]:
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


def _section_result(section: Section, decisions: list[Decision], before: Ledger, after: Ledger) -> SectionResult:
    included = sum(decision.included for decision in decisions)
    separator = SECTION_SEPARATOR if before.text and included else ""
    return SectionResult(
        key=section.key,
        label=section.label,
        layer=section.layer,
        cap=section.cap,
        tokens=after.tokens - before.tokens,
        start=len(before.text) + len(separator),
        end=len(after.text),
        status=_status({decision.code for decision in decisions}),
        included=included,
        considered=len(decisions),
    )


def _status(codes: set[Code]) -> Status:
    if Code.TRUNCATED in codes:
        return "cut"
    missed = codes & {Code.OVER_SECTION_BUDGET, Code.OVER_TOTAL_BUDGET}
    if any(code.included for code in codes):
        return "partial" if missed else "whole"
    return "left_out" if missed else "empty"
