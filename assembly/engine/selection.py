"""Selection: which items of a section get in, given its cap and what remains of the whole budget."""

from msgspec import Struct
from msgspec.structs import replace

from assembly.engine.codes import Code
from assembly.engine.profile import CutAt, Section
from assembly.engine.ranking import Ranked, StepTaken
from assembly.engine.rendering import opening, paragraphs, render, tokens_of
from assembly.engine.token_ledger import Counted, Ledger
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.truncation import cut_to_fit
from assembly.engine.types import Candidate, Decision, Scalar

RECORDED_TOKENS = "recorded_tokens"
"""Begins the key under which a candidate knows what a record says of its tokens."""


class Limit(Struct, frozen=True):
    """The most tokens that the text may count when a section ends, and the code for what goes over."""

    tokens: int
    code: Code

    @classmethod
    def of(cls, section: Section, used: int, budget: int) -> "Limit":
        """The tighter of the section's cap and the whole budget, after `used` tokens."""
        if section.cap is not None and used + section.cap < budget:
            return cls(used + section.cap, Code.OVER_SECTION_BUDGET)
        return cls(budget, Code.OVER_TOTAL_BUDGET)


class Place(Struct, frozen=True):
    """Where an item stands in the content, and by how many tokens it lengthened it, with what opened it."""

    tokens: int = 0
    start: int | None = None
    end: int | None = None

    @classmethod
    def of(cls, before: Ledger, opened: str, grown: Ledger) -> "Place":
        """At the end of the grown text, after what opened it."""
        return cls(grown.tokens - before.tokens, before.characters + len(opened), grown.characters)


NOWHERE = Place()


def fill(
    section: Section, ranked: list[Ranked], ledger: Ledger, budget: int, *, at: CutAt = "anywhere"
) -> tuple[Ledger, list[Decision]]:
    """The text with the section appended, and one decision per item, in the order of the items.

    A misfit is skipped and the next item gets its chance; where nothing got in, the best item is cut to fit,
    unless the section drops it.
    """
    limit = Limit.of(section, ledger.tokens, budget)
    before, decisions = ledger, []
    for item in ranked:
        ledger, decision = _offer(section, item, ledger, limit, first=ledger is before)
        decisions.append(decision)
    if ledger is before and may_be_cut(section, decisions):
        ledger, decisions[0] = cut(section, ranked[0], ledger, limit, decisions[0], at=at)
    return ledger, decisions


def may_be_cut(section: Section, decisions: list[Decision]) -> bool:
    """Whether the best item, which like all others has no room, is to be cut rather than left out."""
    return bool(decisions) and decisions[0].code.for_want_of_room and section.overflow == "cut"


def _offer(section: Section, item: Ranked, ledger: Ledger, limit: Limit, *, first: bool) -> tuple[Ledger, Decision]:
    if item.code is Code.EMPTY:
        return ledger, decision_on(item, Code.EMPTY)
    whole = counted(section, item.candidate, ledger.tokenizer)
    tokens_full = whole.tokens
    if item.code is not None:
        return ledger, decision_on(item, item.code, tokens_full=tokens_full)
    opened = opening(section, first_section=first and not ledger.characters, first_item=first)
    grown = ledger.append_counted(opened, counted(section, item.shown, ledger.tokenizer) if item.short else whole)
    if section.required or grown.tokens <= limit.tokens:
        code = Code.REQUIRED if section.required else item.included_as
        return grown, decision_on(item, code, tokens_full=tokens_full, place=Place.of(ledger, opened, grown))
    needed = grown.tokens - limit.tokens
    return ledger, decision_on(item, limit.code, tokens_full=tokens_full, needed=needed)


def cut(
    section: Section, item: Ranked, ledger: Ledger, limit: Limit, left_out: Decision, *, at: CutAt = "anywhere"
) -> tuple[Ledger, Decision]:
    """The item cut to fit, or the decision that left it out where not a single character of it has room.

    A block that lost its contest by an estimate gets in whole where it fits after all.
    """
    kept_detail = {name: item.detail[name] for name in {"rule"} & item.detail.keys()}
    item = replace(item, code=None, detail=kept_detail, short=None, tokens_short=None, steps=())
    grown, whole_item = _offer(section, item, ledger, limit, first=True)
    if whole_item.included:
        return grown, whole_item
    rendered = render(section, item.candidate)
    opened = opening(section, first_section=not ledger.characters, first_item=True)
    longest = cut_to_fit(rendered, ledger.append(opened + rendered.lead), limit.tokens, at)
    if longest is None:
        return ledger, left_out
    kept, grown = longest
    whole, total = paragraphs(rendered.body, kept)
    after = ledger.tokenizer.count(rendered.lead + rendered.body[:kept] + rendered.ending(kept))
    return grown, decision_on(
        replace(item, steps=(StepTaken("truncate", left_out.tokens_full, after),)),
        Code.TRUNCATED,
        tokens_full=left_out.tokens_full,
        place=Place.of(ledger, opened, grown),
        kept_paragraphs=whole,
        of_paragraphs=total,
        kept_chars=kept,
        of_chars=len(rendered.body),
    )


def tokens_whole(section: Section, item: Ranked, tokenizer: Tokenizer) -> int:
    """Of the rendered item when nothing of it is left out; counted once."""
    return counted(section, item.candidate, tokenizer).tokens


def counted(section: Section, candidate: Candidate, tokenizer: Tokenizer) -> Counted:
    """The candidate as it stands in the section, with its tokens."""
    form = section.shape, section.treatment, tokenizer.name
    known: Counted | None = candidate.worked_out.get(form)
    if known is None:
        rendered = render(section, candidate)
        tokens: int | None = candidate.worked_out.get((RECORDED_TOKENS, *form))
        tokens = tokens_of(tokenizer, rendered) if tokens is None else tokens
        known = candidate.worked_out[form] = Counted.of(rendered.text, tokens, tokenizer)
    return known


def count_recorded(section: Section, candidate: Candidate, tokenizer_name: str, tokens: int) -> None:
    """Take so many tokens for those of the candidate as it stands in the section, in place of counting it."""
    candidate.worked_out[RECORDED_TOKENS, section.shape, section.treatment, tokenizer_name] = tokens


def decision_on(
    item: Ranked, code: Code, *, tokens_full: int = 0, place: Place = NOWHERE, **detail: Scalar
) -> Decision:
    return Decision(
        ref=item.candidate.ref,
        section=item.candidate.section,
        code=code,
        rank=item.rank,
        score=item.score,
        signals=item.signals,
        tokens=place.tokens,
        tokens_full=tokens_full,
        start=place.start,
        end=place.end,
        detail={**item.explained, **detail},
    )
