"""Sections are filled one after the other, each as its shape requires, into one growing text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from assembly.engine.block_section import ExcludedItems
from assembly.engine.block_selection import SectionOutcome, lengthened_items, select_blocks
from assembly.engine.codes import INCLUDED_CODES, Code
from assembly.engine.conversation_turns import fill_turns, tokens_for_turns
from assembly.engine.distinct_texts import DistinctTexts
from assembly.engine.overflow import DecisionKey, OverflowPolicy
from assembly.engine.priority import ORDERED_SHAPES, Priority, words_in
from assembly.engine.profile import Profile, Section
from assembly.engine.ranking import RankedCandidate, rank
from assembly.engine.reconcile import NOTHING, Reconciled
from assembly.engine.refs import document_of
from assembly.engine.rendering import SECTION_SEPARATOR
from assembly.engine.rule_effects import ALWAYS_INCLUDED, NO_EFFECT, RuleEffect, RuleEffectOf, rule_effect
from assembly.engine.scoring import words_of
from assembly.engine.selection import TokenLimit, fill_section
from assembly.engine.token_ledger import TokenLedger
from assembly.engine.types import (
    ALL_PRIORITIES_SINCE,
    MEMORY_LAYER_SINCE,
    Candidate,
    Decision,
    EngineRequest,
    SectionResult,
    SectionStatus,
    is_trusted_origin,
)

MAX_NOTE_SHARE = 0.1
"""The most of the budget for which the note at the end displaces other items."""
WHOLE_CODES = {Code.REQUIRED, Code.RULE_INCLUDED, Code.PINNED, Code.FITS}
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
    texts: DistinctTexts
    """The texts that are included so far."""
    reconciled: Reconciled = NOTHING
    """Which items lost a conflict."""
    priorities: dict[str, Priority] = field(default_factory=dict)
    """The priorities of blocks by the text that precedes them, which another filling of the same sections may share."""
    filled: list[FilledSection] = field(default_factory=list)
    _words: set[str] = field(default_factory=set)
    """The words of the topic and of the first sections, as far as they were read."""
    _sections_read: int = 0
    _reserved: int = 0
    """Tokens reserved for the turns."""
    _reserved_for_note: int = 0

    def __post_init__(self) -> None:
        self._reserved_for_note = self._tokens_for_note()

    def add(self, section: Section) -> None:
        """Fill the section; for the first section of blocks, fill all sections of blocks."""
        cut_at, version = self.profile.cut_at, self.request.engine_version
        if section.shape == "turns":
            turns, budget = self._ranked_items(section), self._budget_of(section)
            self._keep(section, *fill_turns(section, turns, self.ledger, budget, at=cut_at, engine_version=version))
        elif section.shape != "blocks":
            budget = self._budget_of(section)
            ranked = self._ranked_items(section)
            filled = fill_section(section, ranked, self.ledger, budget, at=cut_at, engine_version=version)
            self._keep(section, *filled)
        elif section.key not in {filled.section.key for filled in self.filled}:
            self._reserve_for_turns()
            self._add_blocks([section for section in self.profile.sections if section.shape == "blocks"])

    def _budget_of(self, section: Section) -> int:
        """Return the tokens that the text may have after the section: what turns and note need later is reserved."""
        if section.shape == "note":
            return self.budget
        return self.budget - self._reserved_for_note - (0 if section.shape == "turns" else self._reserved)

    def _keep(self, section: Section, grown: TokenLedger, decisions: list[Decision]) -> None:
        if self._deduplicates:
            decisions = true_duplicates(decisions)
            by_ref = {candidate.ref: candidate for candidate in self.candidates[section.key]}
            for decision in decisions:
                if decision.included:
                    self.texts.add(by_ref[decision.ref], is_whole=decision.code in WHOLE_CODES)
        self.filled.append(FilledSection(section, self.ledger, grown, decisions))
        self.ledger = grown

    @property
    def _deduplicates(self) -> bool:
        return self.profile.deduplicate and self.request.engine_version >= MEMORY_LAYER_SINCE

    def _ranked_items(self, section: Section) -> list[RankedCandidate]:
        """Return the section's ranked items, shortened or dropped by the overflow steps where they do not fit."""
        limit = TokenLimit.of(section, self.ledger.tokens, self._budget_of(section))
        ranked = rank(
            section,
            self.candidates[section.key],
            self.profile.similarity_threshold,
            self._rule_effects,
            self.profile.ranker,
            deduplicate=self._deduplicates and section.shape != "turns",
        )
        weighed = self._with_priorities(section, ranked)
        return self.ladder.within(section, weighed, limit.tokens - self.ledger.tokens, limit.code)

    def _with_priorities(self, section: Section, ranked: list[RankedCandidate]) -> list[RankedCandidate]:
        """Return the items with their priorities; those that are excluded already meet no others, so they have none."""
        if section.shape not in ORDERED_SHAPES or self.request.engine_version < ALL_PRIORITIES_SINCE:
            return ranked
        priority = Priority(self.request, self.profile, {section.key: section.scope}, self._surroundings())
        return [item if item.code else priority.prioritised(section, item) for item in ranked]

    def _surroundings(self) -> frozenset[str]:
        """Return the words of the topic and of the items that are included so far; none if coherence has no weight."""
        if not self.profile.weights.coherence:
            return frozenset()
        if not self._words:
            self._words |= words_of(self.request.topic)
        for filled in self.filled[self._sections_read :]:
            by_ref = {candidate.ref: candidate for candidate in self.candidates[filled.section.key]}
            for one in filled.decisions:
                if one.code in WHOLE_CODES:
                    self._words |= words_in(by_ref[one.ref])
                elif one.included:
                    self._words |= words_of(self.ledger.text[one.start : one.end])
        self._sections_read = len(self.filled)
        return frozenset(self._words)

    @property
    def _rule_effects(self) -> RuleEffectOf | None:
        """A function that returns the effect of request and rules on a candidate; None if neither has any effect."""
        request = self.request
        is_ruled = request.rules or request.exclude or ALWAYS_INCLUDED.key in self.candidates or self.reconciled.lost
        has_origins = any(section.least_origin for section in self.profile.sections)
        return self._rule_effect_on if is_ruled or has_origins or self._deduplicates else None

    def _rule_effect_on(self, section: Section, candidate: Candidate) -> RuleEffect:
        """Return the effect of the request and its rules on the candidate; a required section is not affected."""
        if section.required:
            return NO_EFFECT
        if self.request.excludes(candidate.ref):
            return RuleEffect(Code.FILTERED)
        if section.least_origin and not is_trusted_origin(candidate.origin, section.least_origin):
            detail = {"origin": candidate.origin, "least_origin": section.least_origin}
            return RuleEffect(Code.UNTRUSTED_ORIGIN, detail=detail)
        if loss := self.reconciled.lost.get(candidate.ref):
            return RuleEffect(loss.code, detail=loss.detail)
        by = self._included_by_rule(section, candidate)
        if self._deduplicates and section.shape not in {"turns", "note"}:
            by = by or self.texts.repeated_by(candidate)
        if by:
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
        last = self.profile.without_note[-1]
        if last.shape == "turns":
            turns, budget = self._ranked_items(last), self._budget_of(last)
            self._reserved = tokens_for_turns(
                last, turns, self.ledger, budget, engine_version=self.request.engine_version
            )

    def _tokens_for_note(self) -> int:
        """Return the tokens of the note at the end of the context; 0 if it would take more than its share."""
        last = self.profile.sections[-1] if self.profile.sections else None
        if last is None or last.shape != "note":
            return 0
        texts = [SECTION_SEPARATOR + candidate.text for candidate in self.candidates[last.key]]
        # The count of the whole text may be a token higher than that of its parts.
        tokens = sum(self.ledger.tokenizer.count(text) + 1 for text in texts)
        return tokens if tokens <= MAX_NOTE_SHARE * self.budget else 0

    def _add_blocks(self, sections: list[Section]) -> None:
        """Let the blocks compete and render the result, repeatedly, until all selected blocks fit by an exact count."""
        budget, before, excluded = self._budget_of(sections[0]), self.ledger, ExcludedItems()
        texts, shortest = self.texts.copy(), set[DecisionKey]()
        priority = self.priorities.get(before.text)
        if priority is None:
            priority = Priority.of(self.request, self.profile, sections, before.text)
            self.priorities[before.text] = priority
        while True:
            outcomes = select_blocks(
                sections,
                self.candidates,
                before,
                budget,
                priority=priority,
                ruled=self._rule_effects,
                ladder=self.ladder,
                excluded=excluded,
                shortest=shortest,
            )
            for place, outcome in enumerate(outcomes):
                later = sum(following.tokens for following in outcomes[place + 1 :])
                filled = fill_section(
                    outcome.section,
                    outcome.ranked,
                    self.ledger,
                    budget - later,
                    at=self.profile.cut_at,
                    engine_version=self.request.engine_version,
                )
                self._keep(outcome.section, *filled)
            misfits = _excluded_misfits(outcomes, self.filled[-len(outcomes) :])
            if not misfits:
                return
            if longest := lengthened_items(outcomes):  # details give way before any item does
                shortest |= (longest & misfits.keys()) or longest
            else:
                excluded |= misfits
            del self.filled[-len(outcomes) :]
            self.ledger, self.texts = before, texts.copy()


def _excluded_misfits(outcomes: list[SectionOutcome], filled: list[FilledSection]) -> ExcludedItems:
    """Return the decisions on selected blocks that rendering excluded: their cost was estimated too low."""
    won = {(item.candidate.section, item.candidate.ref) for out in outcomes for item in out.ranked if not item.code}
    return {
        (decision.section, decision.ref): decision
        for section in filled
        for decision in section.decisions
        if (decision.section, decision.ref) in won and not decision.included
    }


def true_duplicates(decisions: list[Decision]) -> list[Decision]:
    """Return the decisions with those on duplicates of items that are not included decided as these are."""
    by_ref = {decision.ref: decision for decision in decisions}
    found = []
    for decision in decisions:
        first = by_ref.get(decision.detail.get("by", "")) if decision.code is Code.DUPLICATE else None
        excluded = first is not None and not first.included
        found.append(replace(decision, code=first.code, detail=first.detail) if first and excluded else decision)
    return found


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
