"""Characters that cannot be seen, or that turn the order of others around, made visible.

Markdown to HTML that is safe to show: no HTML of the author's own, no pictures, no scripts.

The work is bounded: what is too long, or so intricate that markdown-it would not come to an end with it (a thousand
quotations that each open a fence, say), is shown as it was written.
"""

import hashlib
import re
import sys
from threading import Lock
from typing import Any

import nh3
from cachetools import LRUCache
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from config.http.cpu_budget import TooCostly, check_cpu, cpu_budget

# Controls but for tab and line ends, overrides and isolates of writing direction, spaces of no width, and the tags that
# spell hidden words. Marks that writing needs (joiners, left-to-right marks) stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def show_controls(text: str) -> str:
    """The text with such characters as their numbers, like [U+202E]: agents read them, so people should see them."""
    return _UNSEEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


MAX_CHARACTERS = 100_000
"""Characters of a text that is rendered; a reader of more has a file, and no page."""
MAX_SECONDS = 1.0
"""CPU time for one text; ordinary ones of that length take a fifth of it."""
CACHED_BYTES = 8_000_000
"""Memory of the HTML that a process remembers."""
MIN_CACHED_CHARACTERS = 2_000
"""Shorter texts are rendered as fast as their hash is looked up."""


def _check_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: ARG001 - markdown-it's
    check_cpu()
    return False


def _check_inline(state: StateInline, silent: bool) -> bool:  # noqa: ARG001 - markdown-it's
    check_cpu()
    return False


def _with_checks(markdown: MarkdownIt) -> MarkdownIt:
    """The parser with rules that match nothing: they are tried in all of its loops, and stop those that never end."""
    everywhere = ["paragraph", "reference", "blockquote", "list"]
    markdown.block.ruler.before("table", "check_cpu", _check_block, {"alt": everywhere})
    markdown.inline.ruler.before("text", "check_cpu", _check_inline)
    return markdown


# Pictures would be fetched from elsewhere, and so tell others who reads what.
_MARKDOWN = _with_checks(MarkdownIt("commonmark", {"html": False}).disable("image").enable(["table", "strikethrough"]))
_BLOCKS = _with_checks(
    MarkdownIt("commonmark", {"html": False}).disable(["image", "inline"]).enable(["table", "strikethrough"])
)
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


_EMPTY = mark_safe("")
_html = LRUCache[bytes, SafeString](CACHED_BYTES, getsizeof=sys.getsizeof)
"""HTML of the texts that this process rendered last, by their SHA-256."""
_html_lock = Lock()


def render_markdown(text: str) -> SafeString:
    """The text as HTML; as it was written, with a sentence that says so, where it is too long or too intricate."""
    if len(text) < MIN_CACHED_CHARACTERS:
        return _formatted_or_plain(text)
    key = hashlib.sha256(text.encode(errors="replace")).digest()
    with _html_lock:
        known = _html.get(key)
    if known is None:
        known = _formatted_or_plain(text)
        if sys.getsizeof(known) <= CACHED_BYTES:
            with _html_lock:
                _html[key] = known
    return known


def _formatted_or_plain(text: str) -> SafeString:
    html = format_markdown(text)
    return render_plain(text) if html is None else html


def format_markdown(text: str) -> SafeString | None:
    """The text as HTML; None where it is too long or too intricate to be formatted."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        with cpu_budget(MAX_SECONDS):
            html = _MARKDOWN.render(text)
    except TooCostly:
        check_cpu()  # the request's own budget may be what is used up
        return None
    return _clean(html, tags=_TAGS, attributes=_ATTRIBUTES)


def render_plain(*parts: str, between: SafeString = _EMPTY) -> SafeString:
    """The parts of a text, not formatted, after a sentence that says why; `between` them stands what is given."""
    why = _("This text is too long or too intricate to be formatted, so it is shown as it was written.")
    texts = between.join(format_html('<pre class="text" tabindex="0">{}</pre>', show_controls(part)) for part in parts)
    return format_html('<p class="note">{}</p>{}', why, mark_safe(texts))  # noqa: S308 - escaped right above


def block_tokens(text: str, references: dict[str, Any]) -> list[Token]:
    """The blocks of the text, as markdown-it's flat list of tokens; their words are not looked into yet.

    `references` takes up where the text's named links lead.
    """
    return _BLOCKS.parse(text, references)


def inline_tokens(words: str, references: dict[str, Any]) -> list[Token]:
    """The words of one block, in tokens."""
    return _MARKDOWN.parseInline(words, references)[0].children or []


def clean_diff_html(html: str) -> SafeString:
    """HTML that was made of a text's blocks, with our own marks of what changed: all else goes."""
    attributes = {**_ATTRIBUTES, "del": {"id", "tabindex"}, "ins": {"id", "tabindex"}}
    return _clean(html, tags=_TAGS | _MARKS, attributes=attributes, allowed_classes=_CLASSES)


def _clean(html: str, **allowed: Any) -> SafeString:
    clean = nh3.clean(html, url_schemes=_SCHEMES, link_rel="noopener noreferrer nofollow", **allowed)
    return mark_safe(show_controls(clean))  # noqa: S308 - nh3 has just cleaned it, and `show_controls` adds no markup
