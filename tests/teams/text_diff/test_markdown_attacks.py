"""Hostile Markdown, one by one: whatever it says, the HTML holds only what Dossier itself would write."""

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest

from teams.text_diff.html_diff import html_diff_fragment
from teams.text_diff.markdown import render_markdown
from tests.attacks import ALL

TAGS = {
    "a", "blockquote", "br", "code", "del", "details", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "ins",
    "li", "ol", "p", "pre", "s", "span", "strong", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {"href", "title", "rel", "start", "class", "id", "tabindex"}
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\u200b\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]")


class Strict(HTMLParser):
    """Raises AssertionError for an element, an attribute or an address that Dossier writes in no text."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        for name, value in attrs:
            assert name in ATTRIBUTES
            if name == "href":
                assert urlsplit(value or "").scheme in {"", "http", "https", "mailto"}

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def test_there_are_enough_of_them() -> None:
    assert len(set(ALL)) >= 150


@pytest.mark.parametrize("attack", ALL, ids=range(len(ALL)))
def test_nothing_of_it_gets_through(attack: str) -> None:
    for html in (
        render_markdown(attack),
        html_diff_fragment("", attack),
        html_diff_fragment(attack, "gone"),
        html_diff_fragment(f"one {attack}", f"two {attack}"),
    ):
        Strict().feed(html)
        assert not UNSEEN.search(html)
