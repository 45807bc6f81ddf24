"""The turns of a conversation: a window that slides back from the latest, shown in the order they were said."""

from assembly.engine.codes import Code
from assembly.engine.profile import CutAt, Section
from assembly.engine.ranking import Ranked
from assembly.engine.rendering import SECTION_SEPARATOR, heading, opening, render
from assembly.engine.selection import Limit, Place, cut, decision_on, may_be_cut, tokens_whole
from assembly.engine.token_ledger import Ledger
from assembly.engine.types import ENGINE_VERSION, Decision

SEPARATOR_COUNTED = 3
"""The first version of the engine that chooses turns by what stands before their heading, too."""


def fill_turns(
    section: Section,
    ranked: list[Ranked],
    ledger: Ledger,
    budget: int,
    *,
    at: CutAt = "anywhere",
    engine_version: int = ENGINE_VERSION,
) -> tuple[Ledger, list[Decision]]:
    """The text with the turns appended, and one decision per turn, latest first.

    A turn too large for what is left is passed over; where none got in, the latest is cut to fit.
    """
    limit = Limit.of(section, ledger.tokens, budget)
    alone = engine_version < SEPARATOR_COUNTED or not ledger.characters
    opened = heading(section) if alone else SECTION_SEPARATOR + heading(section)
    chosen, misfits, _ = _window(section, ranked, ledger, limit, opened)
    while True:
        grown, decided = _said(section, chosen, ledger)
        if grown.tokens <= limit.tokens or not chosen:
            break
        *chosen, oldest = chosen
        misfits[oldest.candidate.ref] = grown.tokens - limit.tokens
    decisions = [
        decided.get(item.candidate.ref) or _left_out(section, item, limit.code, misfits.get(item.candidate.ref), ledger)
        for item in ranked
    ]
    if not chosen and may_be_cut(section, decisions):
        grown, decisions[0] = cut(section, ranked[0], ledger, limit, decisions[0], at=at)
    return grown, decisions


def room_for_turns(
    section: Section, ranked: list[Ranked], ledger: Ledger, budget: int, *, engine_version: int = ENGINE_VERSION
) -> int:
    """About how many tokens the turns need at the end of the context, were there all this room: rather one too many,
    for a turn that did not fit in the end would leave its room to nobody."""
    opened = heading(section) if engine_version == 1 else SECTION_SEPARATOR + heading(section)
    chosen, _, used = _window(section, ranked, ledger, Limit.of(section, ledger.tokens, budget), opened)
    return used - ledger.tokens if chosen else 0


def _window(
    section: Section, ranked: list[Ranked], ledger: Ledger, limit: Limit, opened: str
) -> tuple[list[Ranked], dict[str, int], int]:
    """The turns that have room after what opens them, latest first; by how many tokens each other one is too large; the
    tokens used."""
    count = ledger.tokenizer.count
    used = ledger.tokens + count(opened)
    chosen: list[Ranked] = []
    misfits: dict[str, int] = {}
    for item in ranked:
        if item.code is not None:
            continue
        cost = count(render(section, item.shown).text + SECTION_SEPARATOR)
        if used + cost <= limit.tokens:
            used += cost
            chosen.append(item)
        else:
            misfits[item.candidate.ref] = used + cost - limit.tokens
    return chosen, misfits, used


def _said(section: Section, chosen: list[Ranked], ledger: Ledger) -> tuple[Ledger, dict[str, Decision]]:
    """The chosen turns in the order they were said, and the decision on each."""
    before, decided = ledger, {}
    for item in reversed(chosen):
        opened = opening(section, first_section=not ledger.characters, first_item=ledger is before)
        grown = ledger.append(opened + render(section, item.shown).text)
        tokens_full = tokens_whole(section, item, ledger.tokenizer)
        place = Place.of(ledger, opened, grown)
        decided[item.candidate.ref] = decision_on(item, item.included_as, tokens_full=tokens_full, place=place)
        ledger = grown
    return ledger, decided


def _left_out(section: Section, item: Ranked, code: Code, needed: int | None, ledger: Ledger) -> Decision:
    if item.code is Code.EMPTY:
        return decision_on(item, Code.EMPTY)
    tokens_full = tokens_whole(section, item, ledger.tokenizer)
    if item.code is not None:
        return decision_on(item, item.code, tokens_full=tokens_full)
    return decision_on(item, code, tokens_full=tokens_full, needed=needed)
