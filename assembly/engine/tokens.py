"""A ledger of the growing context: its exact token count at each step, without counting it all again."""

import re
from dataclasses import dataclass
from functools import lru_cache

from config.tokens import Tokenizer

MOST_KNOWN_CHARACTERS = 2_000
"""Of a piece whose seams are remembered: the same memories and events are told again and again."""
_NEAR = (32, 512)  # characters from the end in which to look for a seam before looking at the whole text


@dataclass(frozen=True, slots=True)
class Ledger:
    """A text and its token count. Appending gives a new ledger.

    What stands before the last seam (see config.tokens) counts the same whatever follows, so only the
    characters after it are counted again. A tokenizer without seams has the whole text counted again.
    """

    tokenizer: Tokenizer
    text: str = ""
    tokens: int = 0
    seam: int = 0
    settled: int = 0
    """Tokens of the characters before the seam."""

    def tokens_with(self, piece: str) -> int:
        """Tokens of the text, were the piece appended."""
        return self.settled + self.tokenizer.count(self.text[self.seam :] + piece)

    def append(self, piece: str) -> "Ledger":
        """The ledger of text + piece."""
        return self._grown(piece, self.tokens_with(piece))

    def append_counted(self, opening: str, piece: str, tokens: int) -> "Ledger":
        """The ledger of text + opening + piece, where `tokens` is the piece's own count: it is not counted again."""
        first, last = _seams(self.tokenizer.seam, piece)
        if last is None:
            return self.append(opening + piece)
        beginning, end = piece[:first], piece[last:]
        total = self.tokens_with(opening + beginning) + tokens - self.tokenizer.count(beginning)
        text = self.text + opening + piece
        return Ledger(self.tokenizer, text, total, len(text) - len(end), total - self.tokenizer.count(end))

    def _grown(self, piece: str, total: int) -> "Ledger":
        text = self.text + piece
        seam = _last(self.tokenizer.seam, text, self.seam)
        settled = self.settled if seam == self.seam else total - self.tokenizer.count(text[seam:])
        return Ledger(self.tokenizer, text, total, seam, settled)


def _last(seam: re.Pattern[str] | None, text: str, start: int) -> int:
    """Position of the last seam after start; start itself where there is none."""
    if seam is None:
        return start
    for position in (*(max(start, len(text) - near) for near in _NEAR), start):
        found = [match.start() for match in seam.finditer(text, position)]
        if found:
            return found[-1]
    return start


def _seams(seam: re.Pattern[str] | None, piece: str) -> tuple[int, int | None]:
    """Positions of the first and the last seam within the piece, which are seams wherever it stands; None: no seam."""
    return (_known_seams if len(piece) <= MOST_KNOWN_CHARACTERS else _found_seams)(seam, piece)


def _found_seams(seam: re.Pattern[str] | None, piece: str) -> tuple[int, int | None]:
    first = seam.search(piece) if seam else None
    return (first.start(), _last(seam, piece, first.start())) if first else (0, None)


_known_seams = lru_cache(maxsize=8_192)(_found_seams)
