"""A Markdown text is parsed into a tree of blocks, whose leaves have words with their marks: bold, a link, code.

Differences are computed on this tree.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

from markdown_it.token import Token

from config.http.cpu_budget import check_cpu
from teams.text_diff.difference import tokenise
from teams.text_diff.markdown import block_tokens, inline_tokens

_ELEMENTS = {"em_open": "em", "strong_open": "strong", "s_open": "s"}


@dataclass(frozen=True, slots=True)
class Link:
    """A link: its address and its title."""

    href: str
    title: str

    def __str__(self) -> str:
        return f"{self.href} “{self.title}”" if self.title else self.href


class InlineText(NamedTuple):
    """Text with the elements that mark it up.

    A changed address of a link must not mark the words of the link as changed. Therefore the address follows the words
    as a text of its own, which is shown only if it changed.
    """

    text: str
    elements: tuple[str, ...] = ()
    link: Link | None = None
    is_address: bool = False

    @property
    def appearance(self) -> tuple[str, tuple[str, ...], bool]:
        """The text, its elements, and whether it is a link's address: pieces with equal values look the same."""
        return self.text, self.elements, self.is_address


def split_words(piece: InlineText) -> Iterator[InlineText]:
    """Yield the text word by word. The width of white space matters only in code."""
    text, elements, link, is_address = piece
    if is_address or len(text) == 1:
        yield piece
    elif "code" in elements:
        yield from (InlineText(token, elements, link) for token in tokenise(text))
    else:
        yield from (InlineText(" " if token.isspace() else token, elements, link) for token in tokenise(text))


def inline_texts(tokens: Iterable[Token]) -> Iterator[InlineText]:
    """Yield the texts of markdown-it's tokens of one block."""
    elements: list[str] = []
    link: Link | None = None
    label = ""
    for token in tokens:
        check_cpu()
        if token.type == "link_open":
            link, label = Link(str(token.attrs["href"]), str(token.attrs.get("title", ""))), ""
        elif token.type == "link_close":
            if link and str(link) != label:
                yield InlineText(str(link), is_address=True)
            link = None
        elif token.nesting > 0:
            elements.append(_ELEMENTS[token.type])
        elif token.nesting < 0:
            elements.pop()
        elif text := _text(token):
            label += text
            yield InlineText(text, (*elements, *_innermost(token, link)), link)


def _text(token: Token) -> str:
    return {"hardbreak": "\n", "softbreak": " "}.get(token.type, token.content)


def _innermost(token: Token, link: Link | None) -> Iterator[str]:
    """Yield the elements around this token alone: each word of a link may have marks of its own."""
    if link:
        yield "a"
    if token.type in {"code_inline", "hardbreak"}:
        yield "code" if token.type == "code_inline" else "br"


_CODE = {"fence", "code_block"}


@dataclass(frozen=True)
class Block:
    """A paragraph, a list, a cell …: `kind` is markdown-it's name for it, `detail` its level, language or number.

    A leaf has `content`, the Markdown of its words, and `references`, where the text's named links lead. Two blocks
    with the same signature are the same to their readers.
    """

    kind: str
    tag: str
    detail: str
    children: tuple["Block", ...]
    content: str
    references: dict[str, Any]
    is_hidden: bool
    signature: str

    @cached_property
    def pieces(self) -> tuple[InlineText, ...]:
        """The content of the block in as few texts as its marks allow."""
        if self.kind == "code":
            return (InlineText(self.content),)
        return tuple(inline_texts(inline_tokens(self.content, self.references)))

    @cached_property
    def word_texts(self) -> tuple[InlineText, ...]:
        """The content of the block, word by word."""
        if self.kind == "code":
            return tuple(InlineText(token) for token in tokenise(self.content))
        return tuple(word for piece in self.pieces for word in split_words(piece))

    @property
    def words(self) -> Iterator[str]:
        """The words of the block in order, approximately as they are read. They are used to find similar blocks."""
        yield from (token for token in tokenise(self.content) if token[0].isalnum())
        for child in self.children:
            yield from child.words


def parse_blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of a Markdown text."""
    references: dict[str, Any] = {}
    tokens = block_tokens(text, references)
    return _children(iter(tokens), references)


def _children(tokens: Iterator[Token], references: dict[str, Any]) -> tuple[Block, ...]:
    """Return the blocks up to the end of their parent."""
    found = []
    for token in tokens:
        if token.nesting < 0:
            break
        found.append(_block(token, tokens, references))
    return tuple(found)


def _block(token: Token, tokens: Iterator[Token], references: dict[str, Any]) -> Block:
    check_cpu()
    kind = token.type.removesuffix("_open")
    if token.type in _CODE:
        return _new_block("code", token, (), token.content, {})
    if token.nesting == 0:  # a rule, or the words of the block around them
        return _new_block(kind, token, (), token.content, references)
    children = _children(tokens, references)
    if [child.kind for child in children] == ["inline"]:
        return _new_block(kind, token, (), children[0].content, references)
    return _new_block(kind, token, children, "", references)


def _new_block(kind: str, token: Token, children: tuple[Block, ...], content: str, references: dict[str, Any]) -> Block:
    detail = _detail(kind, token)
    named = references.get("references") if "[" in content else None
    said = repr((kind, detail, content, named, [child.signature for child in children]))
    signature = blake2b(said.encode(errors="surrogatepass"), digest_size=16).hexdigest()
    tag = "pre" if kind == "code" else token.tag
    return Block(kind, tag, detail, children, content, references, token.hidden, signature)


def _detail(kind: str, token: Token) -> str:
    if kind == "ordered_list":
        return str(token.attrs.get("start", 1))
    if kind == "code":
        return token.info.strip()
    return token.tag if kind == "heading" else ""
