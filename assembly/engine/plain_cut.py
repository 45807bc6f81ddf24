"""The plain cut takes as much of a text's beginning as fits with the marker, wherever that ends."""

from collections.abc import Callable

from assembly.engine.rendering import TRUNCATION_MARKER
from assembly.engine.token_ledger import TokenLedger

# The count of a text may fall when a character is added (the last letter of a word can turn three tokens into
# one), so the search for the longest cut starts this many characters beyond the estimate.
_LOOK_AHEAD = 16
_WINDOW = 256  # characters that the search counts again at each step


def longest_cut(
    body: str,
    ledger: TokenLedger,
    limit: int,
    *,
    ending: Callable[[int], str] = lambda _: TRUNCATION_MARKER,
    can_end: Callable[[int], bool] = lambda _: True,
) -> tuple[int, TokenLedger] | None:
    """Return the length of the longest prefix of the body that fits with its marker, and the ledger that ends in it.

    `ending` returns the text that follows a prefix of that length, `can_end` whether the prefix may end there. Returns
    None if not one character fits. Every length is checked by an exact count, downwards from just above an estimate:
    the count of a prefix does not always grow with the prefix.
    """
    if ledger.tokens > limit:
        return None
    room = limit - ledger.tokens - ledger.tokenizer.count(TRUNCATION_MARKER)
    high = min(len(body) - 1, ledger.tokenizer.prefix(body, room) + _LOOK_AHEAD)
    while high := len(body[:high].rstrip()):
        low = max(0, high - _WINDOW)
        settled = ledger.append(body[:low])
        for end in range(high, low, -1):
            if body[end - 1].isspace():
                continue
            cut = body[low:end] + ending(end)
            if settled.tokens_with(cut) <= limit and can_end(end):
                return end, settled.append(cut)
        high = low
    return None
