"""Selection decides which items of a section are included, within its cap and the rest of the whole budget."""

from msgspec import Struct
from msgspec.structs import replace

from assembly.engine.codes import Code
from assembly.engine.profile import CutAt, Section
from assembly.engine.ranking import OverflowStep, RankedCandidate
from assembly.engine.rendering import (
    RenderedItem,
    closing_text,
    count_item_tokens,
    render_item,
    separator_before,
)
from assembly.engine.token_ledger import CountedText, TokenLedger
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.truncation import cut_to_fit
from assembly.engine.types import ENGINE_VERSION, MEMORY_LAYER_SINCE, Candidate, Decision, Scalar

WHOLE_TOKENS = "whole_tokens"
"""First part of the key under which a candidate's memo holds its token count, computed or from a record."""


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
    section: Section,
    ranked: list[RankedCandidate],
    ledger: TokenLedger,
    budget: int,
    *,
    at: CutAt = "anywhere",
    engine_version: int = ENGINE_VERSION,
) -> tuple[TokenLedger, list[Decision]]:
    """Return the text with the section appended, and one decision per item, in the order of the items.

    An item that does not fit is skipped and the next one is tried, except one item that is cut: a block that is to be
    cut, or what `_is_cut_in_turn` names. If none fits, the best item is cut to fit, unless the section drops it.
    """
    limit = TokenLimit.of(section, ledger.tokens, budget)
    before, decisions = ledger, []
    may_cut = section.overflow == "cut" and engine_version >= MEMORY_LAYER_SINCE
    for item in ranked:
        first = ledger is before
        grown, decision = _append_item(section, item, ledger, limit, first=first)
        is_misfit = item.code is None and not decision.included
        room = limit.tokens - ledger.tokens
        if may_cut and is_misfit and (item.is_to_be_cut or _is_cut_in_turn(section, decision, room, at)):
            grown, decision = cut_item(section, item, ledger, limit, decision, at=at, first=first)
            may_cut = decision.code is not Code.TRUNCATED
        ledger = grown
        decisions.append(decision)
    if ledger is before and is_cuttable(section, decisions):
        ledger, decisions[0] = cut_item(section, ranked[0], ledger, limit, decisions[0], at=at)
    return close_section(section, before, ledger, decisions)


def _is_cut_in_turn(section: Section, misfit: Decision, room: int, at: CutAt) -> bool:
    """Return whether an item that does not fit in `room` tokens is cut before the next one is tried.

    That is the newest day that does not fit (seed "Siestai", addSection), and, if the profile says where texts are cut,
    the best item of a section that has room for at least half of it.
    """
    if section.shape == "entries":
        return True
    is_best = misfit.rank == 1 and section.shape != "blocks"
    return is_best and at != "anywhere" and 2 * room >= misfit.tokens_full


def close_section(
    section: Section, before: TokenLedger, ledger: TokenLedger, decisions: list[Decision]
) -> tuple[TokenLedger, list[Decision]]:
    """Return the text with the closing tag of the section, if it has one and any item; its last item has the tokens."""
    closing = closing_text(section)
    if not closing or ledger is before:
        return ledger, decisions
    closed = ledger.append(closing)
    last = max(range(len(decisions)), key=lambda place: decisions[place].end or 0)
    tokens = decisions[last].tokens + closed.tokens - ledger.tokens
    return closed, [*decisions[:last], replace(decisions[last], tokens=tokens), *decisions[last + 1 :]]


def tokens_when_closed(section: Section, ledger: TokenLedger) -> int:
    """Return the tokens of the text if the section ended here."""
    closing = closing_text(section)
    return ledger.tokens_with(closing) if closing else ledger.tokens


def is_cuttable(section: Section, decisions: list[Decision]) -> bool:
    """Return whether the best item is to be cut rather than excluded, given that no item of the section fits."""
    return bool(decisions) and decisions[0].code.is_over_budget and section.overflow == "cut"


