"""Ways to room for a candidate: a larger budget, a larger cap of its section, a shorter text. Pure."""

from collections.abc import Iterator

from assembly.asked import MAX_TOKENS
from assembly.engine.codes import Code
from assembly.whynot.standpoint import Standpoint, Way

FOR_AN_OPENING = 60
"""Tokens of a section's heading, of an item's lead and of what separates them, at most."""
CHARACTERS = 4  # of a token, about


def more_room(stand: Standpoint, *, whole: bool) -> Iterator[Way]:
    """More of what it had too little of; what is cut may have had too little of either."""
    code = stand.decision.code
    if code is not Code.OVER_TOTAL_BUDGET:
        yield from _cap(stand, whole)
    if code is not Code.OVER_SECTION_BUDGET or stand.section.share is not None:
        yield from _budget(stand, whole)


def shorter(stand: Standpoint) -> Iterator[Way]:
    """Steps are characters that the text ends earlier."""
    length = len(stand.candidate.text.rstrip())
    if length > 1:
        guess = min(length - 1, max(1, _missing(stand) * CHARACTERS))
        yield Way(lambda n: stand.change("shorter", length - n), length - 1, guess, whole=True)


def _budget(stand: Standpoint, whole: bool) -> Iterator[Way]:
    budget = stand.inputs.request.budget
    most = min(_room_for_all(stand), MAX_TOKENS) - budget
    if most > 0:
        yield Way(lambda n: stand.change("budget", budget + n), most, _missing(stand), whole)


def _cap(stand: Standpoint, whole: bool) -> Iterator[Way]:
    """A cap of the whole budget is none."""
    budget = stand.inputs.request.budget
    cap = stand.section.cap_within(budget)
    if cap is not None and cap < budget:
        yield Way(lambda n: stand.change("cap", cap + n), budget - cap, _missing(stand), whole)


def _missing(stand: Standpoint) -> int:
    """About how many tokens it is short of; 0 where nothing says it."""
    if stand.is_short:
        return max(1, stand.decision.tokens_full - stand.decision.tokens)
    return int(stand.decision.detail.get("needed") or 0)


def _room_for_all(stand: Standpoint) -> int:
    """A budget that is enough for everything, were there no caps; where some are shares of it, the largest there is."""
    if any(section.share is not None for section in stand.inputs.profile.sections):
        return MAX_TOKENS
    told = stand.assembled
    missing = sum(max(0, one.tokens_full - one.tokens) + FOR_AN_OPENING for one in told.decisions)
    return max(told.tokens, told.budget) + missing
