"""One text within a budget: sentences found, chosen by score, joined in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.extraction import cut_text, extract, sentences_of, title_of
from assembly.engine.tokenizers import get_tokenizer
from tests.engine.factories import texts

CHARS4 = get_tokenizer("chars4")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n ", []),
        ("One.", ["One."]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("She said “No.” He left.", ["She said “No.”", "He left."]),
        ("Version 2.5 is out.", ["Version 2.5 is out."]),
        ("# Title\n\nA line\nanother", ["# Title", "A line", "another"]),
        ("你好。再见。", ["你好。", "再见。"]),
        ("  padded.  \n", ["  padded."]),
    ],
)
def test_sentences_and_lines_are_told_apart(text: str, sentences: list[str]) -> None:
    assert [text[one.start : one.end] for one in sentences_of(text)] == sentences


def test_the_best_sentences_stand_in_their_order_with_gaps() -> None:
    text = "Alpha one. Beta two. Gamma three. Delta four."
    sentences = sentences_of(text)
    # Each of them with the gap is (3 + 9 … 12) / 4: 4, 3, 4 and 4 tokens; the second and the fourth fit in 8.
    assert extract(text, sentences, [0.1, 0.9, 0.2, 0.8], 8, CHARS4) == "Beta two. … Delta four."
    assert extract(text, sentences, [0.1, 0.9, 0.8, 0.2], 8, CHARS4) == "Beta two. Gamma three."
    assert extract(text, sentences, [0.5, 0.5, 0.5, 0.5], 8, CHARS4) == "Alpha one. Beta two."
    assert extract(text, sentences, [0.1, 0.9, 0.2, 0.8], 1, CHARS4) == ""


def test_a_title_goes_first_and_lines_stay_lines() -> None:
    text = "Title\n  one\n  two\n    three\n}\n  two"
    sentences = sentences_of(text)
    # Tokens with the gap: title 2, one and two 2, three 3; the bracket says nothing, and the second two nothing new.
    scores = [0.0, 0.1, 0.2, 0.9, 1.0, 0.8]
    assert extract(text, sentences, scores, 5, CHARS4, titled=True) == "Title …\n    three"
    assert extract(text, sentences, scores, 4, CHARS4, titled=False) == "three"
    assert extract(text, sentences, scores, 100, CHARS4) == "Title\n  one …\n    three …\n  two"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("", None),
        ("One line.", None),
        ("One line.\n \n", None),
        ("# A title\n\nText.", "# A title"),
        ("\n a/b.py \nText.", "a/b.py"),
        ("{\n1\n}", None),
        ("```py\n1\n```", None),
        (f"{'word' * 41}\nText.", None),
    ],
)
def test_a_short_first_line_is_a_title(text: str, title: str | None) -> None:
    found = title_of(text, CHARS4)
    assert (found and text[found.start : found.end]) == title


@given(text=texts(40), budget=st.integers(0, 60), tokenizer=st.sampled_from(["chars4", "cl100k_base"]))
def test_nothing_counts_more_than_its_budget(text: str, budget: int, tokenizer: str) -> None:
    counter = get_tokenizer(tokenizer)
    sentences = sentences_of(text)
    assert "".join("".join(text[one.start : one.end] for one in sentences).split()) == "".join(text.split())
    scores = [float(len(text[one.start : one.end]) % 5) for one in sentences]
    assert counter.count(extract(text, sentences, scores, budget, counter)) <= budget
    assert counter.count(cut_text(text, budget, counter)) <= budget
