"""Markdown to HTML that is safe to show: no HTML of the author's own, no pictures, no scripts."""

from typing import Any

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from teams.characters import shown

# Pictures would be fetched from elsewhere, and so tell others who reads what.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image").enable(["table", "strikethrough"])
_BLOCKS = MarkdownIt("commonmark", {"html": False}).disable(["image", "inline"]).enable(["table", "strikethrough"])
_TAGS = {
    "a", "blockquote", "br", "code", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul",
    "table", "tbody", "td", "th", "thead", "tr",
    "h1", "h2", "h3", "h4", "h5", "h6",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}
_MARKS = {"del", "details", "div", "ins", "span", "summary"}
_CLASSES = {
    "details": {"unchanged"},
    "div": {"kinds"},
    "li": {"removed", "added"},
    "span": {"visually-hidden"},
}


def rendered(text: str) -> SafeString:
    """The text as HTML."""
    return _clean(_MARKDOWN.render(text), tags=_TAGS, attributes=_ATTRIBUTES)


def block_tokens(text: str, references: dict[str, Any]) -> list[Token]:
    """The blocks of the text, as markdown-it's flat list of tokens; their words are not looked into yet.

    `references` takes up where the text's named links lead.
    """
    return _BLOCKS.parse(text, references)


def inline_tokens(words: str, references: dict[str, Any]) -> list[Token]:
    """The words of one block, in tokens."""
    return _MARKDOWN.parseInline(words, references)[0].children or []


def cleaned_with_marks(html: str) -> SafeString:
    """HTML that was made of a text's blocks, with our own marks of what changed: all else goes."""
    attributes = {**_ATTRIBUTES, "del": {"id", "tabindex"}, "ins": {"id", "tabindex"}}
    return _clean(html, tags=_TAGS | _MARKS, attributes=attributes, allowed_classes=_CLASSES)


def _clean(html: str, **allowed: Any) -> SafeString:
    clean = nh3.clean(html, url_schemes=_SCHEMES, link_rel="noopener noreferrer nofollow", **allowed)
    return mark_safe(shown(clean))  # noqa: S308 - nh3 has just cleaned it, and `shown` adds no markup
