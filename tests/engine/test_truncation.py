"""Cutting to fit: at a heading, a paragraph, a sentence, a line or anywhere. Four characters are a token of chars4."""

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from assembly.engine.escaping import EditedText
from assembly.engine.plain_cut import longest_cut
from assembly.engine.profile import CutAt
from assembly.engine.ranking import rank
from assembly.engine.rendering import RenderedItem
from assembly.engine.selection import fill_section
from assembly.engine.token_ledger import TokenLedger
from assembly.engine.tokenizers import available_tokenizers, get_tokenizer
from assembly.engine.truncation import TextBoundaries, cut_to_fit
from tests.engine.factories import MARKER, candidate, section, texts

CUT_AT: tuple[CutAt, ...] = ("anywhere", "sentence", "paragraph", "heading")

DOCUMENT = """\
Intro to it all. It is short.

# First
One of two. Two of two.

Another paragraph, which is the longer one. It ends.

# Second
More of it."""


def as_written(body: str) -> RenderedItem:
    """The body as an item in which nothing is escaped, as the engine rendered it before version 4."""
    return RenderedItem("", EditedText(body), "as_written")


def kept(body: str, characters: int, at: CutAt) -> str | None:
    """What is kept of the body where so many of its characters would fit, a multiple of four."""
    found = cut_to_fit(as_written(body), TokenLedger(get_tokenizer("chars4")), (characters + len(MARKER)) // 4, at)
    return body[: found[0]] if found else None


@pytest.mark.parametrize(
    ("at", "characters", "last_words"),
    [
        ("anywhere", 100, "which is the long"),
        ("sentence", 112, "which is the longer one."),
        ("sentence", 100, "Two of two."),
        ("paragraph", 112, "Two of two."),
        ("heading", 124, "It ends."),
        ("heading", 44, "It is short."),
        ("heading", 100, "Two of two."),  # only the introduction would stand before a heading: less than half
        ("paragraph", 20, "Intro to it all."),  # no paragraph ends so soon: a sentence does
        ("heading", 12, "Intro to it"),  # nothing ends so soon
    ],
)
def test_a_text_ends_where_it_was_asked_to_or_at_the_next_finer_boundary(
    at: CutAt, characters: int, last_words: str
) -> None:
    assert (kept(DOCUMENT, characters, at) or "").endswith(last_words)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("first = 1\nsecond = 2\nthird = 3\n" * 9, "first = 1\nsecond = 2\nthird = 3\nfirst = 1"),
        ("words without an end " * 9, "words without an end words without an en"),
        ("Text.\n\n```py\nx = 1\n\ny = 2\n```\n" * 9, "Text.\n\n```py\nx = 1\n\ny = 2\n```\nText."),
        ("```py\nx = 1\n\n" + "y = 2\n" * 99, "```py\nx = 1\n\n" + "y = 2\n" * 4 + "y ="),
    ],
    ids=[
        "lines where no sentence ends",
        "anywhere where no line ends",
        "before the code",
        "code where nothing else is",
    ],
)
def test_what_has_no_sentences_ends_with_a_line_and_in_the_end_anywhere(body: str, expected: str) -> None:
    assert kept(body, 40, "heading") == expected


def test_nothing_is_kept_where_not_a_character_fits() -> None:
    assert [kept(DOCUMENT, 0, at) for at in CUT_AT] == [None] * 4


def test_a_section_is_filled_with_the_cut_that_its_profile_asks_for() -> None:
    whole = section(cap=34)
    ranked = rank(whole, [candidate("a", DOCUMENT)], 0.0)
    ledger, (decision,) = fill_section(whole, ranked, TokenLedger(get_tokenizer("chars4")), 100, at="paragraph")
    assert ledger.text == "## Log\n" + DOCUMENT[: DOCUMENT.index("\n\nAnother")].replace("#", "\\#") + MARKER
    assert decision.detail.items() >= {"kept_paragraphs": 2, "of_paragraphs": 4}.items()


BODIES = texts(60).map(str.rstrip).filter(bool)
LIMITS = st.integers(0, 200)
BEFORE = st.sampled_from(["", "## Log\n", "naïve"])


@given(BODIES, BEFORE, LIMITS, st.sampled_from(CUT_AT), st.sampled_from(available_tokenizers()))
def test_whatever_is_asked_for_it_fits_and_is_at_least_half_of_the_plain_cut(
    body: str, before: str, limit: int, at: CutAt, tokenizer: str
) -> None:
    ledger = TokenLedger(get_tokenizer(tokenizer)).append(before)
    plain, found = longest_cut(body, ledger, limit), cut_to_fit(as_written(body), ledger, limit, at)
    assert found == plain if at == "anywhere" else (found is None) == (plain is None)
    if plain is None or found is None:
        return
    end, grown = found
    assert grown.text == before + body[:end] + MARKER
    assert grown.tokens == ledger.tokenizer.count(grown.text) <= limit
    assert plain[0] <= 2 * end <= 2 * plain[0]
    assert not body[end - 1].isspace()


@example(DOCUMENT, 26, "heading")
@given(BODIES, LIMITS, st.sampled_from(CUT_AT[1:]))
def test_it_is_the_longest_of_the_best_boundary_that_keeps_enough(body: str, limit: int, at: CutAt) -> None:
    ledger = TokenLedger(get_tokenizer("chars4"))
    plain, found = longest_cut(body, ledger, limit), cut_to_fit(as_written(body), ledger, limit, at)
    assume(plain and found)
    assert plain
    assert found
    boundaries, bounds = TextBoundaries.of(body), ((plain[0] + 1) // 2, plain[0])
    # With chars4 whatever is shorter than the plain cut fits, so the first boundary that offers an end is taken.
    offered = [
        *(list(boundaries.before_headings(*bounds)) if at == "heading" else []),
        *(list(boundaries.after_paragraphs(*bounds)) if at != "sentence" else []),
        *boundaries.after_sentences(*bounds),
        *boundaries.after_lines(*bounds),
        plain[0],
    ]
    assert found[0] == offered[0]


EMPTY_FENCE = re.compile(r"^(```+|~~~+)[^\n]*\n\1\s*$", re.MULTILINE)


@example("```py\nx = 1\n```", 10, "anywhere", "cl100k_base")
@given(BODIES, LIMITS, st.sampled_from(CUT_AT), st.sampled_from(["chars4", "cl100k_base"]))
def test_what_was_cut_is_not_cut_again(body: str, limit: int, at: CutAt, tokenizer: str) -> None:
    whole, ledger = section(), TokenLedger(get_tokenizer(tokenizer))
    once, _ = fill_section(whole, rank(whole, [candidate("a", body)], 0.0), ledger, limit, at=at)
    again = once.text.removeprefix("## Log\n")
    assume(not EMPTY_FENCE.search(again))  # it holds no code, so a further rendering escapes its marks
    assert fill_section(whole, rank(whole, [candidate("a", again)], 0.0), ledger, limit, at=at)[0].text == once.text


@pytest.mark.parametrize(
    "piece", ["x" * 40, " ", "\n", "\n ", "# A\n", "```\n", "~~~~\n", "a\n-\n\n", ".", "。", "A. ", "a. "]
)
def test_no_text_takes_long(piece: str) -> None:
    body = "x" + piece * (100_000 // len(piece)) + "x"
    for at in CUT_AT:
        assert cut_to_fit(as_written(body), TokenLedger(get_tokenizer("chars4")), 20_000, at)
