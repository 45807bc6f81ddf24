"""The latest turns of a conversation that fit are included, and shown in the order in which they were said."""

from assembly.engine.codes import Code
from assembly.engine.profile import CutAt, Section
from assembly.engine.ranking import RankedCandidate
from assembly.engine.rendering import SECTION_SEPARATOR, closing_text, heading_text, render_item, separator_before
from assembly.engine.selection import (
    ItemPosition,
    TokenLimit,
    close_section,
    cut_item,
    decision_on,
    is_cuttable,
    tokens_when_closed,
    whole_item_tokens,
)
from assembly.engine.token_ledger import TokenLedger
from assembly.engine.types import ENGINE_VERSION, Decision

SEPARATOR_COUNTED_SINCE = 3
"""The first engine version that counts the separator before the heading when it chooses turns."""


def fill_turns(
    section: Section,
    ranked: list[RankedCandidate],
    ledger: TokenLedger,
    budget: int,
    *,
    at: CutAt = "anywhere",
    engine_version: int = ENGINE_VERSION,
) -> tuple[TokenLedger, list[Decision]]:
    """Return the text with the turns appended, and one decision per turn, latest first.

    A turn too large for the remaining budget is skipped; if no turn fits, the latest is cut to fit.
    """
    limit = TokenLimit.of(section, ledger.tokens, budget)
    alone = engine_version < SEPARATOR_COUNTED_SINCE or not ledger.characters
    opened = heading_text(section) if alone else SECTION_SEPARATOR + heading_text(section)
    chosen, misfits, _ = _turns_that_fit(section, ranked, ledger, limit, opened)
    while True:
        grown, decided = _append_turns(section, chosen, ledger)
        tokens = tokens_when_closed(section, grown)
        if tokens <= limit.tokens or not chosen:
            break
        *chosen, oldest = chosen
        misfits[oldest.candidate.ref] = tokens - limit.tokens
    decisions = [
        decided.get(item.candidate.ref)
        or _left_out_decision(section, item, limit.code, misfits.get(item.candidate.ref), ledger)
        for item in ranked
    ]
    if not chosen and is_cuttable(section, decisions):
        grown, decisions[0] = cut_item(section, ranked[0], ledger, limit, decisions[0], at=at)
    return close_section(section, ledger, grown, decisions)


def tokens_for_turns(
    section: Section,
    ranked: list[RankedCandidate],
    ledger: TokenLedger,
    budget: int,
    *,
    engine_version: int = ENGINE_VERSION,
) -> int:
    """Return an estimate of the tokens that the turns need at the end of the context, if they had the whole budget.

    The estimate is rather one token too high: a turn that did not fit in the end would waste its share of the budget.
    """
    opened = heading_text(section) if engine_version == 1 else SECTION_SEPARATOR + heading_text(section)
    chosen, _, used = _turns_that_fit(section, ranked, ledger, TokenLimit.of(section, ledger.tokens, budget), opened)
    return used - ledger.tokens if chosen else 0


def _turns_that_fit(
    section: Section, ranked: list[RankedCandidate], ledger: TokenLedger, limit: TokenLimit, opened: str
) -> tuple[list[RankedCandidate], dict[str, int], int]:
    """Return the turns that fit (latest first), the excess tokens of the others by ref, and the tokens used in all."""
    count = ledger.tokenizer.count
    used = ledger.tokens + count(opened) + count(closing_text(section))
    chosen: list[RankedCandidate] = []
    misfits: dict[str, int] = {}
    for item in ranked:
        if item.code is not None:
            continue
        cost = count(render_item(section, item.shown).text + SECTION_SEPARATOR)
        if used + cost <= limit.tokens:
            used += cost
            chosen.append(item)
        else:
            misfits[item.candidate.ref] = used + cost - limit.tokens
    return chosen, misfits, used


def _append_turns(
    section: Section, chosen: list[RankedCandidate], ledger: TokenLedger
) -> tuple[TokenLedger, dict[str, Decision]]:
    """Append the chosen turns in the order of the conversation. Return the new ledger and the decisions by ref."""
    before, decided = ledger, {}
    for item in reversed(chosen):
        opened = separator_before(section, first_section=not ledger.characters, first_item=ledger is before)
        grown = ledger.append(opened + render_item(section, item.shown).text)
        tokens_full = whole_item_tokens(section, item.candidate, ledger.tokenizer)
        place = ItemPosition.of(ledger, opened, grown)
        decided[item.candidate.ref] = decision_on(item, item.included_as, tokens_full=tokens_full, place=place)
        ledger = grown
    return ledger, decided


def _left_out_decision(
    section: Section, item: RankedCandidate, code: Code, needed: int | None, ledger: TokenLedger
) -> Decision:
    if item.code is Code.EMPTY:
        return decision_on(item, Code.EMPTY)
    tokens_full = whole_item_tokens(section, item.candidate, ledger.tokenizer)
    if item.code is not None:
        return decision_on(item, item.code, tokens_full=tokens_full)
    return decision_on(item, code, tokens_full=tokens_full, needed=needed)
