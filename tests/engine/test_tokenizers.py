"""Tokenizers by name, without a network, and the counting of a growing text."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken.load
from hypothesis import example, given
from hypothesis import strategies as st

from assembly.engine import tokenizers
from assembly.engine.escaping import EditedText
from assembly.engine.rendering import RenderedItem, count_item_tokens
from assembly.engine.token_ledger import CountedText, TokenLedger
from assembly.engine.tokenizers import (
    ARRAY_CHARACTERS,
    Tiktoken,
    Tokenizer,
    UnknownTokenizer,
    _CountCache,
    available_tokenizers,
    get_tokenizer,
)
from tests.engine.factories import texts

published = import_module("tiktoken_ext.openai_public")  # has no types

CL100K = get_tokenizer("cl100k_base")
CHARS4 = get_tokenizer("chars4")
BOTH = pytest.mark.parametrize("tokenizer", [CL100K, CHARS4], ids=["cl100k_base", "chars4"])


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """tiktoken's cache folder, empty."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    get_tokenizer.cache_clear()
    yield tmp_path
    get_tokenizer.cache_clear()


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("漢字漢字漢", 2), ("👩‍👩‍👧", 2), ("a" * 16_000, 4_000)],
)
def test_chars4_is_a_quarter_of_the_code_points_rounded_up(text: str, count: int) -> None:
    assert CHARS4.count(text) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("hello world", 2), ("tiktoken is great!", 6), ("お誕生日おめでとう", 9), ("2 + 2 = 4", 7)],
)
def test_cl100k_base_counts_as_published(text: str, count: int) -> None:
    assert CL100K.count(text) == count


@pytest.mark.parametrize(
    "text", ["<|endoftext|>", "\x00", "\ud800", "\u0301" * 9, "\U0010ffff", "a" * 100_000, " " * 100_000]
)
def test_odd_text_is_ordinary_text(text: str) -> None:
    assert CL100K.count(text) > 0


OFFLINE = """
import os, socket
def refuse(*_args, **_kwargs): raise AssertionError("it reached for the network")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from assembly.engine.tokenizers import available_tokenizers, get_tokenizer
assert get_tokenizer("cl100k_base").count("hello world") == 2
assert available_tokenizers()[:2] == ["cl100k_base", "chars4"]
assert os.environ["TIKTOKEN_CACHE_DIR"].endswith("nowhere")
"""


