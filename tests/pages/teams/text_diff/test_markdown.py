"""Markdown is shown without anything that could do harm."""

import datetime

import pytest

from agents.models import Agent
from agents.services import daily_log_append
from assembly.simulation.draft_preview.size import rendered_with_cut
from config.http.cpu_budget import TooCostly, cpu_budget
from teams.models import User
from teams.principal import SYSTEM
from teams.text_diff.markdown import MAX_CHARACTERS, render_markdown
from tests.pages.conftest import SignedIn

AS_WRITTEN = "This text is too long or complex to be formatted, so its source is shown."
INTRICATE = "> ```\n===\n"
"""Repeated, markdown-it needs time by the square of its length: a minute for 100,000 characters."""


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
    assert html.strip() in render_markdown(source)


@pytest.mark.parametrize("source", ["![x](https://example.com/x.png)", "![x](data:image/png;base64,AAAA)"])
def test_pictures_are_not_fetched(source: str) -> None:
    assert "<img" not in render_markdown(source)


@pytest.mark.finding("5.1")
def test_what_is_too_intricate_is_shown_as_it_was_written() -> None:
    text = (INTRICATE * 30_000)[:MAX_CHARACTERS]
    html = render_markdown(text)
    assert AS_WRITTEN in html
    assert html.count("&gt;") == text.count(">")
    cut = rendered_with_cut(text, 50_000)
    assert AS_WRITTEN in cut
    assert cut.index("cut-line") > 50_000


@pytest.mark.finding("5.1")
@pytest.mark.parametrize("piece", ["[", "[a][b", "| a ", "# a\n", "*a", "<", "> - ", "plain words "])
def test_what_is_too_long_is_shown_as_it_was_written(piece: str) -> None:
    html = render_markdown(piece * (990_000 // len(piece)))
    assert AS_WRITTEN in html
    assert "<script" not in render_markdown("<script>" * 50_000)


@pytest.mark.finding("5.1")
@pytest.mark.parametrize("piece", ["[", "- a\n"])
def test_no_text_of_the_length_that_is_rendered_takes_a_request_s_time(piece: str) -> None:
    with cpu_budget(3):
        rendered_with_cut((piece * MAX_CHARACTERS)[: MAX_CHARACTERS - 1], 60_000)


def test_ordinary_texts_of_that_length_are_formatted() -> None:
    text = ("A *word* and `code`, [a page](https://example.org).\n\n- one\n- two\n\n" * 2_000)[:MAX_CHARACTERS]
    assert AS_WRITTEN not in render_markdown(text)


def test_a_request_without_time_left_is_stopped_and_nothing_is_taken_for_intricate() -> None:
    text = "Some *words* for the budget.\n\n" * 100
    with pytest.raises(TooCostly), cpu_budget(0):
        render_markdown(text)
    assert "<em>words</em>" in render_markdown(text)


@pytest.mark.finding("5.1")
def test_the_page_of_a_huge_day_answers(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    date = datetime.date(2025, 3, 14)
    for _ in range(5):
        daily_log_append(agent=agent, date=date, text="[" * 198_000, principal=SYSTEM)
    page = signed_in(editor).get(f"/agents/{agent.slug}/logs/{date}/")
    assert page.status_code == 200
    assert AS_WRITTEN in page.content.decode()


@pytest.mark.finding("E27")
def test_headings_of_texts_are_below_the_title_of_their_page() -> None:
    html = render_markdown("# Luna\n\n## Tone\n\n###### Small")
    assert "<h1" not in html
    assert "<h2>Luna</h2>" in html
    assert "<h3>Tone</h3>" in html
