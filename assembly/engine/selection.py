"""Selection: which items of a section get in, given its cap and what remains of the whole budget."""

from dataclasses import dataclass, replace

from assembly.engine.codes import Code
from assembly.engine.profile import Section
from assembly.engine.rendering import MARKER, opening, paragraphs, render
from assembly.engine.scoring import Ranked
from assembly.engine.tokens import Ledger
from assembly.engine.types import Decision, Scalar

# The count of a text may fall when a character is added (the last letter of a word can turn three tokens into
# one), so the search for the longest cut starts this many characters beyond the estimate.
_LOOK_AHEAD = 16
_WINDOW = 256  # characters that the search counts again at each step


@dataclass(frozen=True, slots=True)
class Limit:
    """The most tokens that the text may count when a section ends, and the code for what goes over."""

    tokens: int
    code: Code

    @classmethod
    def of(cls, section: Section, used: int, budget: int) -> "Limit":
        """The tighter of the section's cap and the whole budget, after `used` tokens."""
        if section.cap is not None and used + section.cap < budget:
            return cls(used + section.cap, Code.OVER_SECTION_BUDGET)
        return cls(budget, Code.OVER_TOTAL_BUDGET)


def fill(section: Section, ranked: list[Ranked], ledger: Ledger, budget: int) -> tuple[Ledger, list[Decision]]:
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
        ledger, decisions[0] = cut(section, ranked[0], ledger, limit, decisions[0])
    return ledger, decisions


def may_be_cut(section: Section, decisions: list[Decision]) -> bool:
    """Whether the best item, which like all others has no room, is to be cut rather than left out."""
    return bool(decisions) and decisions[0].code.for_want_of_room and section.overflow == "cut"


def _offer(section: Section, item: Ranked, ledger: Ledger, limit: Limit, *, first: bool) -> tuple[Ledger, Decision]:
    if item.code is Code.EMPTY:
        return ledger, decision_on(item, Code.EMPTY)
    text = render(section, item.candidate).text
    tokens_full = item.tokens_full if item.tokens_full is not None else ledger.tokenizer.count(text)
    if item.code is not None:
        return ledger, decision_on(item, item.code, tokens_full=tokens_full)
    opened = opening(section, first_section=not ledger.text, first_item=first)
    grown = ledger.append_counted(opened, text, tokens_full)
    if section.required or grown.tokens <= limit.tokens:
        code = Code.REQUIRED if section.required else item.ruling.included_as
        return grown, placed(decision_on(item, code, tokens_full=tokens_full), ledger, opened, grown)
    needed = grown.tokens - limit.tokens
    return ledger, decision_on(item, limit.code, tokens_full=tokens_full, needed=needed)


def cut(section: Section, item: Ranked, ledger: Ledger, limit: Limit, left_out: Decision) -> tuple[Ledger, Decision]:
    """The item cut to fit, or the decision that left it out where not a single character of it has room.

    A block that lost its contest by an estimate gets in whole where it fits after all.
    """
    item = replace(item, code=None, detail={name: item.detail[name] for name in {"rule"} & item.detail.keys()})
    grown, whole_item = _offer(section, item, ledger, limit, first=True)
    if whole_item.included:
        return grown, whole_item
    rendered = render(section, item.candidate)
    opened = opening(section, first_section=not ledger.text, first_item=True)
    longest = longest_cut(rendered.body, ledger.append(opened + rendered.lead), limit.tokens)
    if longest is None:
        return ledger, left_out
    kept, grown = longest
    whole, total = paragraphs(rendered.body, kept)
    decision = decision_on(
        item,
        Code.TRUNCATED,
        tokens_full=left_out.tokens_full,
        kept_paragraphs=whole,
        of_paragraphs=total,
        kept_chars=kept,
        of_chars=len(rendered.body),
    )
    return grown, placed(decision, ledger, opened, grown)


def longest_cut(body: str, led: Ledger, limit: int) -> tuple[int, Ledger] | None:
    """The longest prefix of the body that fits with its marker: its length, and the ledger that ends in it.

    None when not one character fits. Every length is proved by a real count, downwards from just above an
    estimate: the count of a prefix does not always grow with the prefix.
    """
    if led.tokens > limit:
        return None
    room = limit - led.tokens - led.tokenizer.count(MARKER)
    high = min(len(body) - 1, led.tokenizer.prefix(body, room) + _LOOK_AHEAD)
    while high := len(body[:high].rstrip()):
        low = max(0, high - _WINDOW)
        settled = led.append(body[:low])
        for end in range(high, low, -1):
            if not body[end - 1].isspace() and settled.tokens_with(body[low:end] + MARKER) <= limit:
                return end, settled.append(body[low:end] + MARKER)
        high = low
    return None


def placed(decision: Decision, before: Ledger, opened: str, grown: Ledger) -> Decision:
    """The decision with the item's tokens and its place: after what opened it, at the end of the text."""
    tokens = grown.tokens - before.tokens
    return replace(decision, tokens=tokens, start=len(before.text) + len(opened), end=len(grown.text))


def decision_on(item: Ranked, code: Code, *, tokens_full: int = 0, **detail: Scalar) -> Decision:
    return Decision(
        ref=item.candidate.ref,
        section=item.candidate.section,
        code=code,
        rank=item.rank,
        score=item.score,
        signals=item.signals,
        tokens_full=tokens_full,
        detail={**item.detail, **detail},
    )
