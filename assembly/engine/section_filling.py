"""Sections are filled one after the other, each as its shape requires, into one growing text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from assembly.engine.block_selection import ExcludedItems, SectionOutcome, select_blocks
from assembly.engine.codes import INCLUDED_CODES, Code
from assembly.engine.conversation_turns import fill_turns, tokens_for_turns
from assembly.engine.overflow import OverflowPolicy
from assembly.engine.profile import Profile, Section
from assembly.engine.ranking import RankedCandidate, rank
from assembly.engine.refs import document_of
from assembly.engine.rendering import SECTION_SEPARATOR
from assembly.engine.rule_effects import ALWAYS_INCLUDED, NO_EFFECT, RuleEffect, RuleEffectOf, rule_effect
from assembly.engine.selection import TokenLimit, fill_section
from assembly.engine.token_ledger import TokenLedger
from assembly.engine.types import Candidate, Decision, EngineRequest, SectionResult, SectionStatus

NEVER_CUT_CODES = {Code.REQUIRED, Code.RULE_INCLUDED}
NO_ROOM_CODES = {Code.OVER_SECTION_BUDGET, Code.OVER_TOTAL_BUDGET}


class FilledSection(Struct, frozen=True):
    """A section, the ledger before and after it, and the decisions on its candidates."""

    section: Section
    before: TokenLedger
    after: TokenLedger
    decisions: list[Decision]


@dataclass(slots=True)
class SectionFiller:
    """The state of one run of the engine. Sections are added in the order of the profile.

    The turns of a conversation come last, but tokens are reserved for them before the blocks compete for the rest:
    recent turns matter more than possibly useful blocks.
    """

    request: EngineRequest
    profile: Profile
    candidates: Mapping[str, Sequence[Candidate]]
    ledger: TokenLedger
    budget: int
    ladder: OverflowPolicy
    filled: list[FilledSection] = field(default_factory=list)
    _reserved: int = 0
    """Tokens reserved for the turns."""

    def add(self, section: Section) -> None:
        """Fill the section; for the first section of blocks, fill all sections of blocks."""
        cut_at, version = self.profile.cut_at, self.request.engine_version
        if section.shape == "turns":
            turns = self._ranked_items(section)
            self._keep(
                section,
                *fill_turns(section, turns, self.ledger, self.budget, at=cut_at, engine_version=version),
            )
        elif section.shape != "blocks":
            budget = self.budget - self._reserved
            self._keep(section, *fill_section(section, self._ranked_items(section), self.ledger, budget, at=cut_at))
        elif section.key not in {filled.section.key for filled in self.filled}:
            self._reserve_for_turns()
            self._add_blocks([section for section in self.profile.sections if section.shape == "blocks"])

    def _keep(self, section: Section, grown: TokenLedger, decisions: list[Decision]) -> None:
        self.filled.append(FilledSection(section, self.ledger, grown, decisions))
        self.ledger = grown

    def _ranked_items(self, section: Section) -> list[RankedCandidate]:
        """Return the section's ranked items, shortened or dropped by the overflow steps where they do not fit."""
        budget = self.budget if section.shape == "turns" else self.budget - self._reserved
        limit = TokenLimit.of(section, self.ledger.tokens, budget)
        threshold = self.profile.similarity_threshold
        ranked = rank(section, self.candidates[section.key], threshold, self._rule_effects, self.profile.ranker)
        return self.ladder.within(section, ranked, limit.tokens - self.ledger.tokens, limit.code)

    @property
    def _rule_effects(self) -> RuleEffectOf | None:
        """A function that returns the effect of request and rules on a candidate; None if neither has any effect."""
        request = self.request
        is_ruled = request.rules or request.exclude or ALWAYS_INCLUDED.key in self.candidates
        return self._rule_effect_on if is_ruled else None

    def _rule_effect_on(self, section: Section, candidate: Candidate) -> RuleEffect:
        """Return the effect of the request and its rules on the candidate; a required section is not affected."""
        if section.required:
            return NO_EFFECT
        if self.request.excludes(candidate.ref):
            return RuleEffect(Code.FILTERED)
        if by := self._included_by_rule(section, candidate):
            return RuleEffect(Code.DUPLICATE, detail={"by": by})
        return rule_effect(candidate, section, self.request.rules)

    def _included_by_rule(self, section: Section, candidate: Candidate) -> str | None:
        """Return the ref of the same item, or of its whole document, if it is included already; None otherwise.

        Only duplicates that a rule causes count: an item that a rule always includes is compared with the items of
        required sections, and any other item with those that rules always include.
        """
        is_rules = section.key == ALWAYS_INCLUDED.key
        for filled in self.filled:
            if filled.section.key == ALWAYS_INCLUDED.key or (is_rules and filled.section.required):
                told = {decision.ref for decision in filled.decisions if decision.code in NEVER_CUT_CODES}
                if found := told & {candidate.ref, document_of(candidate.ref)}:
                    return min(found)
        return None

    def _reserve_for_turns(self) -> None:
        last = self.profile.sections[-1]
        if last.shape == "turns":
            self._reserved = tokens_for_turns(
                last, self._ranked_items(last), self.ledger, self.budget, engine_version=self.request.engine_version
            )

    def _add_blocks(self, sections: list[Section]) -> None:
        """Let the blocks compete and render the result, repeatedly, until all selected blocks fit by an exact count."""
        budget, before, excluded = self.budget - self._reserved, self.ledger, ExcludedItems()
        while True:
            outcomes = select_blocks(
                sections,
                self.candidates,
                before,
                budget,
                weights=self.profile.weights,
                ruled=self._rule_effects,
                ladder=self.ladder,
                excluded=excluded,
            )
            for place, outcome in enumerate(outcomes):
                later = sum(following.tokens for following in outcomes[place + 1 :])
                limit, at = budget - later, self.profile.cut_at
                self._keep(outcome.section, *fill_section(outcome.section, outcome.ranked, self.ledger, limit, at=at))
            misfits = _excluded_misfits(outcomes, self.filled[-len(outcomes) :])
            if not misfits:
                return
            excluded |= misfits
            del self.filled[-len(outcomes) :]
            self.ledger = before


def _excluded_misfits(outcomes: list[SectionOutcome], filled: list[FilledSection]) -> ExcludedItems:
    """Return the decisions on selected blocks that rendering excluded: their cost was estimated too low."""
    won = {(item.candidate.section, item.candidate.ref) for out in outcomes for item in out.ranked if not item.code}
    return {
        (decision.section, decision.ref): decision
        for section in filled
        for decision in section.decisions
        if (decision.section, decision.ref) in won and not decision.included
    }


def section_result(filled: FilledSection) -> SectionResult:
    """Return the summary of a filled section: its tokens, position, status and number of items."""
    section, before, after = filled.section, filled.before, filled.after
    codes = [decision.code for decision in filled.decisions]
    included = sum(code.included for code in codes)
    separator = SECTION_SEPARATOR if before.characters and included else ""
    return SectionResult(
        key=section.key,
        label=section.label,
        layer=section.layer,
        cap=section.cap,
        tokens=after.tokens - before.tokens,
        start=before.characters + len(separator),
        end=after.characters,
        status=status_of({*codes}),
        included=included,
        considered=len(codes),
    )


def status_of(codes: set[Code]) -> SectionStatus:
    """Return the status of a section whose decisions have these codes."""
    if Code.TRUNCATED in codes:
        return "cut"
    missed = not NO_ROOM_CODES.isdisjoint(codes)
    if not codes.isdisjoint(INCLUDED_CODES):
        return "partial" if missed else "whole"
    return "left_out" if missed else "empty"
