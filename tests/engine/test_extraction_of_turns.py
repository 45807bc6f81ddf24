"""Compacting a turn: the sentences that say most of what the others say, in their order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.extraction import compact_text
from assembly.engine.tokenizers import get_tokenizer
from tests.engine.factories import texts
from tests.engine.strategies import STORIES

TURN = (
    "Good morning to you. "  # 20 characters
    "The harbour walk needs signs. "  # harbour, walk and signs are what it is about
    "It rained all night. "
    "Paint the signs for the harbour walk by hand! "
    "My knee hurts."
)
CHARS4 = get_tokenizer("chars4")


@pytest.mark.parametrize(
    ("max_tokens", "kept"),
    [
        (0, ""),
        (7, "Good morning to you."),  # with the gap before it, 23 characters: of the better ones, none has room
        (8, "The harbour walk needs signs."),  # 29 + 3
        (21, "The harbour walk needs signs. … Paint the signs for the harbour walk by hand!"),
        (27, "Good morning to you. The harbour walk needs signs. … Paint the signs for the harbour walk by hand!"),
        (99, TURN),
    ],
)
def test_the_most_telling_sentences_are_kept_in_their_order(max_tokens: int, kept: str) -> None:
    assert compact_text(TURN, max_tokens, CHARS4) == kept


def test_lines_stay_lines_and_what_was_said_twice_is_kept_once() -> None:
    said = "harbour walk\nrain\nharbour walk\nsigns for the harbour walk"
    assert compact_text(said, 12, CHARS4) == "harbour walk …\nsigns for the harbour walk"


@given(text=STORIES | texts(20), max_tokens=st.integers(0, 200), tokenizer=st.sampled_from(["chars4", "cl100k_base"]))
def test_it_is_never_longer_than_its_room_nor_of_other_words(text: str, max_tokens: int, tokenizer: str) -> None:
    counter = get_tokenizer(tokenizer)
    short = compact_text(text, max_tokens, counter)
    assert counter.count(short) <= max_tokens
    assert compact_text(text, max_tokens, counter) == short
    left = iter(text)
    assert all(character in left for character in short.replace("…", "") if not character.isspace())
