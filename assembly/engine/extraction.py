"""Extraction shortens a text to its most typical sentences, or to its beginning, without a model or a vector."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from assembly.engine.plain_cut import longest_cut
from assembly.engine.rendering import TRUNCATION_MARKER
from assembly.engine.scoring import words_of
from assembly.engine.token_ledger import TokenLedger
from assembly.engine.tokenizers import Tokenizer

GAP = " … "
"""Text that replaces omitted sentences."""
LINE_GAP = " …\n"
"""Text that replaces omitted sentences where a line ended, so that titles, code, lists and tables stay lines."""

TITLE_TOKENS = 40
"""The most tokens of a title: the first of several lines is one unless it is longer."""

MAX_CHARACTERS_PER_TOKEN = 8
"""A sentence with more characters than this for each remaining token is skipped without being counted."""

LINEAR_SEARCH_LIMIT = 8
"""How many chosen sentences are removed one at a time if together they do not fit; then a binary search follows."""

_SENTENCE_BREAK = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])\s*|(?<!\s)\s*\n\s*")  # noqa: RUF001 - of Chinese and Japanese
_FENCE = re.compile(r"```|~~~")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of a text, from start to end in characters."""

    start: int
    end: int


def sentences_of(text: str) -> list[Sentence]:
    """Return the sentences and lines of the text, in order, without the white space between them."""
    found, start = [], 0
    for between in [*_SENTENCE_BREAK.finditer(text), None]:
        # Closing quotation marks and brackets belong to the sentence.
        end = len(text) if between is None else between.start() + len(between[0].rstrip())
        if piece := text[start:end].rstrip():
            found.append(Sentence(start, start + len(piece)))
        start = len(text) if between is None else between.end()
    return found


def title_of(text: str, tokenizer: Tokenizer) -> Sentence | None:
    """Return the first line if it is short and other lines follow, such as a path or a heading; None otherwise."""
    start = len(text) - len(text.lstrip())
    line, _, rest = text[start:].partition("\n")
    line = line.rstrip()
    if not rest.strip() or not _has_words(line) or tokenizer.count(line) > TITLE_TOKENS:
        return None
    return Sentence(start, start + len(line))


def extract(
    text: str,
    sentences: Sequence[Sentence],
    scores: Sequence[float],
    max_tokens: int,
    tokenizer: Tokenizer,
    *,
    titled: bool = False,
) -> str:
    """Return the sentences with the best scores that fit together, in the order of the text, with gaps between them.

    A sentence too long for the remaining tokens is skipped, and so are a repeated sentence and a line of only brackets
    or dashes. Of equal scores, the earlier sentence wins. If `titled`, the first sentence is chosen before all others.
    Returns "" if no sentence fits.
    """
    chosen: list[int] = []
    seen: set[str] = set()
    left = max_tokens
    for place in sorted(range(len(sentences)), key=lambda place: (not titled or place > 0, -scores[place], place)):
        sentence = sentences[place]
        piece = text[sentence.start : sentence.end]
        if piece in seen or len(piece) > MAX_CHARACTERS_PER_TOKEN * left or not _has_words(piece):
            continue
        cost = tokenizer.count(GAP + _indentation(text, sentence) + piece)
        if cost <= left:
            left -= cost
            chosen.append(place)
            seen.add(piece)
    return _longest_that_fits(text, sentences, chosen, max_tokens, tokenizer)


def _longest_that_fits(
    text: str, sentences: Sequence[Sentence], chosen: list[int], max_tokens: int, tokenizer: Tokenizer
) -> str:
    """Return as many of the chosen sentences, from the first choice on, as fit together with the text between them."""

    def joined(number: int) -> str:
        return _join_sentences(text, sentences, sorted(chosen[:number]))

    number = len(chosen)
    for _ in range(LINEAR_SEARCH_LIMIT):
        if tokenizer.count(summary := joined(number)) <= max_tokens:
            return summary
        number -= 1
    # Long white space between neighbours can have more tokens than the gaps that were counted.
    fitting = bisect_right(range(number + 1), max_tokens, key=lambda few: tokenizer.count(joined(few)))
    return joined(max(0, fitting - 1))


def _has_words(piece: str) -> bool:
    return any(map(str.isalnum, piece)) and not _FENCE.match(piece)


def _indentation(text: str, sentence: Sentence) -> str:
    """Return the white space before a sentence that begins a line; "" if no line break precedes it."""
    start = sentence.start
    before = text[max(0, start - 200) : start]
    space = before[len(before.rstrip()) :]
    return space[space.rfind("\n") + 1 :] if "\n" in space else ""


def _join_sentences(text: str, sentences: Sequence[Sentence], places: Sequence[int]) -> str:
    """Return the sentences at these places as one text: neighbours as in the original, others separated by a gap."""
    joined, before = "", None
    for place in places:
        sentence = sentences[place]
        if before is not None:
            joined += _text_between(text, sentences, before, place)
        joined += text[sentence.start : sentence.end]
        before = place
    return joined


def _text_between(text: str, sentences: Sequence[Sentence], before: int, place: int) -> str:
    sentence = sentences[place]
    if place == before + 1:
        return text[sentences[before].end : sentence.start]
    if "\n" in text[sentences[before].end : sentence.start]:
        return LINE_GAP + _indentation(text, sentence)
    return GAP


def cut_text(text: str, max_tokens: int, tokenizer: Tokenizer) -> str:
    """Return the longest beginning of the text that fits with the truncation marker; "" if none fits."""
    body = text.rstrip()
    kept = longest_cut(body, TokenLedger(tokenizer), max_tokens)
    return body[: kept[0]] + TRUNCATION_MARKER if kept else ""


def compact_text(text: str, max_tokens: int, tokenizer: Tokenizer) -> str:
    """Return the sentences that share most words with the others, in the order of the text; ties go to the earlier one.

    Returns "" if no sentence fits in max_tokens.
    """
    sentences = sentences_of(text)
    words = [words_of(text[sentence.start : sentence.end]) for sentence in sentences]
    often = Counter(word for mine in words for word in mine)
    scores = [sum(often[word] - 1 for word in mine) / len(mine) if mine else 0.0 for mine in words]
    return extract(text, sentences, scores, max_tokens, tokenizer)
