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
        ("~~gone~~", "<p><s>gone</s></p>"),
        ("| a |\n|--:|\n| 1 |", "<tbody>\n<tr>\n<td>1</td>\n</tr>\n</tbody>\n</table>"),
        ("a \u202eb\u202c", "<p>a [U+202E]b[U+202C]</p>"),
        ("a\u200bb \U000e0041 \x1b", "<p>a[U+200B]b [U+E0041] [U+001B]</p>"),
        ("\u05e9\u200f \u200d", "<p>\u05e9\u200f \u200d</p>"),
    ],
)
def test_markdown(source: str, html: str) -> None:
    assert html.strip() in rendered(source)


@pytest.mark.parametrize("source", ["![x](https://example.com/x.png)", "![x](data:image/png;base64,AAAA)"])
def test_pictures_are_not_fetched(source: str) -> None:
    assert "<img" not in rendered(source)
