"""Tokens are the words of a statement, with their stems; phrases of the lexicon are found among them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from assembly.conflicts.detection.lexicon import Lexicon, Phrase, stem

MAX_REPORT_WORDS = 5
"""The most words between a verb of a report and its “that”, and of a report after a statement: “…, as Ana said”."""
MAX_STEMMED = 40
"""The most letters of a word that is stemmed; longer ones are no words."""

_TOKEN = re.compile(r"[^\W_]+(?:[._/@#:+&-]+[^\W_]+|_+[^\W_]*)*(?:['’][^\W\d_]+)?|#\d+|/[\w/.-]+")  # noqa: RUF001
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")  # noqa: RUF001
_IDENTIFIER = re.compile(r"[\d_/@#]|\w\.\w|[a-z][A-Z]|^[A-Z]{2,}")
_CONTRACTION = re.compile(
    r"^(?:(do|does|did|is|are|was|were|has|have|had|wo|would|could|should|must|ca|need)n['’]t|cannot)$"  # noqa: RUF001
)
_POSSESSIVE = re.compile(r"['’](?:s|re|ve|ll|m|d)?$")  # noqa: RUF001
_PLURAL_OF_CAPITALS = re.compile(r"(?<=[A-Z]{2})s$")
_COLON = re.compile(r"(?<=\w): (?=\S)")
_AMBIGUOUS_LETTERS = ("A", "I")
_THAT = ("that", "dass")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a statement."""

    word: str
    """In lower case, without a possessive s."""
    key: str
    """The stem of the word, or of the synonym that stands for it."""
    start: int
    is_content: bool
    is_name: bool
    """True for words with a capital inside a sentence, and for identifiers such as OPS-771 or config.yaml."""


class Tagged(NamedTuple):
    """A phrase of the lexicon among the tokens."""

    list: str
    """The name of the lexicon's list."""
    group: int
    """The number of the entry in the list."""
    pole: int
    """The number of the alternative in the entry, such as 0 for “open” and 1 for “closed”."""
    position: int
    """The index of its first token."""
    size: int
    """The number of its tokens."""

    @property
    def places(self) -> range:
        """The indexes of its tokens."""
        return range(self.position, self.position + self.size)


def tokens_in(text: str, taken: Sequence[tuple[int, int]], lexicon: Lexicon) -> list[Token]:
    """Return the words of the text, without those inside the `taken` stretches, such as numbers and dates."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        start = match.start()
        if any(first <= start < end for first, end in taken):
            continue
        if _IDENTIFIER.search(match[0]):
            name = _PLURAL_OF_CAPITALS.sub("", _POSSESSIVE.sub("", match[0])).lower()
            found.append(Token(name, name, start, is_content=True, is_name=True))
            continue
        # Hyphens and slashes join words that are compared one by one: read-only, on/off.
        for part in _WORD.finditer(match[0]):
            found += _word_tokens(part[0], start + part.start(), text, lexicon)
    return found


def _word_tokens(said: str, start: int, text: str, lexicon: Lexicon) -> list[Token]:
    """Return the token of a word; two for a contraction such as “isn't”."""
    word = said.lower()
    if contraction := _CONTRACTION.fullmatch(word):
        verb = {"ca": "can", "wo": "will", None: "can"}.get(contraction[1], contraction[1])
        end = start + len(word) - 3
        return [
            Token(verb, verb, start, is_content=False, is_name=False),
            Token("not", "not", end, is_content=False, is_name=False),
        ]
    word = _POSSESSIVE.sub("", word)
    before = text[:start].rstrip()
    is_first = not before or before[-1] in ".!?:;"
    is_content = word not in lexicon.stop_words and word not in lexicon.auxiliaries and len(word) > 1
    is_letter = len(word) == 1 and said.isupper() and said not in _AMBIGUOUS_LETTERS
    is_name = said[0].isupper() and not is_first and is_content and lexicon.language != "german"
    key = lexicon.canonical(word) if len(word) <= MAX_STEMMED else word
    return [Token(word, key, start, is_content=is_content or is_letter, is_name=is_name or is_letter)]


def without_reports(tokens: Sequence[Token], text: str, lexicon: Lexicon) -> tuple[list[Token], int]:
    """Return the tokens, in which those of a report have no meaning, and the character at which the report ends.

    A report is what surrounds a statement: “Ana said that …”, “From the call: …”, “…, as Ana said”. Names keep their
    meaning, because it may matter whose statement it is. Without a report, the character is 0.
    """
    start, end = 0, len(text)
    for index, token in enumerate(tokens):
        before = tokens[max(0, index - MAX_REPORT_WORDS) : index]
        if token.word in _THAT and any(_is_report(one, lexicon) for one in before):
            start = token.start
            break
    colon = _COLON.search(text)
    if colon and any(token.start < colon.start() and token.word in lexicon.lead_ins for token in tokens):
        start = max(start, colon.end())
    comma = text.rfind(", ")
    last = [token for token in tokens if 0 < comma < token.start]
    if 0 < len(last) <= MAX_REPORT_WORDS and any(_is_report(one, lexicon) for one in last):
        end = comma
    found = [
        token if start <= token.start < end or token.is_name else replace(token, is_content=False) for token in tokens
    ]
    return found, start


def _is_report(token: Token, lexicon: Lexicon) -> bool:
    return token.word in lexicon.reports or stem(token.word[:MAX_STEMMED], lexicon.language) in lexicon.reports


def tagged_phrases(tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[Tagged]:
    """Yield the phrases of the lexicon that the tokens contain.

    Of the phrases of one entry that begin at a token, the longest is taken.
    """
    words = [token.word for token in tokens]
    stems = [stem(word[:MAX_STEMMED], lexicon.language) for word in words]
    for position in range(len(tokens)):
        entries: set[tuple[str, int]] = set()
        for phrases, spelled in ((lexicon.phrases, words), (lexicon.stem_phrases, stems)):
            for phrase, (name, group, pole) in phrases.get(spelled[position], ()):
                if (name, group) not in entries and _matches(phrase, spelled, position):
                    entries.add((name, group))
                    yield Tagged(name, group, pole, position, len(phrase))


def _matches(phrase: Phrase, words: Sequence[str], position: int) -> bool:
    return len(phrase) == 1 or tuple(words[position : position + len(phrase)]) == phrase
