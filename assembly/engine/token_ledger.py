"""A ledger holds the growing context with its exact token count, without counting the whole text at each step.

A seam is a position where a text can be split so that the counts of both parts add up to that of the whole.
"""

import re

from msgspec import Struct

from assembly.engine.tokenizers import Tokenizer

_NEAR = (32, 512)  # characters from the end in which to look for a seam before looking at the whole text


class CountedText(Struct, frozen=True):
    """A piece of text with its tokens, split so that it can be appended to any text without being counted again."""

    tokens: int
    end: str
    """The piece's text after its last seam."""
    body: str = ""
    """The piece's text before its last seam."""
    beginning: str = ""
    """The piece's text before its first seam."""
    inner: int = 0
    """Tokens of the piece's text after its first seam."""
    last: int | None = None
    """Tokens of the piece's text after its last seam; None: the piece has no seam."""

    @classmethod
    def of(cls, text: str, tokens: int, tokenizer: Tokenizer) -> "CountedText":
        """Return the piece, given that it has so many tokens by itself."""
        first = tokenizer.seam.search(text) if tokenizer.seam else None
        if first is None:
            return cls(tokens, text)
        last = _last_seam(tokenizer.seam, text, first.start())
        beginning, body, end = text[: first.start()], text[:last], text[last:]
        return cls(tokens, end, body, beginning, tokens - tokenizer.count(beginning), tokenizer.count(end))


class FixedText(Struct, frozen=True):
    """The text before the last seam, as linked pieces, because joining them at each step would dominate the run time.

    `before` is the text that these pieces continue.
    """

    before: "FixedText | None" = None
    pieces: tuple[str, ...] = ()
    characters: int = 0
    tokens: int = 0

    def grown(self, tokens: int, *pieces: str) -> "FixedText":
        """Return the text with these pieces at its end, given that it then has so many tokens in total."""
        return FixedText(self, pieces, self.characters + sum(map(len, pieces)), tokens)

    @property
    def text(self) -> str:
        """The whole text, joined."""
        found: list[str] = []
        part: FixedText | None = self
        while part:
            found += reversed(part.pieces)
            part = part.before
        return "".join(reversed(found))


EMPTY_TEXT = FixedText()


class TokenLedger(Struct, frozen=True):
    """An immutable text with its token count; appending returns a new ledger.

    The tokens before the last seam (see assembly.engine.tokenizers) do not depend on what follows, so only the
    characters after it are counted again. With a tokenizer without seams, the whole text is counted again.
    """

    tokenizer: Tokenizer
    tokens: int = 0
    settled: FixedText = EMPTY_TEXT
    tail: str = ""
    """The text after the last seam."""

    @property
    def text(self) -> str:
        """The whole text."""
        return self.settled.text + self.tail

    @property
    def characters(self) -> int:
        """The length of the text in characters."""
        return self.settled.characters + len(self.tail)

    def tokens_with(self, piece: str) -> int:
        """Return the tokens that the text would have with the piece appended."""
        return self.settled.tokens + self.tokenizer.count(self.tail + piece)

    def append(self, piece: str) -> "TokenLedger":
        """Return the ledger of the text with the piece appended."""
        total, tail = self.tokens_with(piece), self.tail + piece
        seam = _last_seam(self.tokenizer.seam, tail, 0)
        if not seam:
            return TokenLedger(self.tokenizer, total, self.settled, tail)
        end = tail[seam:]
        return TokenLedger(
            self.tokenizer, total, self.settled.grown(total - self.tokenizer.count(end), tail[:seam]), end
        )

    def append_counted(self, opening: str, piece: CountedText) -> "TokenLedger":
        """Return the ledger of text + opening + piece, using the piece's known token count."""
        if piece.last is None:
            return self.append(opening + piece.end)
        total = self.tokens_with(opening + piece.beginning) + piece.inner
        settled = self.settled.grown(total - piece.last, self.tail, opening, piece.body)
        return TokenLedger(self.tokenizer, total, settled, piece.end)


def _last_seam(seam: re.Pattern[str] | None, text: str, start: int) -> int:
    """Return the position of the last seam after `start`; `start` itself if there is none."""
    if seam is None:
        return start
    for position in (*(max(start, len(text) - near) for near in _NEAR), start):
        found = [match.start() for match in seam.finditer(text, position)]
        if found:
            return found[-1]
    return start
