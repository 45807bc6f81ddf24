"""A passage is the part of a long text that matches the topic best, with its neighbouring sentences.

Only words choose the passage. Vectors of the parts were tried as well and found no better passages. In a third of a
page of a read-me file or a language reference (389 questions, pages of 2,600 characters), at least half of the answer
was found for .61 of the questions by words, .60 by the sum of both, .58 by vectors, and .29 by the page's beginning.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from assembly.engine.extraction import Sentence, sentences_of
from assembly.engine.tokenizers import Tokenizer

MIN_PART_CHARACTERS = 120
"""The least characters of a part: shorter sentences are joined, as they hold too few words to be chosen by."""
STEM_CHARACTERS = 6
"""Words count as equal if their first six letters are: a stem in any language, without a stemmer."""
SATURATION, LENGTH_SHARE = 1.2, 0.75
"""Robertson's k1 and b of BM25, at the values that most search engines use."""
BEFORE_MARK, AFTER_MARK = "… ", " …"
"""Marks before and after a passage that say that the text continues there."""

_WORD = re.compile(r"\w{3,}")


def passage_of(text: str, topic: str, max_tokens: int, tokenizer: Tokenizer) -> str:
    """Return the part of the text that has most of the topic's words, extended by its neighbours while they fit.

    Returns "" if no part has a word of the topic, or if the best part alone does not fit.
    """
    parts = _PassageParts(text, _stems(topic))
    if not any(parts.scores):
        return ""
    best = max(range(len(parts.all)), key=lambda place: (parts.scores[place], -place))
    for first, last in reversed(list(_spans(parts, best, max_tokens, tokenizer))):
        passage = parts.told(first, last)
        if tokenizer.count(passage) <= max_tokens:
            return passage
    return ""


def _spans(parts: "_PassageParts", best: int, max_tokens: int, tokenizer: Tokenizer) -> Iterator[tuple[int, int]]:
    """Yield ever longer spans around the best part, each extended by the better neighbour, within about max_tokens.

    Each part is counted once, by itself: a span has about as many tokens as its parts together.
    """
    first = last = best
    tokens = tokenizer.count(parts.told(best, best))
    yield best, best
    wider = True
    while wider:
        wider = False
        beside = [place for place in (first - 1, last + 1) if 0 <= place < len(parts.all)]
        for place in sorted(beside, key=lambda place: -parts.scores[place]):
            more = tokenizer.count(parts.told(place, place)) if tokens < max_tokens else max_tokens
            if tokens + more <= max_tokens:
                first, last, tokens, wider = min(first, place), max(last, place), tokens + more, True
                yield first, last
                break


@dataclass(frozen=True)
class _PassageParts:
    """The parts of a text, each made of whole sentences, with scores of how well they match the topic's stems."""

    text: str
    topic: frozenset[str]

    @cached_property
    def all(self) -> Sequence[Sentence]:
        """The parts in order, without the white space between them."""
        parts: list[Sentence] = []
        for sentence in sentences_of(self.text):
            if parts and parts[-1].end - parts[-1].start < MIN_PART_CHARACTERS:
                parts[-1] = Sentence(parts[-1].start, sentence.end)
            else:
                parts.append(sentence)
        return parts

    @cached_property
    def scores(self) -> Sequence[float]:
        """The BM25 score of each part among the parts of the text, each word counted once per part."""
        stems = [self.topic & _stems(self.text[part.start : part.end]) for part in self.all]
        having = Counter(stem for mine in stems for stem in mine)
        idf = {stem: math.log(1 + (len(stems) - n + 0.5) / (n + 0.5)) for stem, n in having.items()}
        mean = sum(part.end - part.start for part in self.all) / max(len(stems), 1)
        return [
            math.fsum(sorted(idf[stem] for stem in mine)) * _length_factor((part.end - part.start) / mean)
            for mine, part in zip(stems, self.all, strict=True)
        ]

    def told(self, first: int, last: int) -> str:
        """Return the text from one part to another, with marks where the text continues before or after it."""
        before = BEFORE_MARK if first else ""
        after = AFTER_MARK if last + 1 < len(self.all) else ""
        return before + self.text[self.all[first].start : self.all[last].end] + after


def _length_factor(relative_length: float) -> float:
    return (SATURATION + 1) / (1 + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative_length))


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:STEM_CHARACTERS] for word in _WORD.findall(text.lower()))