def _append_item(
    section: Section, item: RankedCandidate, ledger: TokenLedger, limit: TokenLimit, *, first: bool
) -> tuple[TokenLedger, Decision]:
    if item.code is Code.EMPTY:
        return ledger, decision_on(item, Code.EMPTY)
    tokens_full = whole_item_tokens(section, item.candidate, ledger.tokenizer)
    if item.code is not None:
        return ledger, decision_on(item, item.code, tokens_full=tokens_full)
    opened = separator_before(
        section, first_section=first and not ledger.characters, first_item=first, candidate=item.candidate
    )
    grown = ledger.append_counted(opened, count_item(section, item.shown, ledger.tokenizer))
    tokens = tokens_when_closed(section, grown)
    if section.required or tokens <= limit.tokens:
        code = Code.REQUIRED if section.required else item.included_as
        return grown, decision_on(item, code, tokens_full=tokens_full, place=ItemPosition.of(ledger, opened, grown))
    return ledger, decision_on(item, limit.code, tokens_full=tokens_full, needed=tokens - limit.tokens)


def cut_item(
    section: Section,
    item: RankedCandidate,
    ledger: TokenLedger,
    limit: TokenLimit,
    left_out: Decision,
    *,
    at: CutAt = "anywhere",
    first: bool = True,
) -> tuple[TokenLedger, Decision]:
    """Return the text with the item cut to fit, or `left_out` if not one character of the item fits.

    `first` says whether it is the first item of its section. A block that was excluded by an estimate is included whole
    if it fits after all.
    """
    kept_detail = {name: item.detail[name] for name in {"rule"} & item.detail.keys()}
    item = replace(item, code=None, detail=kept_detail, short=None, tokens_shortened=None, steps=())
    grown, whole_item = _append_item(section, item, ledger, limit, first=first)
    if whole_item.included:
        return grown, whole_item
    rendered = render_item(section, item.candidate)
    opened = separator_before(
        section, first_section=first and not ledger.characters, first_item=first, candidate=item.candidate
    )
    longest = _longest_cut(section, rendered, ledger.append(opened + rendered.lead), limit.tokens, at)
    if longest is None:
        return ledger, left_out
    kept, grown = longest
    whole, total = rendered.count_paragraphs(kept)
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


def _longest_cut(
    section: Section, rendered: RenderedItem, opened: TokenLedger, limit: int, at: CutAt
) -> tuple[int, TokenLedger] | None:
    """Return the longest cut that fits together with the closing tag, which may take a token more after some texts."""
    closing = closing_text(section)
    room = limit - (opened.tokenizer.count(closing) if closing else 0)
    while (found := cut_to_fit(rendered, opened, room, at)) and tokens_when_closed(section, found[1]) > limit:
        room -= 1
    return found


def whole_item_tokens(section: Section, candidate: Candidate, tokenizer: Tokenizer) -> int:
    """Return the tokens of the candidate rendered for the section, counted once."""
    form = (WHOLE_TOKENS, *section.form, tokenizer.name)
    known: int | None = candidate.memo.get(form)
    if known is None:
        known = candidate.memo[form] = count_item_tokens(tokenizer, render_item(section, candidate))
    return known


def count_item(section: Section, candidate: Candidate, tokenizer: Tokenizer) -> CountedText:
    """Return the candidate rendered for the section, as it is appended to a text; cached in the candidate."""
    form = *section.form, tokenizer.name
    known: CountedText | None = candidate.memo.get(form)
    if known is None:
        tokens = whole_item_tokens(section, candidate, tokenizer)
        known = candidate.memo[form] = CountedText.of(render_item(section, candidate).text, tokens, tokenizer)
    return known


def restore_token_count(section: Section, candidate: Candidate, tokenizer_name: str, tokens: int) -> None:
    """Use this token count for the candidate in the section, so that it is not counted again."""
    candidate.memo[(WHOLE_TOKENS, *section.form, tokenizer_name)] = tokens


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
