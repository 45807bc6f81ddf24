"""The words that tell texts apart."""

import re

_WORD = re.compile(r"\w{4,}")


def words_of(text: str) -> frozenset[str]:
    """The distinct words of four letters and more, in lower case."""
    return frozenset(_WORD.findall(text.lower()))
