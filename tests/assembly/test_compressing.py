"""A text is compressed by its most telling sentences, the same each time, and quickly."""

import pytest

from assembly.compressing import MOST_SENTENCES, compress
from config.tokens import get_tokenizer

COUNTER = get_tokenizer("cl100k_base")
TEXT = (
    "The harbour walk starts at the old quay. Bring a coat. The walk follows the harbour wall to the lighthouse. "
    "Somebody lost a glove. From the lighthouse the harbour walk turns back along the quay. My cat is asleep."
)


def test_what_fits_stays_as_it_is() -> None:
    assert compress("Short. \n", 10, COUNTER).text == "Short. \n"
    assert compress("Short.", 10, COUNTER).method == "whole"


def test_the_sentences_that_tell_most_are_kept() -> None:
    compressed = compress(TEXT, 30, COUNTER)
    assert (compressed.method, compressed.tokens <= 30) == ("summary", True)
    assert "harbour walk" in compressed.text
    assert "cat" not in compressed.text
    assert "glove" not in compressed.text
    assert compress(TEXT, 30, COUNTER) == compressed


def test_where_no_sentence_fits_the_beginning_is_kept() -> None:
    compressed = compress(
        "Here is a sentence that goes on and on for longer than there is room for it. " * 3, 12, COUNTER
    )
    assert (compressed.method, compressed.text.endswith("... [truncated]")) == ("cut", True)
    assert compress(TEXT, 0, COUNTER).text == ""


@pytest.mark.parametrize("text", ["word " * 60_000, "A short line.\n" * 60_000, "x" * 100_000])
def test_long_texts_are_compressed_too(text: str) -> None:
    assert compress(text, 200, COUNTER).tokens <= 200
    assert MOST_SENTENCES < 60_000
