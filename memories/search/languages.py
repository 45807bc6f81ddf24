"""This module detects the language of a text by its stop words, the frequent words that carry no meaning.

The lists are those of PostgreSQL's text search configurations (Snowball project, BSD licence), so that a text gets the
language whose configuration fits it best. A person can verify each decision by counting.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

DEFAULT = "english"
"""The language of texts that have too few stop words to tell."""
LANGUAGES = (
    "english", "german", "spanish", "french", "italian", "portuguese", "dutch", "swedish", "danish", "norwegian",
    "finnish", "hungarian", "russian", "turkish",
)  # fmt: skip
"""All languages with a list of stop words. Of languages with equal evidence, the first one is chosen."""

READ_CHARACTERS = 1_000
"""The number of characters of a text that are read, so that a long text costs no more."""
MIN_WORDS = 2
"""The fewest stop words that tell a language: a single one may be a name, or a word of another language."""
MIN_SHARE = 0.15
"""The least share of stop words. Prose has 0.3 and more; lists, names and code have few, of any language."""

_WORD = re.compile(r"[^\W\d_]{2,}")
"""A word of at least two letters. Single letters, as in e-mail and o'clock, are words of several languages."""


def detected_language(text: str) -> str | None:
    """Return the language of the text; None where it has too few stop words to tell."""
    words = _WORD.findall(text[:READ_CHARACTERS].lower())
    evidence = _evidence(words)
    language = max(LANGUAGES, key=evidence.__getitem__)
    return language if evidence[language] >= max(MIN_WORDS, MIN_SHARE * len(words)) else None


def languages_by_evidence(question: str) -> tuple[str, ...]:
    """Return all languages, those with the most stop words in the question first; ties in the order of LANGUAGES."""
    evidence = _evidence(_WORD.findall(question[:READ_CHARACTERS].lower()))
    return tuple(sorted(LANGUAGES, key=evidence.__getitem__, reverse=True))


def _evidence(words: Sequence[str]) -> dict[str, int]:
    """Return for each language how many of its stop words occur among the words."""
    known, evidence = _languages_of_words(), dict.fromkeys(LANGUAGES, 0)
    for word in set(words):
        for language in known.get(word, ()):
            evidence[language] += 1
    return evidence


def stop_words(language: str) -> list[str]:
    """Return the stop words of the language, in the order of its file."""
    file = Path(__file__).parent / "stop_words" / f"{language}.txt"
    return file.read_text(encoding="utf-8").split()


@cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    """Return for each stop word the languages that have it."""
    lists = {name: stop_words(name) for name in LANGUAGES}
    every = {word for words in lists.values() for word in words}
    return {word: tuple(name for name, words in lists.items() if word in words) for word in every}
