"""Markdown is shown without anything that could do harm."""

import pytest

from teams.markdown import rendered


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("**bold**", "<p><strong>bold</strong></p>\n"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        (
            "[x](https://example.com)",
            '<p><a href="https://example.com" rel="noopener noreferrer nofollow">x</a></p>\n',
        ),
        ("3. three", '<ol start="3">\n<li>three</li>\n</ol>\n'),
    ],
)
def test_markdown(source: str, html: str) -> None:
    assert html.strip() in rendered(source)


@pytest.mark.parametrize("source", ["![x](https://example.com/x.png)", "![x](data:image/png;base64,AAAA)"])
def test_pictures_are_not_fetched(source: str) -> None:
    assert "<img" not in rendered(source)
