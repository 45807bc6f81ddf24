"""Compressing one text to a budget of tokens, by itself: its most telling sentences, or its beginning."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assembly.engine.rendering import MARKER
from assembly.engine.selection import longest_cut
from assembly.engine.tokens import Ledger
from config.tokens import Tokenizer

GAP = " … "
"""Stands where sentences were left out."""

_BETWEEN = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])\s*|\s*\n\s*")  # noqa: RUF001 - of Chinese and Japanese


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of a text, from start to end in characters."""

    start: int
    end: int


def sentences_of(text: str) -> list[Sentence]:
    """The sentences and lines of the text, in order, without the white space between them."""
    found, start = [], 0
    for between in [*_BETWEEN.finditer(text), None]:
        # What closes the sentence, quotation marks and brackets, is its own.
        end = len(text) if between is None else between.start() + len(between[0].rstrip())
        if text[start:end].strip():
            found.append(Sentence(start, len(text[:end].rstrip())))
        start = len(text) if between is None else between.end()
    return found


def extract(
    text: str, sentences: Sequence[Sentence], scores: Sequence[float], max_tokens: int, tokenizer: Tokenizer
) -> str:
    """The sentences with the best scores that fit together, in their order, with a gap where others stood.

    A sentence too long for what is left is passed over. Equal scores go to the earlier sentence. "" where none fits.
    """
    chosen: list[int] = []
    used = 0
    for place in sorted(range(len(sentences)), key=lambda place: (-scores[place], place)):
        cost = tokenizer.count(GAP + text[sentences[place].start : sentences[place].end])
        if used + cost <= max_tokens:
            used += cost
            chosen.append(place)
    while tokenizer.count(summary := _joined(text, sentences, sorted(chosen))) > max_tokens:
        chosen.pop()
    return summary


def _joined(text: str, sentences: Sequence[Sentence], places: Sequence[int]) -> str:
    """Neighbours with what stands between them in the text, all others with a gap."""
    joined, before = "", None
    for place in places:
        sentence = sentences[place]
        if before is not None:
            joined += text[sentences[before].end : sentence.start] if place == before + 1 else GAP
        joined += text[sentence.start : sentence.end]
        before = place
    return joined


def cut(text: str, max_tokens: int, tokenizer: Tokenizer) -> str:
    """The longest beginning of the text that fits with the marker, or nothing."""
    body = text.rstrip()
    kept = longest_cut(body, Ledger(tokenizer), max_tokens)
    return body[: kept[0]] + MARKER if kept else ""
