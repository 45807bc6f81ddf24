"""Selection decides which items of a section are included, within its cap and the rest of the whole budget."""

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
"""First part of the key under which a candidate's memo holds the token count of a record."""


class TokenLimit(Struct, frozen=True):
    """The most tokens that the text may have at the end of a section, and the code for items that exceed them."""

    tokens: int
    code: Code

    @classmethod
    def of(cls, section: Section, used: int, budget: int) -> "TokenLimit":
        """Return the lower of the section's cap and the whole budget, for a text that has `used` tokens so far."""
        if section.cap is not None and used + section.cap < budget:
            return cls(used + section.cap, Code.OVER_SECTION_BUDGET)
        return cls(budget, Code.OVER_TOTAL_BUDGET)


class ItemPosition(Struct, frozen=True):
    """The position of an item in the content, and the tokens that it adds, separator and heading included."""

    tokens: int = 0
    start: int | None = None
    end: int | None = None

    @classmethod
    def of(cls, before: TokenLedger, opened: str, grown: TokenLedger) -> "ItemPosition":
        """Return the position of an item at the end of the grown text; `opened` is the text that separates it."""
        return cls(grown.tokens - before.tokens, before.characters + len(opened), grown.characters)


NO_POSITION = ItemPosition()


def fill_section(
    section: Section, ranked: list[RankedCandidate], ledger: TokenLedger, budget: int, *, at: CutAt = "anywhere"
) -> tuple[TokenLedger, list[Decision]]:
    """Return the text with the section appended, and one decision per item, in the order of the items.

    An item that does not fit is skipped and the next one is tried; if none fits, the best item is cut to fit,
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
    """Return whether the best item is to be cut rather than excluded, given that no item of the section fits."""
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
    """Return the text with the item cut to fit, or `left_out` if not one character of the item fits.

    A block that was excluded by an estimate is included whole if it fits after all.
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
    """Return the tokens of the whole rendered item, counted once."""
    return count_item(section, item.candidate, tokenizer).tokens


def count_item(section: Section, candidate: Candidate, tokenizer: Tokenizer) -> CountedText:
    """Return the candidate rendered for the section, with its tokens; cached in the candidate."""
    form = section.shape, section.treatment, tokenizer.name
    known: CountedText | None = candidate.memo.get(form)
    if known is None:
        rendered = render_item(section, candidate)
        tokens: int | None = candidate.memo.get((RECORDED_TOKENS, *form))
        tokens = count_item_tokens(tokenizer, rendered) if tokens is None else tokens
        known = candidate.memo[form] = CountedText.of(rendered.text, tokens, tokenizer)
    return known


def restore_token_count(section: Section, candidate: Candidate, tokenizer_name: str, tokens: int) -> None:
    """Use this token count for the candidate in the section, so that it is not counted again."""
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
