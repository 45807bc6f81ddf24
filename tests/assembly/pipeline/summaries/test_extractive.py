"""A text is compressed by its most telling sentences, the same each time, and quickly."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assembly.engine.tokenizers import get_tokenizer
from assembly.pipeline.summaries.extractive import MAX_SENTENCES, compress, compress_all
from tests.engine.factories import texts

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
    assert MAX_SENTENCES < 60_000


# --- The extractive summariser ---

PATH = "assembly/engine/token_ledger.py"
CODE = f'''{PATH}

```python
class Ledger:
    tokenizer: Tokenizer

    def tokens_with(self, piece: str) -> int:
        """Tokens of the text, were the piece appended."""
        return self.settled + self.tokenizer.count(self.text[self.seam :] + piece)

    def append(self, piece: str) -> "Ledger":
        """The ledger of text + piece."""
        return self._grown(piece, self.tokens_with(piece))
```
The ledger counts only what stands after the last seam. It is fast.
'''
LINES = "search_orders 09:12\n" + "\n".join(f'{{"order": {n}, "status": "lost", "by": "post"}}' for n in range(30))
CHINESE = (
    "会议纪要\n我们决定在三月推出新的地图功能。设计团队需要在两周内完成初稿。午餐很好吃。地图功能的测试由李娜负责。"
)


def test_the_first_line_of_several_is_a_title_and_stays() -> None:
    for text, tokens in ((CODE, 60), (LINES, 80), (f"Meeting of 3 May. Minutes.\n{TEXT}", 40), (CHINESE, 40)):
        compressed = compress(text, tokens, COUNTER)
        title, _, rest = compressed.text.partition("\n")
        assert title.removesuffix(" …") == text.partition("\n")[0]
        assert (compressed.method, bool(rest.strip())) == ("summary", True)


@pytest.mark.parametrize("text", [TEXT, f"---\n{TEXT}", f"{'word ' * 50}\n{TEXT}", f"\n{TEXT}\n"])
def test_a_text_without_a_title_is_given_none(text: str) -> None:
    compressed = compress(text, 30, COUNTER).text
    assert compressed.startswith("The harbour walk starts at the old quay. … From the lighthouse")


def test_code_stays_lines_with_their_indentation_and_without_half_a_fence() -> None:
    compressed = compress(CODE, 60, COUNTER).text
    assert "```" not in compressed
    for line in compressed.splitlines()[1:]:
        assert line.removesuffix(" …") in CODE.splitlines(), line


def test_lines_of_json_stay_whole() -> None:
    lines = compress(LINES, 80, COUNTER).text.splitlines()
    assert len(lines) > 3
    assert all(line.removesuffix(" …") in LINES.splitlines() for line in lines)


def test_where_sentences_leave_much_room_the_beginning_tells_more() -> None:
    json = '{"orders": [' + ", ".join(f'{{"order": {n}, "status": "lost"}}' for n in range(40)) + "]}"
    compressed = compress(f"search_orders 09:12\n{json}\nDone.", 60, COUNTER)
    assert (compressed.method, compressed.tokens > 50) == ("cut", True)
    assert compressed.text.startswith('search_orders 09:12\n{"orders": [{"order": 0')


def test_many_are_compressed_as_each_alone() -> None:
    asked = [(TEXT, 30), (CODE, 60), ("Short.", 5), (CHINESE, 40), ("", 0), (TEXT, 12), ("word " * 500, 9)]
    assert compress_all(asked, COUNTER) == [compress(text, tokens, COUNTER) for text, tokens in asked]
    assert compress_all([], COUNTER) == []


@given(text=texts(40), max_tokens=st.integers(0, 60), tokenizer=st.sampled_from(["chars4", "cl100k_base"]))
@example(text="x" * 5_000, max_tokens=7, tokenizer="cl100k_base")
@example(text="\x00" * 50 + "\n" + "\u200d" * 90, max_tokens=3, tokenizer="chars4")
def test_nothing_is_ever_longer_than_its_room(text: str, max_tokens: int, tokenizer: str) -> None:
    counter = get_tokenizer(tokenizer)
    compressed = compress(text, max_tokens, counter)
    assert compressed.tokens == counter.count(compressed.text) <= max_tokens
    assert compress(text, max_tokens, counter) == compressed
