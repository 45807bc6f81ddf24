"""The words of a block, each with what marks it: bold, a link, code."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from markdown_it.token import Token

from config.http.cpu_budget import check_cpu
from teams.differences.words import tokens_of

_ELEMENTS = {"em_open": "em", "strong_open": "strong", "s_open": "s"}


@dataclass(frozen=True, slots=True)
class Link:
    """Where a link leads, and what is said where one points at it."""

    href: str
    title: str

    def __str__(self) -> str:
        return f"{self.href} “{self.title}”" if self.title else self.href


class Piece(NamedTuple):
    """Text in the elements that mark it.

    A link that leads elsewhere should not mark its words as changed: so its address follows them as a piece of its own,
    which is shown only where it changed.
    """

    text: str
    elements: tuple[str, ...] = ()
    link: Link | None = None
    is_address: bool = False

    @property
    def look(self) -> tuple[str, tuple[str, ...], bool]:
        """What two pieces have in common that look the same."""
        return self.text, self.elements, self.is_address


def split(piece: Piece) -> Iterator[Piece]:
    """The piece word by word. How wide a space is written makes no difference to readers, but in code."""
    text, elements, link, is_address = piece
    if is_address or len(text) == 1:
        yield piece
    elif "code" in elements:
        yield from (Piece(token, elements, link) for token in tokens_of(text))
    else:
        yield from (Piece(" " if token.isspace() else token, elements, link) for token in tokens_of(text))


def pieces_of(tokens: Iterable[Token]) -> Iterator[Piece]:
    """What markdown-it's tokens of one block say."""
    elements: list[str] = []
    link: Link | None = None
    label = ""
    for token in tokens:
        check_cpu()
        if token.type == "link_open":
            link, label = Link(str(token.attrs["href"]), str(token.attrs.get("title", ""))), ""
        elif token.type == "link_close":
            if link and str(link) != label:
                yield Piece(str(link), is_address=True)
            link = None
        elif token.nesting > 0:
            elements.append(_ELEMENTS[token.type])
        elif token.nesting < 0:
            elements.pop()
        elif text := _text(token):
            label += text
            yield Piece(text, (*elements, *_innermost(token, link)), link)


def _text(token: Token) -> str:
    return {"hardbreak": "\n", "softbreak": " "}.get(token.type, token.content)


def _innermost(token: Token, link: Link | None) -> Iterator[str]:
    """The elements that stand around this one token alone: a link's words may each be marked besides."""
    if link:
        yield "a"
    if token.type in {"code_inline", "hardbreak"}:
        yield "code" if token.type == "code_inline" else "br"
