"""Detection of languages by their stop words: the little words that every sentence has, and that say nothing.

The lists are those by which PostgreSQL's text search leaves these words out (Snowball project, BSD licence), so that a
text is in the language whose configuration fits it. A person can check each decision by counting.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

DEFAULT = "english"
"""The language of texts that tell none."""
LANGUAGES = (
    "english", "german", "spanish", "french", "italian", "portuguese", "dutch", "swedish", "danish", "norwegian",
    "finnish", "hungarian", "russian", "turkish",
)  # fmt: skip
"""All that have a list of stop words. Of two languages with the same evidence, the first one counts."""

READ_CHARACTERS = 1_000
"""The beginning of a text tells its language: a long one costs no more."""
MIN_WORDS = 2
"""A single little word may be a name, or a word of another language."""
MIN_SHARE = 0.15
"""Prose has three stop words in ten and more. Lists, names and code have few, and any language's."""

_WORD = re.compile(r"[^\W\d_]{2,}")
"""Single letters, as in e-mail and o'clock, are words of several languages, and of none."""


def detected_language(text: str) -> str | None:
    """Return the language that the text is in; None where it has too few stop words to tell."""
    words = _WORD.findall(text[:READ_CHARACTERS].lower())
    evidence = _evidence(words)
    language = max(LANGUAGES, key=evidence.__getitem__)
    return language if evidence[language] >= max(MIN_WORDS, MIN_SHARE * len(words)) else None


def languages_by_evidence(question: str) -> tuple[str, ...]:
    """Return all languages, those first that have the most stop words in the question; English before its equals."""
    evidence = _evidence(_WORD.findall(question[:READ_CHARACTERS].lower()))
    return tuple(sorted(LANGUAGES, key=evidence.__getitem__, reverse=True))


def _evidence(words: Sequence[str]) -> dict[str, int]:
    """Return by language how many different stop words of it are among the words."""
    known, evidence = _languages_of_words(), dict.fromkeys(LANGUAGES, 0)
    for word in set(words):
        for language in known.get(word, ()):
            evidence[language] += 1
    return evidence


def stop_words(language: str) -> list[str]:
    """Return the stop words of the language, as its list has them."""
    file = Path(__file__).parent / "stop_words" / f"{language}.txt"
    return file.read_text(encoding="utf-8").split()


@cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    """Return the languages of each stop word."""
    lists = {name: stop_words(name) for name in LANGUAGES}
    every = {word for words in lists.values() for word in words}
    return {word: tuple(name for name, words in lists.items() if word in words) for word in every}