def test_the_default_needs_neither_network_nor_a_writable_cache_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environment = {
        **os.environ,
        "TIKTOKEN_CACHE_DIR": str(tmp_path / "file" / "nowhere"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    subprocess.run([sys.executable, "-c", OFFLINE], env=environment, check=True)


def test_an_unknown_name_is_told_which_there_are(cache_folder: Path) -> None:
    for name in ("gpt-4", "", "cl100k_base_offline", "o200k_base"):
        with pytest.raises(UnknownTokenizer, match="Choose one of: cl100k_base, chars4"):
            get_tokenizer(name)
    assert available_tokenizers() == ["cl100k_base", "chars4"]


def test_a_damaged_file_is_not_loaded_since_tiktoken_would_fetch_it_again(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiktoken.load, "read_file", lambda _path: pytest.fail("it reached for the network"))
    damaged = cache_folder / tokenizers._O200K.name
    damaged.write_bytes(b"damaged")
    assert "o200k_base" not in available_tokenizers()
    with pytest.raises(UnknownTokenizer):
        get_tokenizer("o200k_base")
    assert damaged.exists()


def test_a_sound_file_makes_its_encodings_available(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"YQ== 0\n"
    stand_in = tokenizers._CachedFile("name", hashlib.sha256(data).hexdigest())
    monkeypatch.setitem(tokenizers._CACHED_FILES, "r50k_base", (stand_in,))
    (cache_folder / "name").write_bytes(data)
    monkeypatch.setattr(
        tiktoken, "get_encoding", lambda _name: tiktoken.Encoding("r50k_base", **split_like("r50k_base"))
    )
    assert available_tokenizers() == ["cl100k_base", "chars4", "r50k_base"]
    assert get_tokenizer("r50k_base").name == "r50k_base"
    assert get_tokenizer("r50k_base") is get_tokenizer("r50k_base")


def test_no_cache_folder_means_no_further_encodings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert available_tokenizers() == ["cl100k_base", "chars4"]


@pytest.mark.parametrize("name", sorted(tokenizers._CACHED_FILES))
def test_the_cached_files_are_those_that_tiktoken_itself_looks_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[tuple[str, str]] = []

    def looked_up(address: str, expected_hash: str) -> dict[bytes, int]:
        wanted.append((hashlib.sha1(address.encode()).hexdigest(), expected_hash))  # noqa: S324 (tiktoken's own choice)
        return {}

    def looked_up_in_pairs(
        *, vocab_bpe_file: str, encoder_json_file: str, vocab_bpe_hash: str, encoder_json_hash: str
    ) -> Any:
        looked_up(vocab_bpe_file, vocab_bpe_hash)
        return looked_up(encoder_json_file, encoder_json_hash)

    monkeypatch.setattr(published, "load_tiktoken_bpe", looked_up)
    monkeypatch.setattr(published, "data_gym_to_mergeable_bpe_ranks", looked_up_in_pairs)
    published.ENCODING_CONSTRUCTORS[name]()
    assert [tuple(file) for file in tokenizers._CACHED_FILES[name]] == wanted


# --- Where counts add up -------------------------------------------------------------------------------------------


def split_like(name: str) -> dict[str, Any]:
    """What makes an encoding that splits text as that one does, with the ranks of cl100k_base in place of its own."""
    assert isinstance(CL100K, Tiktoken)
    ranks = CL100K.encoding._mergeable_ranks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "load_tiktoken_bpe", lambda *_args, **_kwargs: ranks)
        patch.setattr(published, "data_gym_to_mergeable_bpe_ranks", lambda **_kwargs: ranks)
        pattern = published.ENCODING_CONSTRUCTORS[name]()["pat_str"]
    return {"pat_str": pattern, "mergeable_ranks": ranks, "special_tokens": {}}


SPLITS = ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]
LIKE: dict[str, Tokenizer] = {
    name: tokenizers._tiktoken(name, tiktoken.Encoding(name, **split_like(name)))
    for name in ("r50k_base", "cl100k_base", "o200k_base")
}


def test_the_older_encodings_split_alike_and_so_do_the_newer() -> None:
    patterns = {name: split_like(name)["pat_str"] for name in SPLITS}
    assert patterns["gpt2"] == patterns["r50k_base"] == patterns["p50k_base"] == patterns["p50k_edit"]
    assert patterns["o200k_base"] == patterns["o200k_harmony"]


@pytest.mark.parametrize("name", LIKE)
@given(text=texts(14))
@example(text="a!\n/b")
def test_counts_add_up_at_every_seam(name: str, text: str) -> None:
    tokenizer = LIKE[name]
    assert tokenizer.seam
    for match in tokenizer.seam.finditer(text):
        before, after = text[: match.start()], text[match.start() :]
        assert tokenizer.count(before) + tokenizer.count(after) == tokenizer.count(text)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@given(
    before=texts().map(lambda text: text + "\n"),
    after=texts().filter(lambda text: text and not text[0].isspace() and text[0] != "/"),
)
def test_counts_add_up_at_line_starts_where_it_says_so(name: str, before: str, after: str) -> None:
    tokenizer = LIKE[name]
    assert tokenizer.additive_at_line_starts
    assert tokenizer.count(before) + tokenizer.count(after) == tokenizer.count(before + after)


@pytest.mark.parametrize("tokenizer", [*LIKE.values(), CHARS4], ids=[*LIKE, "chars4"])
@given(lead=st.sampled_from(["", "- [fact] ", "### 2026-01-01\n"]), body=texts(14))
@example(lead="### 2026-01-01\n", body="/etc")
@example(lead="### 2026-01-01\n", body="\tIndented.")
def test_an_item_counts_as_its_whole_text_does_however_it_is_counted(
    tokenizer: Tokenizer, lead: str, body: str
) -> None:
    assert count_item_tokens(tokenizer, RenderedItem(lead, EditedText(body))) == tokenizer.count(lead + body)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@given(bodies=st.lists(texts(8).map(str.strip).filter(lambda text: text and text[0] != "/"), min_size=1, max_size=6))
def test_pieces_counted_with_their_separator_add_up_to_the_whole(name: str, bodies: list[str]) -> None:
    tokenizer, *others, last = LIKE[name], *bodies
    counts = [tokenizer.count(f"{body}\n\n") for body in others]
    assert sum(counts) + tokenizer.count(last) == tokenizer.count("\n\n".join(bodies))


def test_what_somebody_else_counted_is_not_counted() -> None:
    assert isinstance(CL100K, Tiktoken)
    fresh = tokenizers._tiktoken("cl100k_base", CL100K.encoding)
    assert not fresh.knows("Counted elsewhere.")
    fresh.learn("Counted elsewhere.", 7)
    assert fresh.knows("Counted elsewhere.")
    assert fresh.count("Counted elsewhere.") == 7
    assert CHARS4.knows("A text.")
    CHARS4.learn("A text.", 7)
    assert CHARS4.count("A text.") == 2


@pytest.mark.parametrize(
    ("tokenizer", "before", "after"),
    [(LIKE["r50k_base"], "a\n\n", "b"), (CHARS4, "a\n", "b"), (LIKE["o200k_base"], "a!\n", "/b")],
)
def test_elsewhere_counts_do_not_add_up(tokenizer: Tokenizer, before: str, after: str) -> None:
    assert tokenizer.count(before) + tokenizer.count(after) != tokenizer.count(before + after)
    assert not tokenizer.additive_at_line_starts or after.startswith("/")


@BOTH
@given(text=texts(20), max_tokens=st.integers(-2, 60))
def test_a_prefix_counts_about_as_many_tokens_as_asked(tokenizer: Tokenizer, text: str, max_tokens: int) -> None:
    length = tokenizer.prefix(text, max_tokens)
    assert 0 <= length <= len(text)
    assert tokenizer.count(text[:length]) <= max(max_tokens, 0) + 6
    if length < len(text) and max_tokens > 0:
        assert tokenizer.count(text[:length]) >= max_tokens - 6


def test_a_prefix_of_a_very_long_text_reads_no_further_than_it_must() -> None:
    assert CL100K.prefix("word " * 40_000, 2_000) == 9_999
    assert CL100K.prefix(" " * 200_000, 10) > 40


# --- The ledger ----------------------------------------------------------------------------------------------------

LEDGERS = pytest.mark.parametrize("tokenizer", [*LIKE.values(), CHARS4], ids=[*LIKE, "chars4"])


@LEDGERS
@given(pieces=st.lists(st.tuples(texts(3), texts(10)), max_size=8))
def test_the_ledger_counts_as_if_it_counted_the_whole_text(tokenizer: Tokenizer, pieces: list[tuple[str, str]]) -> None:
    ledger, text = TokenLedger(tokenizer), ""
    for opening, piece in pieces:
        assert ledger.tokens_with(opening + piece) == tokenizer.count(text + opening + piece)
        counted = CountedText.of(piece, tokenizer.count(piece), tokenizer)
        ledger = ledger.append_counted(opening, counted).append(opening)
        text += opening + piece + opening
        assert (ledger.text, ledger.tokens) == (text, tokenizer.count(text))


def test_the_ledger_counts_a_long_text_once() -> None:
    assert isinstance(CL100K, Tiktoken)
    counted: list[int] = []

    class Spy(Tiktoken):
        def count(self, text: str) -> int:
            counted.append(len(text))
            return CL100K.count(text)

    long = "Some words in a line.\n" * 1_000
    spy = Spy(CL100K.name, True, CL100K.seam, CL100K.encoding, CL100K.counts)
    ledger = TokenLedger(spy).append_counted("## Log\n", CountedText.of(long, CL100K.count(long), spy))
    for number in range(100):
        ledger = ledger.append(f"- [fact] number {number}\n")
    assert ledger.tokens == CL100K.count(ledger.text)
    assert max(counted) < 200


@pytest.mark.parametrize("text", ["<|endoftext|> a", "<|fim_prefix|>", "\ud800 b", "漢字 ", "a"])
def test_a_long_text_counts_what_its_tokens_are(text: str) -> None:
    long = text * (2 * ARRAY_CHARACTERS // len(text))
    assert isinstance(CL100K, Tiktoken)
    assert CL100K.count(long) == len(CL100K.encoding.encode_ordinary(long))


def test_the_files_of_one_large_agent_do_not_displace_each_others_counts() -> None:
    counts = _CountCache(len)
    files = [chr(97 + number) * 1_000_000 for number in range(20)]
    for text in [*files, *(f"Short {number}." for number in range(10_000))]:
        counts.of(text)
    assert all(map(counts.know, files))
    assert not counts.know("z" * 1_000_000)


def test_only_so_many_counts_are_known() -> None:
    counts = _CountCache(len)
    texts = [f"{number}" for number in range(3 * _CountCache.MAX_BYTES // _CountCache.ENTRY_BYTES)]
    for text in texts:
        counts.of(text)
    assert not counts.know(texts[0])
    assert counts.know(texts[-1])
