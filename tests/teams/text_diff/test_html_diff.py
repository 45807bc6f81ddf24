"""What changed as people read it: well-formed HTML in which every kind of change can be seen and heard."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given

from teams.text_diff.html_diff import html_diff, html_diff_fragment
from tests.teams.text_diff.texts import any_texts, calm

SAID = re.compile(r'<span class="visually-hidden">[^<]*</span>')
VOID = {"br", "hr"}


def drawn(old: str, new: str) -> str:
    """The HTML without what only a screen reader hears, anchors and line ends."""
    html = SAID.sub("", html_diff_fragment(old, new))
    return re.sub(r' (id="change-\d+" tabindex="-1"|rel="[^"]*"|title="")|\n', "", html)


@pytest.mark.parametrize(
    ("old", "new", "html"),
    [
        ("Ship it.", "Ship that.", "<p>Ship <del>it</del><ins>that</ins>.</p>"),
        ("it", "**it**", "<p><del>it</del><ins><strong>it</strong></ins></p>"),
        ("- one\n- two", "- one\n- three\n- two",
         '<ul><li>one</li><li class="added"><ins>three</ins></li><li>two</li></ul>'),
        ("- one\n- two", "- one", '<ul><li>one</li><li class="removed"><del>two</del></li></ul>'),
        ("a\n\nb", "a", "<p>a</p><p><del>b</del></p>"),
        ("same words", "# same words",
         '<div class="kinds"><del>paragraph</del><ins>heading 1</ins></div><h2>same words</h2>'),
        ("# same words", "## same words",
         '<div class="kinds"><del>heading 1</del><ins>heading 2</ins></div><h3>same words</h3>'),
        ("1. one", "- one",
         '<div class="kinds"><del>list numbered from 1</del><ins>list with bullets</ins></div><ul><li>one</li></ul>'),
        ("see [us](https://a.org)", "see [us](https://b.org)",
         '<p>see <a href="https://b.org">us</a><del> → https://a.org</del><ins> → https://b.org</ins></p>'),
        ("[x][1]\n\n[1]: https://a.org", "[x][1]\n\n[1]: https://b.org",
         '<p><a href="https://b.org">x</a><del> → https://a.org</del><ins> → https://b.org</ins></p>'),
        ("```py\nx = 1\n```", "```py\nx = 2\n```", "<pre><code>x = <del>1</del><ins>2</ins></code></pre>"),
        ("a\n\n---", "a", "<p>a</p><del><hr></del>"),
        ("> said", "> said so", "<blockquote><p>said<ins> so</ins></p></blockquote>"),
        ("| a |\n|---|\n| 1 |", "| a |\n|---|\n| 2 |",
         "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td><del>1</del></td></tr>"
         "<tr><td><ins>2</ins></td></tr></tbody></table>"),
    ],
)  # fmt: skip
def test_changes(old: str, new: str, html: str) -> None:
    assert drawn(old, new) == html


def test_screen_readers_are_told() -> None:
    html = html_diff_fragment("old", "new")
    assert '<del id="change-1" tabindex="-1"><span class="visually-hidden">[removed: </span>old' in html
    assert '<ins><span class="visually-hidden">[added: </span>new' in html


@pytest.mark.parametrize(
    ("old", "new"),
    [("a\nb", "a b"), ("- a", "* a"), ("a\n\n\n\nb", "a\n\nb\n"), ("Title\n===", "# Title"), ("a  b", "a b")],
)
def test_what_reads_the_same_is_not_marked(old: str, new: str) -> None:
    shown = html_diff(old, new)
    assert shown.changes == 0
    assert "<ins" not in shown.html


def test_changes_that_touch_count_as_one() -> None:
    assert html_diff("a\n\nb\n\nc", "a\n\nx\n\ny\n\nc").changes == 1
    assert html_diff("a\n\nb\n\nc", "x\n\nb\n\ny").changes == 2


def test_long_unchanged_stretches_are_folded() -> None:
    paragraphs = [f"Paragraph {number}." for number in range(20)]
    html = html_diff_fragment("\n\n".join(paragraphs), "\n\n".join([*paragraphs[:-1], "The end."]))
    assert "<summary>17 unchanged paragraphs</summary>" in html


class Tree(HTMLParser):
    """Raises AssertionError where elements do not close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@calm
@given(any_texts, any_texts)
def test_it_is_well_formed_whatever_changed(old: str, new: str) -> None:
    tree = Tree()
    shown = html_diff(old, new)
    tree.feed(shown.html)
    assert tree.open == []
    assert shown.html.count('id="change-') == shown.changes
