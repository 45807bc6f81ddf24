"""Selection: which items of a section get in, given its cap and what remains of the whole budget."""

from msgspec import Struct
from msgspec.structs import replace

from assembly.engine.codes import Code
from assembly.engine.profile import CutAt, Section
from assembly.engine.ranking import OverflowStep, RankedCandidate
from assembly.engine.rendering import count_item_tokens, count_paragraphs, render_item, separator_before
from assembly.engine.token_ledger import CountedText, TokenLedger
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.truncation import cut_to_fit
from assembly.engine.types import Candidate, Decision, Scalar

RECORDED_TOKENS = "recorded_tokens"
"""Begins the key under which a candidate knows what a record says of its tokens."""


class TokenLimit(Struct, frozen=True):
    """The most tokens that the text may count when a section ends, and the code for what goes over."""

    tokens: int
    code: Code

    @classmethod
    def of(cls, section: Section, used: int, budget: int) -> "TokenLimit":
        """The tighter of the section's cap and the whole budget, after `used` tokens."""
        if section.cap is not None and used + section.cap < budget:
            return cls(used + section.cap, Code.OVER_SECTION_BUDGET)
        return cls(budget, Code.OVER_TOTAL_BUDGET)


class ItemPosition(Struct, frozen=True):
    """Where an item stands in the content, and by how many tokens it lengthened it, with what opened it."""

    tokens: int = 0
    start: int | None = None
    end: int | None = None

    @classmethod
    def of(cls, before: TokenLedger, opened: str, grown: TokenLedger) -> "ItemPosition":
        """At the end of the grown text, after what opened it."""
        return cls(grown.tokens - before.tokens, before.characters + len(opened), grown.characters)


NO_POSITION = ItemPosition()


def fill_section(
    section: Section, ranked: list[RankedCandidate], ledger: TokenLedger, budget: int, *, at: CutAt = "anywhere"
) -> tuple[TokenLedger, list[Decision]]:
    """The text with the section appended, and one decision per item, in the order of the items.

    A misfit is skipped and the next item gets its chance; where nothing got in, the best item is cut to fit,
    unless the section drops it.
    """
    limit = TokenLimit.of(section, ledger.tokens, budget)
    before, decisions = ledger, []
    for item in ranked:
        ledger, decision = _append_item(section, item, ledger, limit, first=ledger is before)
        decisions.append(decision)
    if ledger is before and is_cuttable(section, decisions):
        ledger, decisions[0] = cut_item(section, ranked[0], ledger, limit, decisions[0], at=at)
    return ledger, decisions


def is_cuttable(section: Section, decisions: list[Decision]) -> bool:
    """Whether the best item, which like all others has no room, is to be cut rather than left out."""
    return bool(decisions) and decisions[0].code.is_over_budget and section.overflow == "cut"


def _append_item(
    section: Section, item: RankedCandidate, ledger: TokenLedger, limit: TokenLimit, *, first: bool
) -> tuple[TokenLedger, Decision]:
    if item.code is Code.EMPTY:
        return ledger, decision_on(item, Code.EMPTY)
    whole = count_item(section, item.candidate, ledger.tokenizer)
    tokens_full = whole.tokens
    if item.code is not None:
        return ledger, decision_on(item, item.code, tokens_full=tokens_full)
    opened = separator_before(section, first_section=first and not ledger.characters, first_item=first)
    grown = ledger.append_counted(opened, count_item(section, item.shown, ledger.tokenizer) if item.short else whole)
    if section.required or grown.tokens <= limit.tokens:
        code = Code.REQUIRED if section.required else item.included_as
        return grown, decision_on(item, code, tokens_full=tokens_full, place=ItemPosition.of(ledger, opened, grown))
    needed = grown.tokens - limit.tokens
    return ledger, decision_on(item, limit.code, tokens_full=tokens_full, needed=needed)


def cut_item(
    section: Section,
    item: RankedCandidate,
    ledger: TokenLedger,
    limit: TokenLimit,
    left_out: Decision,
    *,
    at: CutAt = "anywhere",
) -> tuple[TokenLedger, Decision]:
    """The item cut to fit, or the decision that left it out where not a single character of it has room.

    A block that lost its contest by an estimate gets in whole where it fits after all.
    """
    kept_detail = {name: item.detail[name] for name in {"rule"} & item.detail.keys()}
    item = replace(item, code=None, detail=kept_detail, short=None, tokens_shortened=None, steps=())
    grown, whole_item = _append_item(section, item, ledger, limit, first=True)
    if whole_item.included:
        return grown, whole_item
    rendered = render_item(section, item.candidate)
    opened = separator_before(section, first_section=not ledger.characters, first_item=True)
    longest = cut_to_fit(rendered, ledger.append(opened + rendered.lead), limit.tokens, at)
    if longest is None:
        return ledger, left_out
    kept, grown = longest
    whole, total = count_paragraphs(rendered.body, kept)
    after = ledger.tokenizer.count(rendered.lead + rendered.body[:kept] + rendered.ending(kept))
    return grown, decision_on(
        replace(item, steps=(OverflowStep("truncate", left_out.tokens_full, after),)),
        Code.TRUNCATED,
        tokens_full=left_out.tokens_full,
        place=ItemPosition.of(ledger, opened, grown),
        kept_paragraphs=whole,
        of_paragraphs=total,
        kept_chars=kept,
        of_chars=len(rendered.body),
    )


def whole_item_tokens(section: Section, item: RankedCandidate, tokenizer: Tokenizer) -> int:
    """Of the rendered item when nothing of it is left out; counted once."""
    return count_item(section, item.candidate, tokenizer).tokens


def count_item(section: Section, candidate: Candidate, tokenizer: Tokenizer) -> CountedText:
    """The candidate as it stands in the section, with its tokens."""
    form = section.shape, section.treatment, tokenizer.name
    known: CountedText | None = candidate.memo.get(form)
    if known is None:
        rendered = render_item(section, candidate)
        tokens: int | None = candidate.memo.get((RECORDED_TOKENS, *form))
        tokens = count_item_tokens(tokenizer, rendered) if tokens is None else tokens
        known = candidate.memo[form] = CountedText.of(rendered.text, tokens, tokenizer)
    return known


def restore_token_count(section: Section, candidate: Candidate, tokenizer_name: str, tokens: int) -> None:
    """Take so many tokens for those of the candidate as it stands in the section, in place of counting it."""
    candidate.memo[RECORDED_TOKENS, section.shape, section.treatment, tokenizer_name] = tokens


def decision_on(
    item: RankedCandidate, code: Code, *, tokens_full: int = 0, place: ItemPosition = NO_POSITION, **detail: Scalar
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
