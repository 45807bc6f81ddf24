"""The extractive summariser compresses texts to a budget of tokens, without a model.

Source: ContextBuilder.compress of the seed "Context Assembly Specification". The topic of a text is the mean embedding
of its sentences; the sentences nearest to the mean are extracted. Everything is computed from the bundled embeddings,
so equal texts give equal summaries. The first line of a text of several lines is its title, and is included if it is
short.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assembly.engine.extraction import Sentence, cut_text, extract, sentences_of, title_of
from assembly.engine.tokenizers import Tokenizer
from memories.embeddings.wordllama import embed_parts

Method = Literal["whole", "summary", "cut"]
"""How a text was made to fit. whole: unchanged; summary: its most central sentences; cut: its beginning."""

MAX_SENTENCES = 2_000
"""Most sentences that are ranked one by one; a longer text is split into so many groups of neighbouring sentences."""

MIN_SHARE = 0.5
"""Least share of its token budget that a summary must fill; if long sentences fill less, the text is cut instead."""


@dataclass(frozen=True, slots=True)
class CompressedText:
    """A compressed text, its number of tokens, and the method."""

    text: str
    tokens: int
    method: Method


@dataclass(frozen=True, slots=True)
class _TextParts:
    """A text that is too long, with its title, if any, and its sentences."""

    text: str
    sentences: list[Sentence]
    titled: bool


def compress(text: str, max_tokens: int, tokenizer: Tokenizer) -> CompressedText:
    """Return the text within `max_tokens`: whole, else as a summary or, if its sentences are too long, cut."""
    return compress_all([(text, max_tokens)], tokenizer)[0]


def compress_all(asked: Sequence[tuple[str, int]], tokenizer: Tokenizer) -> list[CompressedText]:
    """Return each text compressed to its own number of tokens, embedding the sentences of all texts at once."""
    counts = [tokenizer.count(text) for text, _ in asked]
    too_long = [place for place, (_, most) in enumerate(asked) if counts[place] > most]
    parts = [_parts_of(asked[place][0], tokenizer) for place in too_long]
    vectors = embed_parts(
        [one.text for one in parts], [[sentence.start for sentence in one.sentences] for one in parts]
    )
    compressed = [CompressedText(text, count, "whole") for (text, _), count in zip(asked, counts, strict=True)]
    for place, one, directions in zip(too_long, parts, vectors, strict=True):
        compressed[place] = _compress_parts(one, directions, asked[place][1], tokenizer)
    return compressed


def _compress_parts(
    parts: _TextParts, directions: NDArray[np.float32], max_tokens: int, tokenizer: Tokenizer
) -> CompressedText:
    scores = _centrality(directions)
    summary = extract(parts.text, parts.sentences, scores, max_tokens, tokenizer, titled=parts.titled)
    tokens = tokenizer.count(summary)
    if summary and tokens >= MIN_SHARE * max_tokens:
        return CompressedText(summary, tokens, "summary")
    beginning = cut_text(parts.text, max_tokens, tokenizer)
    return CompressedText(beginning, tokenizer.count(beginning), "cut")


def _centrality(directions: NDArray[np.float32]) -> list[float]:
    """Return each sentence's cosine similarity to the mean of all sentences; 0 for an empty embedding."""
    middle = directions.sum(axis=0)
    length = float(np.linalg.norm(middle))
    return [round(float(cosine), 6) for cosine in np.einsum("ij,j->i", directions, middle) / (length or 1.0)]


def _parts_of(text: str, tokenizer: Tokenizer) -> _TextParts:
    title = title_of(text, tokenizer)
    if title is None:
        return _TextParts(text, _group_sentences(sentences_of(text)), titled=False)
    # The first line may hold several sentences; a title counts as one.
    rest = [sentence for sentence in sentences_of(text) if sentence.start >= title.end]
    return _TextParts(text, [title, *_group_sentences(rest)], titled=True)


def _group_sentences(sentences: list[Sentence]) -> list[Sentence]:
    size = -(-len(sentences) // MAX_SENTENCES)
    groups = [sentences[first : first + size] for first in range(0, len(sentences), max(1, size))]
    return [Sentence(group[0].start, group[-1].end) for group in groups]
