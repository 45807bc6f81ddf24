"""A Markdown text as a tree of blocks, whose leaves hold words with what marks them: the form that is compared."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

from markdown_it.token import Token

from config.http.cpu_budget import check_cpu
from teams.differences.pieces import Piece, pieces_of, split
from teams.differences.words import tokens_of
from teams.markdown import block_tokens, inline_tokens

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
    def pieces(self) -> tuple[Piece, ...]:
        """What it says, in as few pieces as its marks allow."""
        if self.kind == "code":
            return (Piece(self.content),)
        return tuple(pieces_of(inline_tokens(self.content, self.references)))

    @cached_property
    def word_pieces(self) -> tuple[Piece, ...]:
        """What it says, word by word."""
        if self.kind == "code":
            return tuple(Piece(token) for token in tokens_of(self.content))
        return tuple(word for piece in self.pieces for word in split(piece))

    @property
    def words(self) -> Iterator[str]:
        """All words in it, in order, about as they are read: to find what it has in common with others."""
        yield from (token for token in tokens_of(self.content) if token[0].isalnum())
        for child in self.children:
            yield from child.words


def blocks_of(text: str) -> tuple[Block, ...]:
    """The blocks of the text."""
    references: dict[str, Any] = {}
    tokens = block_tokens(text, references)
    return _children(iter(tokens), references)


def _children(tokens: Iterator[Token], references: dict[str, Any]) -> tuple[Block, ...]:
    """The blocks up to the end of the one that contains them."""
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
        return _made("code", token, (), token.content, {})
    if token.nesting == 0:  # a rule, or the words of the block around them
        return _made(kind, token, (), token.content, references)
    children = _children(tokens, references)
    if [child.kind for child in children] == ["inline"]:
        return _made(kind, token, (), children[0].content, references)
    return _made(kind, token, children, "", references)


def _made(kind: str, token: Token, children: tuple[Block, ...], content: str, references: dict[str, Any]) -> Block:
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
