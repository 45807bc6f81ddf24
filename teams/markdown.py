"""Markdown to HTML that is safe to show: no HTML of the author's own, no pictures, no scripts."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

# Pictures would be fetched from elsewhere, and so tell others who reads what.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")
_TAGS = {
    "a", "blockquote", "br", "code", "em", "hr", "li", "ol", "p", "pre", "strong", "ul",
    "h1", "h2", "h3", "h4", "h5", "h6",
}  # fmt: skip
_SCHEMES = {"http", "https", "mailto"}


def rendered(text: str) -> SafeString:
    """The text as HTML."""
    clean = nh3.clean(
        _MARKDOWN.render(text),
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(clean)  # noqa: S308 - nh3 has just cleaned it
