"""This module renders Markdown as safe HTML: without HTML of the author, without images and scripts.

Invisible characters, and characters that change the writing direction, are made visible. The work is limited: a text
that is too long, or so complex that markdown-it would not finish (for example a thousand quotations that each open a
fence), is shown as source.
"""

import hashlib
import re
import sys
from typing import Any

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from config.caching.process_cache import ProcessCache
from config.http.cpu_budget import TooCostly, check_cpu, cpu_budget
from teams.readings.collector import highest_read
from teams.sensitivity import may_cache

# Controls but for tab and line ends, overrides and isolates of writing direction, spaces of no width, and the tags that
# spell hidden words. Marks that writing needs (joiners, left-to-right marks) stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def show_controls(text: str) -> str:
    """Return the text with invisible characters replaced by their code points, like [U+202E].

    Agents read such characters, so people should see them.
    """
    return _UNSEEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


_SIGNS = re.compile(r"[#*_`>]+")


def in_plain_words(text: str) -> str:
    """Return a text, such as the beginning of a longer one, in one line and without the signs of Markdown."""
    return " ".join(_SIGNS.sub("", text).split())


MAX_CHARACTERS = 100_000
"""The maximum number of characters of a text that is rendered."""
MAX_SECONDS = 1.0
"""CPU seconds for rendering one text; ordinary texts of maximum length take a fifth of it."""
CACHED_BYTES = 8_000_000
"""The maximum memory of cached HTML per process, in bytes."""
MIN_CACHED_CHARACTERS = 2_000
"""The minimum number of characters of a cached text. Rendering a shorter one is as fast as hashing it."""


def _check_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: ARG001 - markdown-it's
    check_cpu()
    return False


def _check_inline(state: StateInline, silent: bool) -> bool:  # noqa: ARG001 - markdown-it's
    check_cpu()
    return False


def _with_checks(markdown: MarkdownIt) -> MarkdownIt:
    """Return the parser with rules that match nothing but check the CPU budget, so that they stop endless loops."""
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


_HEADING_TAG = re.compile("<(/?)h([1-6])>")
_EMPTY = mark_safe("")
_html = ProcessCache[bytes, SafeString]("html", CACHED_BYTES, sys.getsizeof)
"""The cache of the texts that this process rendered last, by their SHA-256."""


_BLOCK_SIGNS = re.compile(r"^\s*(#{1,6}|[-*+>]|\d+[.)])\s+")


def plain_line(line: str) -> str:
    """Return a line of Markdown as plain text, for excerpts: without the signs of blocks, emphasis, code and links."""
    inline = _MARKDOWN.parseInline(_BLOCK_SIGNS.sub("", line).strip())
    parts = [part for token in inline for part in token.children or ()]
    text = "".join(part.content for part in parts if part.type in {"text", "code_inline"})
    return text.replace("**", "").replace("__", "").strip()  # a passage may begin or end within emphasis


def render_markdown(text: str) -> SafeString:
    """Return the text as HTML, or as source with a note if it is too long or too complex."""
    if len(text) < MIN_CACHED_CHARACTERS:
        return _formatted_or_plain(text)
    key = hashlib.sha256(text.encode(errors="replace")).digest()
    known = _html.get(key)
    if known is None:
        known = _formatted_or_plain(text)
        if may_cache(highest_read()):
            _html.put(key, known)
    return known


def _formatted_or_plain(text: str) -> SafeString:
    html = format_markdown(text)
    return render_plain(text) if html is None else html


def format_markdown(text: str) -> SafeString | None:
    """Return the text as HTML; None if it is too long or too complex."""
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
    """Return the parts of a text as source, after a note that says why; `between` is put between the parts."""
    why = _("This text is too long or complex to be formatted, so its source is shown.")
    texts = between.join(format_html('<pre class="text" tabindex="0">{}</pre>', show_controls(part)) for part in parts)
    return format_html('<p class="note">{}</p>{}', why, mark_safe(texts))  # noqa: S308 - escaped right above


def block_tokens(text: str, references: dict[str, Any]) -> list[Token]:
    """Return the blocks of the text as markdown-it's flat list of tokens; their words are not parsed yet.

    The targets of the text's named links are stored in `references`.
    """
    return _BLOCKS.parse(text, references)


def inline_tokens(words: str, references: dict[str, Any]) -> list[Token]:
    """Return the tokens of the words of one block."""
    return _MARKDOWN.parseInline(words, references)[0].children or []


def clean_diff_html(html: str) -> SafeString:
    """Return the HTML of a difference with everything removed but the text's elements and our marks of changes."""
    attributes = {**_ATTRIBUTES, "del": {"id", "tabindex"}, "ins": {"id", "tabindex"}}
    return _clean(html, tags=_TAGS | _MARKS, attributes=attributes, allowed_classes=_CLASSES)


def _clean(html: str, **allowed: Any) -> SafeString:
    clean = nh3.clean(html, url_schemes=_SCHEMES, link_rel="noopener noreferrer nofollow", **allowed)
    # The page has its own h1, so the headings of a text begin with h2. Headings have no attributes.
    clean = _HEADING_TAG.sub(lambda tag: f"<{tag[1]}h{min(int(tag[2]) + 1, 6)}>", clean)
    return mark_safe(show_controls(clean))  # noqa: S308 - nh3 has just cleaned it, and `show_controls` adds no markup
