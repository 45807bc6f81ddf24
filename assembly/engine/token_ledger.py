"""A ledger of the growing context: its exact token count at each step, without counting it all again."""

import re
from dataclasses import dataclass

from msgspec import Struct

from assembly.engine.tokenizers import Tokenizer

_NEAR = (32, 512)  # characters from the end in which to look for a seam before looking at the whole text


@dataclass(frozen=True, slots=True)
class CountedText:
    """A piece and its tokens, with what is to be known of it to append it anywhere without counting it again."""

    tokens: int
    end: str
    """What stands after its last seam."""
    body: str = ""
    """What stands before that."""
    beginning: str = ""
    """What stands before its first seam."""
    inner: int = 0
    """Tokens of all that follows its first seam."""
    last: int | None = None
    """Tokens of what follows its last one; None: the piece has no seam."""

    @classmethod
    def of(cls, text: str, tokens: int, tokenizer: Tokenizer) -> "CountedText":
        """The piece, which counts so many tokens by itself."""
        first = tokenizer.seam.search(text) if tokenizer.seam else None
        if first is None:
            return cls(tokens, text)
        last = _last_seam(tokenizer.seam, text, first.start())
        beginning, body, end = text[: first.start()], text[:last], text[last:]
        return cls(tokens, end, body, beginning, tokens - tokenizer.count(beginning), tokenizer.count(end))


class FixedText(Struct, frozen=True):
    """What stands before the last seam, piece by piece from the end: to join it at each step takes longer than all
    else. `before`: the settled text that this continues."""

    before: "FixedText | None" = None
    pieces: tuple[str, ...] = ()
    characters: int = 0
    tokens: int = 0

    def grown(self, tokens: int, *pieces: str) -> "FixedText":
        """With these pieces at its end it counts so many tokens."""
        return FixedText(self, pieces, self.characters + sum(map(len, pieces)), tokens)

    @property
    def text(self) -> str:
        """The whole, joined."""
        found: list[str] = []
        part: FixedText | None = self
        while part:
            found += reversed(part.pieces)
            part = part.before
        return "".join(reversed(found))


EMPTY_TEXT = FixedText()


class TokenLedger(Struct, frozen=True):
    """A text and its token count. Appending gives a new ledger.

    What stands before the last seam (see assembly.engine.tokenizers) counts the same whatever follows, so only the
    characters after it are counted again. A tokenizer without seams has the whole text counted again.
    """

    tokenizer: Tokenizer
    tokens: int = 0
    settled: FixedText = EMPTY_TEXT
    tail: str = ""
    """What stands after the last seam."""

    @property
    def text(self) -> str:
        """The whole text."""
        return self.settled.text + self.tail

    @property
    def characters(self) -> int:
        """How long the text is."""
        return self.settled.characters + len(self.tail)

    def tokens_with(self, piece: str) -> int:
        """Tokens of the text, were the piece appended."""
        return self.settled.tokens + self.tokenizer.count(self.tail + piece)

    def append(self, piece: str) -> "TokenLedger":
        """The ledger of text + piece."""
        total, tail = self.tokens_with(piece), self.tail + piece
        seam = _last_seam(self.tokenizer.seam, tail, 0)
        if not seam:
            return TokenLedger(self.tokenizer, total, self.settled, tail)
        end = tail[seam:]
        return TokenLedger(
            self.tokenizer, total, self.settled.grown(total - self.tokenizer.count(end), tail[:seam]), end
        )

    def append_counted(self, opening: str, piece: CountedText) -> "TokenLedger":
        """The ledger of text + opening + piece, which is not counted again."""
        if piece.last is None:
            return self.append(opening + piece.end)
        total = self.tokens_with(opening + piece.beginning) + piece.inner
        settled = self.settled.grown(total - piece.last, self.tail, opening, piece.body)
        return TokenLedger(self.tokenizer, total, settled, piece.end)


def _last_seam(seam: re.Pattern[str] | None, text: str, start: int) -> int:
    """Position of the last seam after start; start itself where there is none."""
    if seam is None:
        return start
    for position in (*(max(start, len(text) - near) for near in _NEAR), start):
        found = [match.start() for match in seam.finditer(text, position)]
        if found:
            return found[-1]
    return start
